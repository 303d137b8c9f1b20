#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace sluice {

/// Whether a provider has taken the rate that was found for long enough for a later run to begin with it: a
/// search that was stopped, or that is refused again and again, has a rate that nothing stands for. Pure; not
/// thread-safe.
class RateProof {
 public:
  struct Time {
    BootTime now{};
    BootTime held_up{};  ///< In which calls have waited for the rate so far.
  };
  struct Calls {
    std::uint32_t started = 0;
    std::uint32_t refused = 0;
  };
  struct Found {
    std::optional<double> rate;
    std::optional<double> burst;  ///< Calls that a full bucket adds to it.
  };
  /// What calls came to while `found` was found.
  void on_outcomes(const Calls& calls, const Found& found, const Time& time) {
    using namespace defaults::rate_proof;
    all_started_ += calls.started;
    all_refused_ += calls.refused;
    if (holds(time)) proved_ = newest_;
    higher_ = std::max(higher_, taken_of_late(time));
    newest_ = found.rate;
    burst_ = found.burst.value_or(0);
    const auto rate = found.rate;
    if (!rate) return rate_.reset();
    if (!rate_ || std::abs(*rate / *rate_ - 1) > same_rate) {
      rate_ = rate;
      since_ = time;
      taken_ = 0;
      marks_.clear();
      proved_ = std::max(proved_, std::exchange(higher_, std::nullopt));
    }
    mark(time.now);
    taken_ += static_cast<double>(calls.started) - calls.refused;
  }
  /// The rate that was found; no more than an earlier one if too little was seen of it, and what was taken
  /// of late where that is clearly more. `paused`: for how long calls were kept back by named delays. Where
  /// that was nearly all of the time, a window was emptied again and again, and says nothing of the rate at
  /// which it was: then no more than what was taken.
  std::optional<double> proved(const Time& time, BootTime paused) const {
    using namespace defaults::rate_proof;
    auto rate = newest_;
    if (rate && !holds(time)) rate = proved_ ? std::optional(std::min(*proved_, *rate)) : std::nullopt;
    if (const auto higher = taken_of_late(time); rate && higher) rate = std::max(*rate, *higher);
    const bool is_window =
        paused >= shortest_of_windows && in_seconds(paused) >= share_of_windows * in_seconds(time.held_up);
    return rate && is_window && taken() >= 1 ? std::min(*rate, taken() / in_seconds(time.held_up)) : rate;
  }
  /// What is to be said of a rate that was found: that one where it is proved, else no more than was taken.
  double believed(double found, const Time& time, BootTime paused) const {
    const auto rate = proved(time, paused);
    return rate ? *rate : std::min(found, taken_at_most(time.held_up).value_or(found));
  }
  /// What the provider took a second, where it refused so much that whatever was found is too high.
  std::optional<double> taken_at_most(BootTime held_up) const {
    using namespace defaults::rate_proof;
    const bool is_refuted = all_refused_ >= refuted_share * all_started_;
    if (!is_refuted || taken() < 1 || held_up < shortest_time) return std::nullopt;
    return taken() / in_seconds(held_up);
  }

 private:
  /// Calls a second, where they show that the provider takes more than was found.
  std::optional<double> taken_of_late(const Time& time) const {
    using namespace defaults::rate_proof;
    if (!rate_ || marks_.empty()) return std::nullopt;
    const auto& first = marks_.front();
    const auto passed = time.now - first.at;
    if (passed < time_of_higher_rate) return std::nullopt;
    const double a_second = (taken_ - first.taken - burst_) / in_seconds(passed);
    return a_second >= share_of_higher_rate * *rate_ ? std::optional(a_second) : std::nullopt;
  }
  /// The first of them is the last before the time that counts.
  void mark(BootTime now) {
    using namespace defaults::rate_proof;
    if (!marks_.empty() && now - marks_.back().at < between_marks) return;
    marks_.push_back({now, taken_});
    while (marks_.size() > 1 && now - marks_[1].at >= time_of_higher_rate) marks_.pop_front();
  }
  double taken() const { return all_started_ - all_refused_; }
  /// Enough calls were answered, and about as many as the rate promises.
  bool holds(const Time& time) const {
    using namespace defaults::rate_proof;
    if (!rate_ || taken_ < fewest_calls) return false;
    // Where calls hardly ever wait for the rate all of the time counts.
    const auto is_used = [&](BootTime passed) {
      return passed >= shortest_time && taken_ >= least_share * *rate_ * in_seconds(passed);
    };
    return is_used(time.held_up - since_.held_up) || is_used(time.now - since_.now);
  }

  struct Mark {
    BootTime at{};
    double taken = 0;
  };

  std::optional<double> newest_;
  std::optional<double> proved_;
  std::optional<double> higher_;  ///< The most that was taken since the rate was found, if clearly more.
  std::optional<double> rate_;    ///< The first of those that differ by little, of which calls are counted.
  double burst_ = 0;
  Time since_;
  double taken_ = 0;
  std::deque<Mark> marks_;  ///< What was taken until then, since the rate was found.
  double all_started_ = 0;
  double all_refused_ = 0;
};

}  // namespace sluice
