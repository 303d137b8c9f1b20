#include "coordinator/suite/expectations/metric_table.hpp"

#include "common/text/text.hpp"
#include "coordinator/suite/expectations/unknown_type.hpp"
#include "coordinator/suite/fixtures/expected_claims.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "coordinator/suite/score_id.hpp"
#include "coordinator/suite/test_files/thresholding_reader.hpp"

#include <algorithm>
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

/// What a metric compares with; empty where there is no such thing, or several.
std::string_view key_of_value(const MetricType& type) {
  switch (type.parameter) {
    case Parameter::text:
    case Parameter::distance:
    case Parameter::rouge:
      return "text";
    case Parameter::pattern:
      return "pattern";
    case Parameter::schema:
    case Parameter::json:
      return "schema";
    case Parameter::label:
      return "label";
    case Parameter::judge:
      if (type.id == MetricId::rubric) return "criteria";
      return type.id == MetricId::correctness || type.id == MetricId::context_recall ? "reference" : "";
    default:
      return "";
  }
}

/// What a score must reach, or a measure may come to; empty where there is neither.
std::string_view key_of_threshold(const MetricType& type) {
  switch (type.parameter) {
    case Parameter::distance:
      return "max_distance";
    case Parameter::latency:
      return "max_ms";
    case Parameter::cost:
      return "max_dollars";
    case Parameter::all_of:
      return "pass_mark";
    default:
      return type.is_scored() ? "min_score" : "";
  }
}

/// `must_contain: Paris`, without a type; null where there is no such key. Lists of mappings are claims, and
/// some metrics have a parameter of their name.
const DocumentEntry* metric_as_key(const DocumentNode& metric) {
  if (find_entry(metric, "type") != nullptr) return nullptr;
  const auto& entries = std::get<DocumentNode::Table>(metric.value);
  const auto found = std::ranges::find_if(entries, [](const DocumentEntry& entry) {
    const auto* list = std::get_if<DocumentNode::Array>(&entry.value.value);
    const bool is_claims =
        list != nullptr && !list->empty() && std::holds_alternative<DocumentNode::Table>(list->front().value);
    const bool is_parameter = entry.key == "command" || entry.key == "label" || entry.key == "rubric";
    return !is_claims && !is_parameter && type_called(entry.key) != nullptr;
  });
  return found != entries.end() ? &*found : nullptr;
}

std::string as_type(const MetricType& type) {
  const std::string_view key = key_of_value(type).empty() ? key_of_threshold(type) : key_of_value(type);
  return "is a metric: write type: " + std::string(type.name()) +
         (key.empty() ? "" : ", " + std::string(key) + ": ...");
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
  if (const DocumentEntry* as_key = metric_as_key(node)) {
    reader->entry(as_key->key);
    reader->add_wrong(as_key->key, as_type(*type_called(as_key->key)));
    return std::nullopt;
  }
  if (const MetricType* type = read_type(*reader)) return MetricTable{std::move(*reader), *type};
  check_without_type(*reader, context, suite);
  return std::nullopt;
}

void refuse_foreign_keys(TableReader& reader, const MetricType& type) {
  if (const auto key = key_of_value(type); !key.empty()) reader.refuse_other_name("value", key);
  if (const auto key = key_of_threshold(type); !key.empty()) reader.refuse_other_name("threshold", key);
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
