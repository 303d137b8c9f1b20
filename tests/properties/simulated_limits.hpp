#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace sluice::testing {

/// One limit of a provider, as it is enforced.
struct SimulatedLimit {
  enum class Kind : std::uint8_t { bucket, fixed_window, sliding_window, in_flight, token_bucket };
  Kind kind = Kind::bucket;
  double per_second = 0;  ///< Calls, or tokens.
  double size = 1;        ///< Of a bucket; calls in flight.
  BootTime window{};      ///< Of windows; they hold per_second times as much.
  BootTime phase{};       ///< Of a fixed window: how much of it has passed at the beginning.
  BootTime changes_at{};  ///< From the beginning; 0: never.
  double changes_by = 1;  ///< From then on, so many times the rate and size.

  static SimulatedLimit bucket(double per_second, double size) {
    return {Kind::bucket, per_second, size, {}, {}, {}, 1};
  }
  static SimulatedLimit tokens(double per_second, double size) {
    return {Kind::token_bucket, per_second, size, {}, {}, {}, 1};
  }
  static SimulatedLimit fixed(double per_second, BootTime window, BootTime phase = {}) {
    return {Kind::fixed_window, per_second, 1, window, phase, {}, 1};
  }
  static SimulatedLimit sliding(double per_second, BootTime window) {
    return {Kind::sliding_window, per_second, 1, window, {}, {}, 1};
  }
  static SimulatedLimit in_flight(double calls) { return {Kind::in_flight, 0, calls, {}, {}, {}, 1}; }
};

/// Says of each call whether the limit admits it. What is refused costs nothing.
class LimitKeeper {
 public:
  /// `began`: what `phase` and `changes_at` count from.
  LimitKeeper(const SimulatedLimit& limit, BootTime began)
      : limit_(limit), began_(began), at_(began), level_(limit.size) {}

  /// Nothing: it is admitted; else how long it would have to wait. Does not count it.
  std::optional<BootTime> wait(BootTime now, double tokens) {
    change(now);
    using Kind = SimulatedLimit::Kind;
    switch (limit_.kind) {
      case Kind::bucket:
        return level_wait(now, 1);
      case Kind::token_bucket:
        return level_wait(now, tokens);
      case Kind::fixed_window: {
        const auto left = limit_.window - (now - began_ + limit_.phase) % limit_.window;
        if (window_of(now) != window_) return std::nullopt;
        if (in_window_ + 1 <= limit_.per_second * seconds(limit_.window) + 1e-9) return std::nullopt;
        return left;
      }
      case Kind::sliding_window: {
        while (!admitted_.empty() && admitted_.front() <= now - limit_.window) admitted_.pop_front();
        const auto most = static_cast<std::size_t>(limit_.per_second * seconds(limit_.window) + 1e-9);
        if (admitted_.size() < most) return std::nullopt;
        return admitted_[admitted_.size() - most] + limit_.window - now;
      }
      case Kind::in_flight:
        if (in_flight_ + 1 <= limit_.size + 1e-9) return std::nullopt;
        return BootTime(std::chrono::milliseconds(100));
    }
    return std::nullopt;
  }
  void count(BootTime now, double tokens) {
    level_ = level(now) - (limit_.kind == SimulatedLimit::Kind::token_bucket ? tokens : 1);
    at_ = now;
    if (window_of(now) != window_) in_window_ = 0;
    window_ = window_of(now);
    ++in_window_;
    ++in_flight_;
    if (limit_.kind == SimulatedLimit::Kind::sliding_window) admitted_.push_back(now);
  }
  void ended() { --in_flight_; }

 private:
  static double seconds(BootTime time) { return static_cast<double>(time.count()) * 1e-6; }
  void change(BootTime now) {
    if (limit_.changes_at == BootTime::zero() || now - began_ < limit_.changes_at) return;
    level_ = level(now);
    at_ = now;
    limit_.changes_at = {};
    limit_.per_second *= limit_.changes_by;
    limit_.size = std::max(1.0, limit_.size * limit_.changes_by);
  }
  double level(BootTime now) const {
    return std::min(limit_.size, level_ + seconds(now - at_) * limit_.per_second);
  }
  std::optional<BootTime> level_wait(BootTime now, double charge) const {
    const double missing = charge - level(now);
    if (missing <= 1e-9) return std::nullopt;
    return BootTime(static_cast<BootTime::rep>(std::ceil(missing / limit_.per_second * 1e6)));
  }
  std::int64_t window_of(BootTime now) const {
    if (limit_.window == BootTime::zero()) return 0;
    return (now - began_ + limit_.phase) / limit_.window;
  }

  SimulatedLimit limit_;
  BootTime began_;
  BootTime at_;
  double level_;
  std::int64_t window_ = -1;
  double in_window_ = 0;
  double in_flight_ = 0;
  std::deque<BootTime> admitted_;
};

/// All limits of a provider: a call is admitted by all of them, or counts for none.
class LimitedServer {
 public:
  LimitedServer(const std::vector<SimulatedLimit>& limits, BootTime began) {
    for (const auto& limit : limits) keepers_.emplace_back(limit, began);
  }
  /// Nothing: it was admitted; else how long it would have had to wait.
  std::optional<BootTime> admit(BootTime now, double tokens) {
    std::optional<BootTime> wait;
    for (auto& keeper : keepers_) {
      if (const auto one = keeper.wait(now, tokens)) wait = std::max(wait.value_or(*one), *one);
    }
    if (wait) return wait;
    for (auto& keeper : keepers_) keeper.count(now, tokens);
    return std::nullopt;
  }
  void ended() {
    for (auto& keeper : keepers_) keeper.ended();
  }

 private:
  std::vector<LimitKeeper> keepers_;
};

}  // namespace sluice::testing
