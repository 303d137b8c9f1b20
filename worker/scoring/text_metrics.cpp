#include "worker/scoring/text_metrics.hpp"

#include "common/checks/code_fence.hpp"
#include "common/checks/detail.hpp"
#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "worker/scoring/answer_checks.hpp"

#include <algorithm>
#include <cmath>
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

/// Of the metrics that look for texts beside must_contain and its opposite; empty if there is none.
std::string problem_with_texts(MetricId id, std::string_view answer, const std::vector<std::string>& texts) {
  const bool folds = id == MetricId::icontains || id == MetricId::icontains_any;
  const std::string folded = folds ? to_lower(answer) : std::string();
  const auto misses = [&](const std::string& text) {
    if (id == MetricId::starts_with) return !trimmed(answer).starts_with(trimmed(text));
    return folds ? !contains(folded, to_lower(text)) : !contains(answer, text);
  };
  const bool one_is_enough = id != MetricId::icontains;
  if (one_is_enough && !std::ranges::all_of(texts, misses)) return "";
  return list_of(id == MetricId::starts_with ? "does not start with" : "not found", texts, misses);
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

MetricOutcome assess_exact(MetricId id, std::string_view answer, const std::vector<std::string>& texts) {
  const auto given = normalised(answer);
  std::string nearest;
  std::size_t equal_bytes = 0;
  for (const auto& text : texts) {
    auto expected = normalised(text);
    if (given == expected) return passed(id);
    const auto prefix = common_prefix(given, expected);
    if (prefix < equal_bytes || (prefix == equal_bytes && &text != &texts.front())) continue;
    equal_bytes = prefix;
    nearest = std::move(expected);
  }
  return failed(id, "differs from the expected text at byte " + std::to_string(equal_bytes + 1) + ": " +
                        rest_for_detail(given, equal_bytes) + " instead of " +
                        rest_for_detail(nearest, equal_bytes));
}

/// Why an answer that passes must not: what it must not be.
MetricOutcome negation_of(MetricId id, const MetricOutcome& plain, const TextExpectation& expectation) {
  if (plain.score) return {id, 1.0 - *plain.score, std::nullopt, ""};
  if (!plain.passed) return {id, std::nullopt, std::nullopt, ""};
  if (!*plain.passed) return passed(id);
  std::string what;
  for (const auto& text : expectation.texts) what += (what.empty() ? " " : ", ") + quoted_for_detail(text);
  return failed(id, "it must not pass " + std::string(info(positive(id)).name) + what);
}

/// Whether a part of a group passes: a scored one by the score that it must reach.
bool is_passed(const MetricOutcome& outcome, const TextExpectation& part) {
  if (outcome.passed) return *outcome.passed;
  return outcome.score && part.numbers.size() > 1 && *outcome.score >= part.numbers[1];
}

std::string detail_of_part(const MetricOutcome& outcome) {
  const std::string name(info(outcome.id).name);
  if (!outcome.detail.empty()) return name + ": " + outcome.detail;
  return outcome.score ? name + " has the score " + shortest(*outcome.score) : name;
}

}  // namespace

Result<MetricOutcome> TextChecker::assess(const CheckedAnswer& answer,
                                          const TextExpectation& expectation) const {
  const MetricId id = expectation.metric;
  auto plain = assess_positive(positive(id), answer, expectation);
  if (!plain || !is_negated(id)) return plain;
  return negation_of(id, *plain, expectation);
}

Result<MetricOutcome> TextChecker::assess_positive(MetricId id, const CheckedAnswer& answer,
                                                   const TextExpectation& expectation) const {
  const auto& texts = expectation.texts;
  switch (id) {
    case MetricId::must_contain:
      return outcome(
          id, list_of("not found", texts, [&](const auto& text) { return !contains(answer.text, text); }));
    case MetricId::must_not_contain:
      return outcome(id,
                     list_of("found", texts, [&](const auto& text) { return contains(answer.text, text); }));
    case MetricId::contains_any:
    case MetricId::icontains_any:
    case MetricId::icontains:
    case MetricId::starts_with:
      return outcome(id, problem_with_texts(id, answer.text, texts));
    case MetricId::exact_match:
      return assess_exact(id, answer.text, texts);
    case MetricId::regex_match:
    case MetricId::regex_not_match:
      return assess_patterns(answer, expectation);
    case MetricId::json_schema:
    case MetricId::contains_json: {
      const auto schema = schemas_.get(texts.front());
      if (!schema) return fail(schema.error());
      auto problem = id == MetricId::json_schema ? schema->problem_of(answer.text)
                                                 : problem_with_json_in(answer.text, *schema);
      if (!problem) return fail(problem.error());
      return outcome(id, problem->value_or(""));
    }
    case MetricId::levenshtein:
      return outcome(id, problem_with_distance(answer.text, texts, expectation.numbers.front()));
    case MetricId::rouge_n:
      return MetricOutcome{id,
                           rouge_n(answer.text, texts, static_cast<std::size_t>(expectation.numbers.front())),
                           std::nullopt, ""};
    case MetricId::tool_call:
      return outcome(id, problem_with_calls(answer.calls, texts));
    case MetricId::latency:
      if (!answer.latency_ms) {
        return fail(
            Reason::fixture_invalid,
            "how long the answer took is not known, since it was not called for but came from a cache "
            "or a file, or stands for one in a mock run; in live mode --refresh calls for it again");
      }
      return outcome(id, problem_with_latency(*answer.latency_ms, expectation.numbers.front()));
    case MetricId::cost:
      if (answer.usage == Usage{} && !costs_nothing(expectation.numbers)) {
        return fail(Reason::provider_failed,
                    "what the answer cost is not known, since the provider did not name its usage");
      }
      return outcome(id, problem_with_cost(answer.usage, expectation.numbers));
    case MetricId::any_of:
    case MetricId::all_of:
      return assess_group(id, answer, expectation);
    default:
      return fail(Reason::internal_error,
                  std::string(info(id).name) + " is not computed from the answer alone");
  }
}

Result<MetricOutcome> TextChecker::assess_patterns(const CheckedAnswer& answer,
                                                   const TextExpectation& expectation) const {
  const MetricId id = expectation.metric;
  std::string problem;
  for (const auto& text : expectation.texts) {
    const auto pattern = patterns_.get(text);
    if (!pattern) return fail(pattern.error());
    const auto found = pattern->find(answer.text);
    if (found.has_value() == (id == MetricId::regex_match)) continue;
    problem += problem.empty() ? "" : ", ";
    problem += found ? "found: " + quoted_for_detail(*found) + " (" + quoted_for_detail(text) + ")"
                     : "no match: " + quoted_for_detail(text);
  }
  return outcome(id, problem);
}

Result<MetricOutcome> TextChecker::assess_group(MetricId id, const CheckedAnswer& answer,
                                                const TextExpectation& expectation) const {
  double weight = 0.0;
  double reached = 0.0;
  std::string problems;
  for (const TextExpectation& part : expectation.parts) {
    auto one = assess(answer, part);
    if (!one) return fail(std::move(one.error()));
    // Neither a pass nor a failure, which the opposite of a group would turn into one.
    if (!one->passed && !one->score) {
      return fail(Reason::fixture_invalid, std::string(info(part.metric).name) + " in " +
                                               std::string(info(id).name) +
                                               " is undefined: none of its texts has n words");
    }
    weight += part.weight;
    if (is_passed(*one, part)) {
      reached += part.weight;
    } else {
      problems += (problems.empty() ? "" : "; ") + detail_of_part(*one);
    }
  }
  if (id == MetricId::any_of) return outcome(id, reached > 0.0 ? "" : "none passes: " + problems);
  // A mark of 1 asks for all; sums of weights have last bits of their own.
  constexpr double last_bits = 1e-9;
  const double share = weight > 0.0 ? reached / weight : 0.0;
  if (share + last_bits >= expectation.numbers.front()) return passed(id);
  return failed(id, "reaches " + shortest(std::round(share * 1000.0) / 1000.0) + " of " +
                        shortest(expectation.numbers.front()) + ": " + problems);
}

}  // namespace sluice
