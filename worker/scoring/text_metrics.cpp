#include "worker/scoring/text_metrics.hpp"

#include "common/checks/code_fence.hpp"
#include "common/checks/detail.hpp"
#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice {

namespace {

MetricOutcome passed(MetricId id) {
  return {id, std::nullopt, true, ""};
}

MetricOutcome failed(MetricId id, const std::string& detail) {
  return {id, std::nullopt, false, excerpt(detail, defaults::max_detail_bytes - 3)};
}

/// `not found: "a", "b"`, for all texts to which `misses` applies; empty if there is none.
template <class Misses>
std::string list_of(std::string_view what, const std::vector<std::string>& texts, Misses misses) {
  std::string list;
  for (const auto& text : texts) {
    if (!misses(text)) continue;
    list += list.empty() ? std::string(what) + ": " : ", ";
    list += quoted_for_detail(text);
  }
  return list;
}

MetricOutcome outcome(MetricId id, const std::string& problem) {
  return problem.empty() ? passed(id) : failed(id, problem);
}

bool contains(std::string_view answer, std::string_view text) {
  return answer.find(text) != std::string_view::npos;
}

std::string normalised(std::string_view text) {
  return std::string(trimmed(with_unix_line_ends(std::string(text))));
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto end = std::ranges::mismatch(a, b).in1;
  auto length = static_cast<std::size_t>(end - a.begin());
  // Not in the middle of a character.
  while (length > 0 && length < a.size() && continues_utf8(a[length])) --length;
  return length;
}

std::string rest_for_detail(std::string_view text, std::size_t from) {
  return from == text.size() ? "the end" : quoted_for_detail(text.substr(from));
}

MetricOutcome assess_exact(std::string_view answer, const TextExpectation& expectation) {
  const auto given = normalised(answer);
  std::string nearest;
  std::size_t equal_bytes = 0;
  for (const auto& text : expectation.texts) {
    auto expected = normalised(text);
    if (given == expected) return passed(expectation.metric);
    const auto prefix = common_prefix(given, expected);
    if (prefix < equal_bytes || (prefix == equal_bytes && &text != &expectation.texts.front())) continue;
    equal_bytes = prefix;
    nearest = std::move(expected);
  }
  return failed(expectation.metric, "differs from the expected text at byte " +
                                        std::to_string(equal_bytes + 1) + ": " +
                                        rest_for_detail(given, equal_bytes) + " instead of " +
                                        rest_for_detail(nearest, equal_bytes));
}

}  // namespace

Result<MetricOutcome> TextChecker::assess(std::string_view answer, const TextExpectation& expectation) const {
  const auto id = expectation.metric;
  const auto& texts = expectation.texts;
  switch (id) {
    case MetricId::must_contain:
      return outcome(id,
                     list_of("not found", texts, [&](const auto& text) { return !contains(answer, text); }));
    case MetricId::must_not_contain:
      return outcome(id, list_of("found", texts, [&](const auto& text) { return contains(answer, text); }));
    case MetricId::exact_match:
      return assess_exact(answer, expectation);
    case MetricId::regex_match:
    case MetricId::regex_not_match: {
      std::string problem;
      for (const auto& text : texts) {
        const auto pattern = patterns_.get(text);
        if (!pattern) return fail(pattern.error());
        const auto found = pattern->find(answer);
        if (found.has_value() == (id == MetricId::regex_match)) continue;
        problem += problem.empty() ? "" : ", ";
        problem += found ? "found: " + quoted_for_detail(*found) + " (" + quoted_for_detail(text) + ")"
                         : "no match: " + quoted_for_detail(text);
      }
      return outcome(id, problem);
    }
    case MetricId::json_schema: {
      const auto schema = schemas_.get(texts.front());
      if (!schema) return fail(schema.error());
      auto problem = schema->problem_of(answer);
      if (!problem) return fail(problem.error());
      return outcome(id, problem->value_or(""));
    }
    default:
      return fail(Reason::internal_error,
                  std::string(info(id).name) + " is not computed from the text alone");
  }
}

}  // namespace sluice
