#include "worker/credit.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice {

namespace {

constexpr double units_per_second_unpaid = 10'000;

double in_seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::uint32_t credit_window(std::uint32_t concurrency, double finished_per_second) {
  // A round trip with a commit takes a few milliseconds; 100 ms of work rides out a busy coordinator. No
  // more: the search for a concurrency takes what waits here for a request to have more in flight.
  constexpr double lookahead_seconds = 0.1;
  constexpr double most = 1024;
  const double least = concurrency;
  const double ahead = std::clamp(finished_per_second * lookahead_seconds, least, std::max(least, most));
  return concurrency + static_cast<std::uint32_t>(ahead);
}

Credit::Credit(bool paid) : paid_(paid), finished_per_second_(paid ? 0.0 : units_per_second_unpaid) {}

void Credit::on_beat(Duration interval) {
  const auto finished = static_cast<double>(std::exchange(finished_since_beat_, 0));
  if (paid_) finished_per_second_ = finished / in_seconds(interval);
}

std::uint32_t Credit::window(std::uint32_t concurrency, Duration since_beat) const {
  // A fast run shows itself before the next beat; what is finished in less than 100 ms proves little.
  const double lately = static_cast<double>(finished_since_beat_) / std::max(in_seconds(since_beat), 0.1);
  return credit_window(concurrency, std::max(finished_per_second_, lately));
}

}  // namespace sluice
