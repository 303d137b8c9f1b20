#include "coordinator/governor/shared_rate_search.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <variant>

namespace sluice {

using namespace defaults::shared_search;

/// From what the leader found.
void SharedRateSearch::lead_on(BootTime now) {
  const auto found = std::exchange(leader_, std::nullopt)->found;
  own_ = RateSearch();
  own_.begin_with(found.rate, found.burst.value_or(1), now);
}

void SharedRateSearch::stop_sharing(BootTime now) {
  if (leader_) lead_on(now);
  run_.reset();
  news_.clear();
  others_ = 0;
}

bool SharedRateSearch::search(const CallsSeen& seen, BootTime pause, BootTime now) {
  if (!seen.delay_named)
    return own_.on_outcomes(seen.started, seen.refused, seen.refused_late, seen.since, now);
  const bool is_closed = seen.is_closed && !others_were_answered_;
  return own_.on_paused(seen.started, seen.refused, seen.refused_late, pause, is_closed, seen.since, now);
}

bool SharedRateSearch::on_calls(const CallsSeen& seen, BootTime pause, BootTime now) {
  const bool is_told = run_ && others_ > 0 && seen.started + seen.refused + seen.refused_late > 0;
  if (is_told) news_.emplace_back(seen);
  return !leader_ && search(seen, pause, now);
}

/// Of several the first run leads. True if its rate is clearly less than the one until now.
bool SharedRateSearch::follow(std::uint64_t run, const RateFound& found, BootTime now) {
  if (run >= *run_ || found.at + patience < now) return false;
  if (leader_ && leader_->run < run && leader_->found.at + patience >= now) return false;
  const auto before = rate();
  leader_ = Leader{run, found};
  return !before || found.rate < defaults::clearly_less * *before;
}

bool SharedRateSearch::count(std::span<const ForeignUse> uses, std::uint32_t runs, BootTime pause,
                             BootTime now) {
  others_ = runs;
  bool was_cut = false;
  for (const auto& [run, use] : uses) {
    if (const auto* found = std::get_if<RateFound>(&use)) {
      was_cut = (run_ && follow(run, *found, now)) || was_cut;
    } else if (const auto* seen = std::get_if<CallsSeen>(&use)) {
      if (seen->are_waiting) others_wait_until_ = std::max(others_wait_until_, seen->at + calls_wait);
      others_were_answered_ = others_were_answered_ || seen->started > seen->refused + seen->refused_late;
      if (leader_ || seen->at + patience < now) continue;
      if (seen->started > 0) own_.on_demand(now);
      was_cut = search(*seen, pause, now) || was_cut;
    }
  }
  return was_cut;
}

void SharedRateSearch::grow(bool is_flowing, bool held_back, std::optional<double> ceiling, BootTime now) {
  if (leader_ && leader_->found.at + patience < now) lead_on(now);
  if (leader_) return;
  own_.grow(is_flowing && (held_back || now < others_wait_until_), ceiling, now);
}

void SharedRateSearch::tell(std::vector<KeyUse>& use, BootTime now) {
  if (!run_) return;
  std::ranges::move(std::exchange(news_, {}), std::back_inserter(use));
  const auto rate = own_.rate();
  if (leader_ || !rate) return;
  const bool is_known = told_ && told_->at + repeated_after > now && told_->burst == own_.burst() &&
                        std::abs(told_->rate / *rate - 1) < same_rate;
  if (is_known) return;
  told_ = RateFound{*rate, own_.burst(), now};
  use.emplace_back(*told_);
}

}  // namespace sluice
