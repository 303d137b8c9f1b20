#include "worker/coordinator_contact.hpp"

#include "common/defaults.hpp"

#include <utility>

namespace sluice {

bool CoordinatorContact::hear(TimePoint now) {
  heard_ = now;
  return !std::exchange(connected_, true);
}

CoordinatorContact::Beat CoordinatorContact::beat(TimePoint now, Duration interval) {
  const bool late = now - std::exchange(beaten_, now) > 2 * interval;
  // The process was stopped, or the machine slept: what was said meanwhile has yet to be read.
  if (late) heard_ = now;
  Beat beat;
  beat.silence = now - heard_;
  if (beat.silence <= defaults::liveness * interval) return beat;
  beat.just_lost = std::exchange(connected_, false);
  beat.reconnect = now - reconnected_ > defaults::liveness * interval;
  if (beat.reconnect) reconnected_ = now;
  return beat;
}

void CoordinatorContact::on_hello_sent(TimePoint now) {
  welcome_awaited_ = true;
  hello_sent_at_ = now;
}

bool CoordinatorContact::on_welcome() {
  return std::exchange(welcome_awaited_, false);
}

bool CoordinatorContact::needs_hello(TimePoint now, Duration interval) const {
  return !welcome_awaited_ || now - hello_sent_at_ >= interval;
}

}  // namespace sluice
