#include "coordinator/governor/bucket.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

namespace {

/// Rounding errors of the level: far below what one microsecond adds at any rate in use.
constexpr double tolerance = 1e-9;

/// Ten years in microseconds, for what a peer's words leave never to be full: it fits BootTime.
constexpr double longest_wait = 3.2e14;

}  // namespace

double Bucket::level(BootTime at) const {
  const double passed = static_cast<double>(std::max(at - at_, BootTime::zero()).count()) * 1e-6;
  return std::min(shape_.capacity, level_ + shape_.rate * passed);
}

BootTime Bucket::earliest(double charge, BootTime from) const {
  const auto start = std::max(from, at_);
  const double missing = std::min(charge, shape_.capacity) - level(start);
  if (missing <= tolerance) return start;
  const double wait = std::min(std::ceil(missing / shape_.rate * 1e6), longest_wait);
  return start + BootTime(static_cast<BootTime::rep>(wait));
}

void Bucket::take(double charge, BootTime at) {
  if (charge <= 0) return;
  level_ = level(at) - charge - shape_.surcharge;
  at_ = std::max(at_, at);
}

void Bucket::take_foreign(double charge, BootTime at) {
  if (charge <= 0) return;
  take(charge, at);
  level_ = std::max(level_, -charge - shape_.surcharge);
}

void Bucket::set_level(double level, BootTime at) {
  level_ = std::min(level, shape_.capacity);
  at_ = at;
}

double Bucket::level_then(BootTime at) const {
  if (at >= at_) return level(at);
  return level_ - shape_.rate * static_cast<double>((at_ - at).count()) * 1e-6;
}

void Bucket::delay(BootTime time) {
  level_ -= shape_.rate * static_cast<double>(time.count()) * 1e-6;
}

void Bucket::reshape(const Shape& shape, BootTime now) {
  // With a smaller capacity than one unit less is waited for: what was missing is missing all the same.
  const double less_awaited = std::max(0.0, std::min(1.0, shape_.capacity) - std::min(1.0, shape.capacity));
  const double more_apart = std::max(0.0, shape.surcharge - shape_.surcharge);
  level_ = std::min(level(now) - less_awaited - more_apart, shape.capacity);
  at_ = std::max(at_, now);
  shape_ = shape;
}

}  // namespace sluice
