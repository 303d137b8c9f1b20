#include "worker/credit.hpp"

#include "worker/defaults.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice {

namespace {

double in_seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::uint32_t credit_window(std::uint32_t concurrency, double finished_per_second) {
  const double least = concurrency;
  const double ahead = std::clamp(finished_per_second * defaults::credit_lookahead_seconds, least,
                                  std::max(least, defaults::max_units_ahead));
  return concurrency + static_cast<std::uint32_t>(ahead);
}

Credit::Credit(bool paid)
    : paid_(paid), finished_per_second_(paid ? 0.0 : defaults::units_per_second_unpaid) {}

void Credit::on_beat(Duration interval) {
  const auto finished = static_cast<double>(std::exchange(finished_since_beat_, 0));
  if (paid_) finished_per_second_ = finished / in_seconds(interval);
}

std::uint32_t Credit::window(std::uint32_t concurrency, Duration since_beat) const {
  const double lately = static_cast<double>(finished_since_beat_) /
                        std::max(in_seconds(since_beat), defaults::least_measured_seconds);
  return credit_window(concurrency, std::max(finished_per_second_, lately));
}

}  // namespace sluice
