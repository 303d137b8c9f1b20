#include "coordinator/run/long_pause.hpp"

#include "coordinator/run/defaults.hpp"

namespace sluice {

LongPause::Step LongPause::on_delay(std::chrono::milliseconds delay, const RunEnd& end, TimePoint now) {
  const auto until = now + delay;
  if (delay.count() == 0 || delay < case_timeout_ || end.over() ||
      until <= waits_until_ + defaults::delay_rounding)
    return Step::none;
  if (!end.has_deadline_beyond(until)) return Step::stop;
  waits_until_ = until;
  return Step::wait;
}

}  // namespace sluice
