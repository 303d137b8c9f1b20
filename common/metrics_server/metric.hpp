#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// One number with what distinguishes it from the others of its name.
struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0.0;
  friend bool operator==(const MetricSample&, const MetricSample&) = default;
};

/// A metric as Prometheus knows it. Names and labels hold nothing from suites, files or keys.
struct MetricFamily {
  enum class Kind : std::uint8_t { counter, gauge };
  std::string name;  ///< `sluice_...`; a counter ends in `_total`.
  std::string help;
  Kind kind = Kind::gauge;
  std::vector<MetricSample> samples;
  friend bool operator==(const MetricFamily&, const MetricFamily&) = default;
};

/// How a process fares.
struct Health {
  bool is_alive = true;   ///< Its loop turns.
  bool is_ready = false;  ///< It does what it is there for.
  std::string status;     ///< What it does, or what is wrong, in one line.
  friend bool operator==(const Health&, const Health&) = default;
};

/// Who knows it. Called on a thread of the server's own.
using HealthSource = std::function<Health()>;

/// What a scrape is answered with. Called on a thread of the server's own.
using MetricSource = std::function<std::vector<MetricFamily>()>;

}  // namespace sluice
