#include "worker/calls/failing_calls.hpp"

#include "worker/defaults.hpp"

#include <algorithm>

namespace sluice {

void FailingCalls::answered(Instant began, TimePoint now) {
  last_answer_ = ++clock_;
  // What ends together is told in any order.
  newest_answered_ = answered_at_ == now ? std::max(newest_answered_, began) : began;
  answered_at_ = now;
  for (auto& [call, failing] : calls_) failing.alone = failing.alone || failing.began < began;
}

bool FailingCalls::failed(const void* call, Instant began, TimePoint now) {
  if (began < outage_at_) return true;  // It hung through the outage.
  const auto [found, is_first] = calls_.try_emplace(call, Failing{began, last_answer_ > began});
  auto& failing = found->second;
  if (is_first) {
    failing.alone = answered_at_ == now && newest_answered_ > began;
    return true;
  }
  return !failing.alone && may_be_outage();
}

/// How many fail in an outage beside those that fail alone.
std::size_t FailingCalls::failing_of_outage(std::size_t alone) {
  return std::max(defaults::failing_calls_of_outage, alone + 1);
}

std::size_t FailingCalls::leave_places() const {
  const auto these = alone();
  return these + std::min(calls_.size() - these, failing_of_outage(these));
}

/// With answers beside them, or with others that are known to fail alone, a few that fail are rather more of
/// those.
bool FailingCalls::may_be_outage() const {
  const auto these = alone();
  if (calls_.size() - these >= failing_of_outage(these)) return true;
  return these == 0 &&
         std::ranges::any_of(calls_, [](const auto& one) { return !one.second.beside_answers; });
}

void FailingCalls::outage_began() {
  outage_at_ = ++clock_;
  std::erase_if(calls_, [](const auto& one) { return !one.second.alone; });
}

bool FailingCalls::fails_alone(const void* call) const {
  const auto found = calls_.find(call);
  return found != calls_.end() && found->second.alone;
}

std::size_t FailingCalls::alone() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(calls_, [](const auto& one) { return one.second.alone; }));
}

}  // namespace sluice
