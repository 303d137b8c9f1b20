#pragma once

#include "common/model/paid_tokens.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// What a run's calls are charged for, by arm, since each may have a model and a price of its own. A run
/// without arms has one.
class PaidByArm {
 public:
  PaidByArm() = default;
  PaidByArm(const PaidTokens& paid, std::size_t arm = 0) { add(arm, paid); }

  void add(std::size_t arm, const PaidTokens& paid) { at(arm) += paid; }
  void subtract(std::size_t arm, const PaidTokens& paid) { at(arm) -= paid; }
  PaidByArm& operator+=(const PaidByArm& more) {
    for (std::size_t arm = 0; arm < more.by_arm_.size(); ++arm) add(arm, more.by_arm_[arm]);
    return *this;
  }
  /// Those that nothing was added for may be missing at the end.
  std::span<const PaidTokens> by_arm() const { return by_arm_; }
  PaidTokens total() const {
    PaidTokens sum;
    for (const PaidTokens& paid : by_arm_) sum += paid;
    return sum;
  }

 private:
  PaidTokens& at(std::size_t arm) {
    if (arm >= by_arm_.size()) by_arm_.resize(arm + 1);
    return by_arm_[arm];
  }

  std::vector<PaidTokens> by_arm_;
};

/// What the calls of a run cost in US dollars; nothing if a price that they need is not known.
using RunPrice = std::function<std::optional<double>(const PaidByArm&)>;

}  // namespace sluice
