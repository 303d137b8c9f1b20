#include "tests/provider_sim/serving_places.hpp"

#include <algorithm>
#include <functional>

namespace sluice::sim {

std::int64_t ServingPlaces::done_at(std::int64_t now_us, std::int64_t takes_us) {
  if (places_ == 0) return now_us + takes_us;
  std::int64_t begins_us = now_us;
  if (busy_until_us_.size() == places_) {
    std::ranges::pop_heap(busy_until_us_, std::greater<>());
    begins_us = std::max(now_us, busy_until_us_.back());
    busy_until_us_.pop_back();
  }
  busy_until_us_.push_back(begins_us + takes_us);
  std::ranges::push_heap(busy_until_us_, std::greater<>());
  return begins_us + takes_us;
}

}  // namespace sluice::sim
