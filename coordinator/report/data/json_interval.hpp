#pragma once

#include "coordinator/output/json_writer.hpp"
#include "coordinator/statistics/intervals.hpp"

#include <optional>
#include <string_view>

namespace sluice {

/// The member `[low, high]`, or `null` where nothing is known.
inline void write_interval(Json& json, std::string_view name, const std::optional<Interval>& interval) {
  json.key(name);
  if (!interval) return json.null();
  json.open('[');
  json.value(interval->low);
  json.value(interval->high);
  json.close(']');
}

/// `interval` where it is of something that is known.
inline std::optional<Interval> known(const Interval& interval, bool is_known) {
  return is_known ? std::optional(interval) : std::nullopt;
}

}  // namespace sluice
