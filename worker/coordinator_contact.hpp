#pragma once

#include "common/clock.hpp"

namespace sluice {

/// Whether the coordinator is heard of (docs/delivery.md, "Liveness"). Pure; not thread-safe.
class CoordinatorContact {
 public:
  /// What a beat of the worker's own clock found.
  struct Beat {
    Duration silence{};      ///< Since the coordinator was heard last.
    bool just_lost = false;  ///< It has become silent.
    bool reconnect = false;  ///< A fresh connection is due: messages pile up in a dead one.
  };

  explicit CoordinatorContact(TimePoint now) : heard_(now), beaten_(now), reconnected_(now) {}

  /// Something came. True when the coordinator was silent before, or had never been heard.
  bool hear(TimePoint now);
  /// Once an `interval`, which is also the coordinator's.
  Beat beat(TimePoint now, Duration interval);

  bool connected() const { return connected_; }
  TimePoint last_beat() const { return beaten_; }

 private:
  TimePoint heard_;
  TimePoint beaten_;
  TimePoint reconnected_;
  bool connected_ = false;
};

}  // namespace sluice
