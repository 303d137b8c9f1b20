#include "worker/budget/clock_bounds.hpp"

#include "common/clock_distance.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sluice {

namespace {

constexpr std::int64_t million = 1'000'000;

/// Rounded up.
BootTime drift_over(BootTime time) {
  return BootTime((time.count() * defaults::clock_drift_ppm + million - 1) / million);
}

/// Windows open and close within minutes; bounded by a month, products stay within 64 bits.
constexpr BootTime farthest = std::chrono::days(30);

BootTime bounded(BootTime time) {
  return std::clamp(time, -farthest, farthest);
}

}  // namespace

BootTime boot_time(std::uint64_t us) {
  constexpr auto last = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 4;
  return BootTime(static_cast<std::int64_t>(std::min(us, last)));
}

BootTime ClockBounds::earliest(const Mark& mark, BootTime own) {
  const auto gone = own - mark.own;
  return mark.coordinator + gone - drift_over(gone);
}

BootTime ClockBounds::latest(const Mark& mark, BootTime own) {
  const auto gone = own - mark.own;
  return mark.coordinator + gone + drift_over(gone);
}

void ClockBounds::on_grants(BootTime coordinator, std::optional<BootTime> echo, BootTime received) {
  if (echo && *echo > received) echo.reset();  // Not sent by this worker.
  const bool later = !lower_ || coordinator >= earliest(*lower_, received);
  if (later) lower_ = Mark{coordinator, received};
  if (echo) {
    const Mark mark{coordinator, *echo};
    if (!upper_ || latest(mark, received) <= latest(*upper_, received)) upper_ = mark;
  }
  if (upper_ && earliest(*lower_, received) > latest(*upper_, received)) {
    lower_ = Mark{coordinator, received};
    upper_.reset();
    if (echo) upper_ = Mark{coordinator, *echo};
    since_ = 0;
  }
  if (!echo || !upper_) return;
  const auto shortest = round_trip();
  if (since_ == 0 || known_to_ - shortest > defaults::clearly_shorter_way) {
    known_to_ = shortest;
    since_ = 0;
  }
  // What a link held up and lets through at once was in one queue: it measures the way once.
  if (since_ > 0 && received - measured_at_ < defaults::round_trips_apart) return;
  measured_at_ = received;
  ++since_;
}

std::optional<TimeSpan> ClockBounds::at(BootTime own) const {
  if (!lower_ || !upper_) return std::nullopt;
  return TimeSpan{earliest(*lower_, own), latest(*upper_, own)};
}

/// The shortest one there and the shortest one back.
BootTime ClockBounds::round_trip() const {
  const auto own = std::max(lower_->own, upper_->own);
  return std::max(BootTime::zero(), latest(*upper_, own) - earliest(*lower_, own));
}

/// At either end of the bounds.
BootTime ClockBounds::left_out() const {
  if (since_ < defaults::round_trips_to_trust) return BootTime::zero();
  const auto known_to = round_trip();
  return (known_to - clock_uncertainty(known_to)) / 2;
}

std::optional<TimeSpan> ClockBounds::own_times_within(const TimeSpan& window) const {
  if (!lower_ || !upper_) return std::nullopt;
  const auto spare = left_out();
  // What rounding can take away at either end.
  constexpr BootTime margin(2);
  const auto until_open = bounded(window.from - spare - lower_->coordinator);
  auto from = lower_->own;
  if (until_open.count() > 0) {
    from += BootTime(until_open.count() * million / (million - defaults::clock_drift_ppm)) + margin;
  }
  const auto until_closed = bounded(window.to + spare - upper_->coordinator);
  if (until_closed.count() < 0) return TimeSpan{from, from - margin};
  const auto to =
      upper_->own + BootTime(until_closed.count() * million / (million + defaults::clock_drift_ppm)) - margin;
  return TimeSpan{from, to};
}

}  // namespace sluice
