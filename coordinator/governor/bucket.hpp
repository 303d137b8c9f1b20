#pragma once

#include "common/clock.hpp"

namespace sluice {

/// A bucket that fills at `rate` units a second up to `capacity`. A charge waits until the bucket holds it;
/// one above the capacity waits until the bucket is full and leaves it in debt. `surcharge` is taken on top
/// of each charge: with a capacity of 0 it spaces the charges. Over any window T the charges stay within
/// max(capacity, greatest charge) + rate x T. Times never go back: a charge may lie ahead of the clock, and
/// nothing is charged before it afterwards. Pure; not thread-safe.
class Bucket {
 public:
  struct Shape {
    double rate = 1;  ///< Units a second; above 0.
    double capacity = 0;
    double surcharge = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
  };

  /// Full at `now`.
  Bucket(const Shape& shape, BootTime now) : shape_(shape), at_(now), level_(shape.capacity) {}
  Bucket(const Shape& shape, BootTime now, double level) : shape_(shape), at_(now), level_(level) {}

  /// When `charge` may be taken, not before `from`.
  BootTime earliest(double charge, BootTime from) const;
  /// Takes it at `at`, whatever the level; a charge of 0 takes nothing. A time that has been charged already
  /// is taken for the newest.
  void take(double charge, BootTime at);
  /// The same for what another run took, by its own rules: no such charge leaves more debt than itself.
  void take_foreign(double charge, BootTime at);
  /// The level goes on from the newest charge with another shape.
  void reshape(const Shape& shape, BootTime now);
  /// What it holds comes so much later.
  void delay(BootTime time);
  /// What another bucket of this rate has (level_then).
  void set_level(double level, BootTime at);
  /// Its level at `at`, which may lie before the last charge: then the one from which it would come to what
  /// it has.
  double level_then(BootTime at) const;
  const Shape& shape() const { return shape_; }
  /// Below 0 while in debt.
  double level(BootTime at) const;

 private:
  Shape shape_;
  BootTime at_;
  double level_;
};

}  // namespace sluice
