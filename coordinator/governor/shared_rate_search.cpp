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
  is_of_earlier_run_ = false;
  if (found.accepted) {
    own_.begin_with(*found.accepted, found.burst, now);
  } else {
    own_.go_on_from(found.rate, longest_pause_ >= defaults::rate_search::costly_pause, now);
  }
}

void SharedRateSearch::forget_remembered() {
  RateSearch& search = aside_ ? *aside_ : own_;
  if (!std::exchange(is_of_earlier_run_, false) || !search.is_remembered()) return;
  leader_.reset();
  search = RateSearch();
}

void SharedRateSearch::stop_sharing(BootTime now) {
  if (leader_) lead_on(now);
  run_.reset();
  calls_.clear();
  others_ = 0;
}

void SharedRateSearch::on_demand(BootTime now) {
  had_calls_at_ = now;
  own_.on_demand(now);
}

bool SharedRateSearch::may_lead(BootTime now) const {
  if (is_down_ || !had_calls_at_) return false;
  return *had_calls_at_ + (own_.handed_on() ? leads_without_calls : guesses_without_calls) >= now;
}

bool SharedRateSearch::search(const CallsSeen& seen, BootTime pause, BootTime now) {
  was_answered_ = was_answered_ || seen.was_answered;
  const ReportTime reported{seen.since, std::min(seen.at, now), now};
  if (!seen.delay_named)
    return own_.on_outcomes(seen.started, seen.refused, seen.refused_late, reported, now);
  const bool is_closed = seen.is_closed && !was_answered_;
  return own_.on_paused(seen.started, seen.refused, seen.refused_late, pause, is_closed, reported, now);
}

bool SharedRateSearch::on_calls(const CallsSeen& seen, BootTime pause, BootTime now) {
  const bool is_of_use = run_ && others_ > 0 && (seen.searches || now < others_search_until_);
  if (is_of_use && seen.started + seen.refused + seen.refused_late > 0) calls_.emplace_back(seen);
  return !leader_ && search(seen, pause, now);
}

/// True if the rate is clearly less than the one until now.
bool SharedRateSearch::follow(std::uint64_t run, const RateFound& found, BootTime now) {
  if (found.at + patience < now) return false;
  if (!leader_ && run >= *run_ && may_lead(now)) return false;
  if (leader_ && leader_->run < run && leader_->found.at + patience >= now) return false;
  const auto before = rate();
  leader_ = Leader{run, found};
  return !before || found.rate < defaults::clearly_less * *before;
}

bool SharedRateSearch::take_in(const CallsSeen& seen, const Standing& own, BootTime pause, BootTime now) {
  if (seen.at + patience < now) return false;
  if (seen.searches) others_search_until_ = std::max(others_search_until_, seen.at + patience);
  if (!own.searches) return false;
  if (seen.are_waiting) {
    const double for_calls = calls_wait_for / rate().value_or(calls_wait_for) * 1e6;
    const auto wait = std::max(calls_wait, BootTime(static_cast<BootTime::rep>(for_calls)));
    others_wait_until_ = std::max(others_wait_until_, seen.at + wait);
  }
  if (leader_) return false;
  if (seen.started > 0) {
    const auto begun = std::max(seen.since, seen.at - defaults::limit_estimate::earlier_begin);
    own_.on_demand(std::min(begun, now));
  }
  return search(seen, pause, now);
}

bool SharedRateSearch::count(const Others& others, const Standing& own, BootTime pause, BootTime now) {
  is_down_ = own.is_down;
  longest_pause_ = std::max(longest_pause_, pause);
  others_ = static_cast<std::uint32_t>(others.living.size());
  if (leader_ && !std::ranges::count(others.living, leader_->run)) lead_on(now);
  // Those that came before this run told nobody of their calls.
  if (others_ > 0) own_.of_several_runs();
  bool was_cut = false;
  for (const auto& [run, use] : others.uses) {
    if (const auto* found = std::get_if<RateFound>(&use)) {
      const bool lives = std::ranges::count(others.living, run) > 0;
      was_cut = (own.searches && run_ && lives && follow(run, *found, now)) || was_cut;
    } else if (const auto* seen = std::get_if<CallsSeen>(&use)) {
      was_cut = take_in(*seen, own, pause, now) || was_cut;
    }
  }
  return was_cut;
}

void SharedRateSearch::grow(bool is_flowing, bool held_back, std::optional<double> ceiling, BootTime now) {
  if (leader_ && leader_->found.at + patience < now) lead_on(now);
  if (leader_) return;
  own_.grow(is_flowing && (held_back || now < others_wait_until_), ceiling, now);
}

void SharedRateSearch::tell_calls(std::vector<KeyUse>& use) {
  std::ranges::move(std::exchange(calls_, {}), std::back_inserter(use));
}

void SharedRateSearch::tell_rate(std::vector<KeyUse>& use, double level, BootTime now) {
  const auto rate = own_.rate();
  if (!run_ || leader_ || !rate || !may_lead(now)) return;
  const auto accepted = own_.handed_on();
  const bool is_told = told_ && told_->at + repeated_after > now && told_->burst == own_.burst() &&
                       told_->accepted.has_value() == accepted.has_value() &&
                       std::abs(told_->rate / *rate - 1) < same_rate;
  if (is_told) return;
  told_ = RateFound{*rate, accepted, own_.burst(), level, now};
  use.emplace_back(*told_);
}

}  // namespace sluice
