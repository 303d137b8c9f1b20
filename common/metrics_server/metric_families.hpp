#pragma once

#include "common/metrics_server/metric.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Gathers metrics: a family, then its samples.
class MetricFamilies {
 public:
  using Kind = MetricFamily::Kind;
  using Labels = std::vector<std::pair<std::string, std::string>>;

  MetricFamilies& family(std::string name, std::string help, Kind kind) {
    families_.push_back({std::move(name), std::move(help), kind, {}});
    return *this;
  }
  /// REQUIRES: a family.
  template <class Number>
  MetricFamilies& sample(Labels labels, Number number) {
    families_.back().samples.push_back({std::move(labels), static_cast<double>(number)});
    return *this;
  }
  template <class Rep, class Period>
  MetricFamilies& sample(Labels labels, std::chrono::duration<Rep, Period> time) {
    return sample(std::move(labels), std::chrono::duration<double>(time).count());
  }
  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

}  // namespace sluice
