#pragma once

#include "common/model/metrics.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sluice {

/// Cases of which a notice has something to say, counted by metric.
class CasesByMetric {
 public:
  void add(MetricId metric, std::string_view test_id);
  bool empty() const { return found_.empty(); }
  /// "faithfulness of 1 case (`a`), rubric of 3 cases (first `b`)"
  std::string in_words() const;

 private:
  struct OfMetric {
    std::uint64_t cases = 0;
    std::string first;
  };
  std::map<MetricId, OfMetric> found_;
};

}  // namespace sluice
