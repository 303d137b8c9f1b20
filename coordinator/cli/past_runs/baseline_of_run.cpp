#include "coordinator/cli/past_runs/baseline_of_run.hpp"

#include "coordinator/cli/run_flags.hpp"
#include "coordinator/session/report_options.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <utility>

namespace sluice {
namespace {

/// Null where it is not known.
const std::string* content_of(const BaselineOfRun& one) {
  if (!one.copy) return nullptr;
  const auto found = one.copy->files.find(whole_path(one.file).native());
  return found != one.copy->files.end() ? &found->second : nullptr;
}

}  // namespace

BaselineOfRun baseline_of(const RunRecord& run, std::shared_ptr<const SuiteCopy> copy) {
  return {baseline_of(run.flags), std::move(copy)};
}

bool are_same_baseline(const BaselineOfRun& one, const BaselineOfRun& other) {
  if (one.file.empty() || other.file.empty()) return one.file.empty() && other.file.empty();
  const std::string* content = content_of(one);
  const std::string* of_other = content_of(other);
  if (content != nullptr && of_other != nullptr) return *content == *of_other;
  return is_same_file(one.file, other.file);
}

}  // namespace sluice
