#pragma once

#include "coordinator/merge/run_stability.hpp"
#include "coordinator/suite/case.hpp"

#include <string>
#include <vector>

namespace sluice {

/// What two answers do not have in common. Of claims those that one alone holds, in their order, each once;
/// of texts the shown beginning of both, whole.
struct AnswerDiff {
  std::vector<std::string> only_unperturbed;
  std::vector<std::string> only_perturbed;
  friend bool operator==(const AnswerDiff&, const AnswerDiff&) = default;
};

AnswerDiff diff_of(const Case& fixture, const Flip& flip);

}  // namespace sluice
