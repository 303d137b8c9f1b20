#pragma once

#include "common/error.hpp"
#include "coordinator/merge/run_stability.hpp"
#include "coordinator/suite/case.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What two answers do not have in common. Of claims those that one alone holds, in their order, each once;
/// of texts the shown beginning of both, whole. An answer that is none says why, and holds nothing.
struct AnswerDiff {
  std::vector<std::string> only_unperturbed;
  std::vector<std::string> only_perturbed;
  std::optional<Reason> unperturbed_reason{};  ///< Set where that answer is none.
  std::optional<Reason> perturbed_reason{};
  friend bool operator==(const AnswerDiff&, const AnswerDiff&) = default;
};

AnswerDiff diff_of(const Case& fixture, const Flip& flip);

}  // namespace sluice
