#include "coordinator/run/long_pause.hpp"

namespace sluice {
namespace {

/// Many workers may report the same pause, each with its rounding.
constexpr std::chrono::seconds delay_rounding(5);

}  // namespace

LongPause::Step LongPause::on_delay(std::chrono::milliseconds delay, const RunEnd& end, TimePoint now) {
  const auto until = now + delay;
  if (delay.count() == 0 || delay < case_timeout_ || end.over() || until <= waits_until_ + delay_rounding)
    return Step::none;
  if (!end.has_deadline_beyond(until)) return Step::stop;
  waits_until_ = until;
  return Step::wait;
}

}  // namespace sluice
