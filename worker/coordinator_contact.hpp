#pragma once

#include "common/clock.hpp"

namespace sluice {

/// Whether the coordinator is there, and whether it knows this worker (docs/delivery.md). Pure: time is an
/// argument. Not thread-safe.
class CoordinatorContact {
 public:
  /// What a beat of the worker's own clock found.
  struct Beat {
    Duration silence{};        ///< Since the coordinator's last message.
    bool just_silent = false;  ///< It is from now on, or its first message is overdue.
    bool reconnect = false;    ///< A fresh connection is due: messages pile up in a dead one.
  };

  explicit CoordinatorContact(TimePoint now)
      : last_message_at_(now), last_beat_(now), reconnected_at_(now), hello_sent_at_(now) {}

  /// Something came. True when the coordinator was silent before, or had sent nothing yet.
  bool on_message(TimePoint now);
  /// Once an `interval`, which is also the coordinator's.
  Beat beat(TimePoint now, Duration interval);

  void on_hello_sent(TimePoint now);
  /// WELCOME has come. False if no HELLO awaits it: the answer to one that was sent twice.
  bool on_welcome();
  /// The coordinator does not know this worker. True if that calls for a HELLO: a process that was stopped
  /// for a while finds many such answers to what it sent before, and each HELLO voids the permits.
  bool needs_hello(TimePoint now, Duration interval) const;

  bool connected() const { return connected_; }
  TimePoint last_beat() const { return last_beat_; }

 private:
  TimePoint last_message_at_;
  TimePoint last_beat_;
  TimePoint reconnected_at_;
  bool connected_ = false;
  bool silent_ = false;  ///< For longer than it may be.
  bool welcome_awaited_ = false;
  TimePoint hello_sent_at_;  ///< The last.
};

}  // namespace sluice
