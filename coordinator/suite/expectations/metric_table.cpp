#include "coordinator/suite/expectations/metric_table.hpp"

#include "common/text/text.hpp"
#include "coordinator/suite/expectations/unknown_type.hpp"
#include "coordinator/suite/fixtures/expected_claims.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "coordinator/suite/score_id.hpp"
#include "coordinator/suite/test_files/thresholding_reader.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

namespace sluice {
namespace {

const MetricType* read_type(TableReader& reader) {
  const auto name = reader.word("type", Need::required);
  if (!name) return nullptr;
  if (const MetricType* type = type_called(*name)) return type;
  if (const ScoreParts score = parts_of_score(*name); score.metric != nullptr) {
    reader.add_wrong("type", "is \"" + excerpt(*name, 80) + "\", as reports call a score: write type: " +
                                 std::string(score.metric->name) + ", name: " + arm_name_of(score.name));
    return nullptr;
  }
  reader.add_wrong("type", problem_with_type(*name));
  return nullptr;
}

/// Which keys belong to it depends on the type; what is wrong whatever the type shall not wait for it.
void check_without_type(TableReader& reader, const DocumentContext& context, const Thresholding& suite) {
  reader.texts("text");
  reader.texts("pattern");
  for (const ParameterKey& one : parameter_keys()) reader.entry(one.key);
  for (const char* of_judges : {"context", "criteria", "reference", "rubric"}) reader.entry(of_judges);
  reader.entry("weight");
  for (const std::string_view foreign : {"value", "threshold"}) reader.refused_entry(foreign);
  read_claims(reader, "must_contain", context);
  read_claims(reader, "must_not_contain", context);
  reader.number_in("min_confidence", 0.0, 1.0);
  reader.number_in("min_score", 0.0, 1.0);
  if (const DocumentNode* table = reader.table("thresholding")) {
    read_thresholding(context.reader(*table, "thresholding"), suite);
  }
  reader.finish();
}

}  // namespace

std::optional<MetricTable> open_metric(const DocumentNode& node, const std::string& name,
                                       const DocumentContext& context, const Thresholding& suite) {
  auto reader = context.table_reader(node, name, R"(such as {"type": "must_contain", "text": "Paris"})");
  if (!reader) return std::nullopt;
  if (const MetricType* type = read_type(*reader)) return MetricTable{std::move(*reader), *type};
  check_without_type(*reader, context, suite);
  return std::nullopt;
}

void refuse_other_keys(TableReader& reader, const MetricType& type) {
  for (const ParameterKey& one : parameter_keys()) {
    const bool is_score_name = one.key == "name" && takes_name(info(type.id));
    if (one.is_of(type.parameter) || is_score_name || reader.refused_entry(one.key) == nullptr) continue;
    const std::string keys = keys_of(type.parameter);
    reader.add_wrong(one.key, "does not belong to " + std::string(type.name()) + ", which takes " +
                                  (keys.empty() ? "no parameters" : keys));
  }
}

void refuse_limits(TableReader& reader, const MetricType& type) {
  for (const std::string_view key : {std::string_view("min_score"), std::string_view("thresholding")}) {
    if (reader.refused_entry(key) == nullptr) continue;
    reader.add_wrong(key, "cannot stand with " + std::string(type.name()) +
                              ", which only passes or fails: thresholds are for metrics with a score (" +
                              names_of_scored_types() + ")");
  }
}

}  // namespace sluice
