#pragma once

#include "coordinator/facts/run_record.hpp"
#include "coordinator/facts/suite_copy.hpp"

#include <memory>
#include <string>

namespace sluice {

/// What a past run was held against.
struct BaselineOfRun {
  std::string file;                         ///< Empty: nothing.
  std::shared_ptr<const SuiteCopy> copy{};  ///< Of the run, if there is one: it may have the file as it was.
};

BaselineOfRun baseline_of(const RunRecord& run, std::shared_ptr<const SuiteCopy> copy);

/// By what the files held when the runs read them, wherever they lie; where that is not known of both, by
/// what their paths lead to now. Two runs without any have the same.
bool are_same_baseline(const BaselineOfRun& one, const BaselineOfRun& other);

}  // namespace sluice
