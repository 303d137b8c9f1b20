#include "worker/coordinator_contact.hpp"

#include "common/defaults.hpp"

#include <utility>

namespace sluice {

bool CoordinatorContact::on_message(TimePoint now) {
  last_message_at_ = now;
  silent_ = false;
  return !std::exchange(connected_, true);
}

CoordinatorContact::Beat CoordinatorContact::beat(TimePoint now, Duration interval) {
  const bool late = now - std::exchange(last_beat_, now) > 2 * interval;
  // The process was stopped, or the machine slept: what the coordinator sent meanwhile has yet to be read.
  if (late) last_message_at_ = now;
  Beat beat;
  beat.silence = now - last_message_at_;
  if (beat.silence <= defaults::liveness * interval) return beat;
  connected_ = false;
  beat.just_silent = !std::exchange(silent_, true);
  beat.reconnect = now - reconnected_at_ > defaults::liveness * interval;
  if (beat.reconnect) reconnected_at_ = now;
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
