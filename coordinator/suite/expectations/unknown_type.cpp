#include "coordinator/suite/expectations/unknown_type.hpp"

#include "common/documents/table_reader.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"
#include "coordinator/suite/expectations/foreign_type.hpp"
#include "coordinator/suite/expectations/metric_types.hpp"

#include <vector>

namespace sluice {
namespace {

constexpr std::string_view where_all_stand = "docs/suites.md lists all under \"Metrics\"";

/// What to do where a metric has no opposite.
std::string_view way_without_opposite(const MetricType& type) {
  if (type.parameter == Parameter::judge) return "write the opposite into the \"criteria\" of a rubric";
  if (type.parameter == Parameter::claims)
    return "what an answer must not claim stands in \"must_not_contain\"";
  switch (type.id) {
    case MetricId::must_contain:
      return "must_not_contain asks that none of the texts occurs, and not_all_of, with must_contain as its "
             "part, that not all of them do";
    case MetricId::must_not_contain:
      return "contains_any asks that one of the texts occurs";
    case MetricId::regex_not_match:
      return "regex_match asks that the pattern is found";
    default:
      return "a similarity has no upper bound: must_not_contain forbids texts, not_rouge_n and "
             "not_levenshtein what is too like one, and a rubric what a judge finds";
  }
}

std::string without_opposite(const MetricType& type) {
  const std::string who = type.parameter == Parameter::judge    ? "judge metrics have"
                          : type.parameter == Parameter::claims ? "claims metrics have"
                                                                : std::string(type.name()) + " has";
  return ", and " + who + " no form with \"not_\": " + std::string(way_without_opposite(type));
}

std::string did_you_mean_type(std::string_view name) {
  return "; did you mean \"" + std::string(name) + "\"?";
}

const MetricType* type_of(const DocumentNode& entry) {
  const DocumentEntry* type = find_entry(entry, "type");
  const auto* name = type != nullptr ? std::get_if<std::string>(&type->value.value) : nullptr;
  return name != nullptr ? type_called(*name) : nullptr;
}

/// `"correctness" with "reference"`, `"any_of" of "refusal" and "regex_match"`.
std::string shown_entry(const DocumentNode& entry) {
  std::vector<std::string> keys;
  for (const DocumentEntry& one : std::get<DocumentNode::Table>(entry.value)) {
    if (one.key != "type" && one.key != "of" && one.key != "min_score") keys.push_back(one.key);
  }
  std::vector<std::string> parts;
  if (const DocumentEntry* of = find_entry(entry, "of")) {
    for (const DocumentNode& part : std::get<DocumentNode::Array>(of->value.value)) {
      if (const MetricType* type = type_of(part)) parts.emplace_back(type->name());
    }
  }
  const MetricType* type = type_of(entry);
  return '"' + std::string(type != nullptr ? type->name() : "") + '"' +
         (parts.empty() ? "" : " of " + quoted_list(parts)) +
         (keys.empty() ? "" : " with " + quoted_list(keys));
}

/// Of a check by promptfoo's name.
std::string of_foreign(std::string_view type, bool is_negated) {
  if (const auto why = why_not_taken(type); !why.empty())
    return ", a check of promptfoo, which " + std::string(why) + "; " + std::string(where_all_stand);
  // A value that each of them takes.
  const auto made_of = [&](bool negated) {
    return expectation_of({std::string(type), negated, {"1"}, 1.0, {}, 1});
  };
  const auto plain = made_of(false);
  const MetricType* counterpart = plain ? type_of(*plain) : nullptr;
  if (is_negated && counterpart != nullptr && opposite_of(*counterpart) == nullptr)
    return without_opposite(*counterpart);
  const auto made = is_negated ? made_of(true) : plain;
  if (!made) return ", a check of promptfoo, which " + made.error();
  return ", as promptfoo calls it; here it is " + shown_entry(*made);
}

/// Of a name that begins with `not_`; empty if the rest is like no metric's.
std::string of_negated(std::string_view bare) {
  const MetricType* type = type_called(bare);
  if (type == nullptr) type = nearest_type(bare);
  if (type == nullptr) return "";
  const MetricType* opposite = opposite_of(*type);
  return opposite != nullptr ? did_you_mean_type(opposite->name()) : without_opposite(*type);
}

/// Names that are like it, or else such as most suites have.
std::string some_names(std::string_view name) {
  std::vector<std::string> names;
  for (const std::string_view one : names_like(name)) names.emplace_back(one);
  if (names.empty())
    names = {"must_contain", "regex_match", "exact_match", "label", "json_schema", "tool_call", "rubric"};
  return "; there are " + quoted_list(names) + " among others: " + std::string(where_all_stand);
}

}  // namespace

std::string problem_with_type(std::string_view name) {
  const std::string shown = '"' + excerpt(name, 80) + '"';
  const bool is_negated = name.starts_with("not_") || name.starts_with("not-");
  const std::string_view bare = is_negated ? name.substr(4) : name;
  if (is_negated) {
    const MetricType* type = type_called(bare);
    if (type != nullptr && opposite_of(*type) == nullptr) return "is " + shown + without_opposite(*type);
  }
  if (const ForeignType* foreign = foreign_type_called(bare))
    return "is " + shown + of_foreign(foreign->name, is_negated);
  std::string advice;
  if (is_negated && type_called(bare) != nullptr) advice = of_negated(bare);
  if (const MetricType* nearest = nearest_type(name); advice.empty() && nearest != nullptr)
    advice = did_you_mean_type(nearest->name());
  if (advice.empty() && is_negated) advice = of_negated(bare);
  if (advice.empty()) advice = some_names(name);
  return "is the unknown metric " + shown + advice;
}

}  // namespace sluice
