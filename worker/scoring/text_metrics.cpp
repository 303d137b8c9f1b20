#include "worker/scoring/text_metrics.hpp"

#include "common/checks/detail.hpp"
#include "common/checks/outcome.hpp"
#include "common/text/any_case.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "worker/scoring/answer_checks.hpp"
#include "worker/scoring/label_check.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

namespace {

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

bool contains(std::string_view answer, std::string_view text) {
  return answer.find(text) != std::string_view::npos;
}

/// Of contains_any and starts_with, to which one of the texts is enough; empty if there is none.
std::string problem_with_all(MetricId id, std::string_view answer, const std::vector<std::string>& texts) {
  const auto misses = [&](const std::string& text) {
    if (id == MetricId::starts_with) return !trimmed(answer).starts_with(trimmed(text));
    return !contains(answer, text);
  };
  if (!std::ranges::all_of(texts, misses)) return "";
  return list_of(id == MetricId::starts_with ? "does not start with" : "not found", texts, misses);
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto end = std::ranges::mismatch(a, b).in1;
  auto length = static_cast<std::size_t>(end - a.begin());
  // Not in the middle of a character.
  while (length > 0 && length < a.size() && continues_utf8(a[length])) --length;
  return length;
}

/// What helps: a recorded answer is never called for, so --refresh changes nothing of it.
std::string unknown_latency(bool is_recorded) {
  if (is_recorded)
    return "how long the answer took is not known: a recorded answer (--answers) has no time; leave its test "
           "out of that file, so that in live mode a model is asked, or the check out of the test";
  return "how long the answer took is not known, since it was cached when no test asked for its time; "
         "--refresh in live mode calls for it again";
}

std::string unknown_cost(bool is_recorded) {
  if (is_recorded)
    return "what the answer cost is not known, since no tokens are recorded for it: add \"usage\" with "
           "\"input_tokens\" and \"output_tokens\" to it in the file of --answers (in a span "
           "gen_ai.usage.input_tokens and gen_ai.usage.output_tokens)";
  return "what the answer cost is not known, since the provider named no tokens for it, or 0 and 0; if it "
         "counts them by now, --refresh in live mode calls for the answer again";
}

std::string rest_for_detail(std::string_view text, std::size_t from) {
  return from == text.size() ? "the end" : quoted_for_detail(text.substr(from));
}

MetricOutcome assess_exact(MetricId id, std::string_view answer, const std::vector<std::string>& texts) {
  const auto given = comparable(answer);
  std::string nearest;
  std::size_t equal_bytes = 0;
  for (const auto& text : texts) {
    auto expected = comparable(text);
    if (given == expected) return passed_outcome(id);
    const auto prefix = common_prefix(given, expected);
    if (prefix < equal_bytes || (prefix == equal_bytes && &text != &texts.front())) continue;
    equal_bytes = prefix;
    nearest = std::move(expected);
  }
  return failed_outcome(id, "differs from the expected text at byte " + std::to_string(equal_bytes + 1) +
                                ": " + rest_for_detail(given, equal_bytes) + " instead of " +
                                rest_for_detail(nearest, equal_bytes));
}

/// What is not known is no proof of the opposite.
Result<MetricOutcome> outcome_of_schema(MetricId id, const Result<SchemaFinding>& found, bool turned_round) {
  if (!found) return fail(found.error());
  return found->gave_up && turned_round ? undecided_outcome(id, found->problem)
                                        : outcome_of(id, found->problem);
}

}  // namespace

Result<MetricOutcome> TextChecker::assess(const CheckedAnswer& answer,
                                          const TextExpectation& expectation) const {
  return assess(answer, expectation, false);
}

Result<MetricOutcome> TextChecker::assess(const CheckedAnswer& answer, const TextExpectation& expectation,
                                          bool turned_round) const {
  const MetricId id = expectation.metric;
  const bool fails_pass = is_negated(id) != turned_round;
  if (!expectation.parts.empty()) return assess_group(answer, expectation, fails_pass);
  // What is no label at all is none but this one either.
  if (id == MetricId::not_label) return assess_label(id, answer.text, expectation.texts);
  auto plain = assess_positive(answer, expectation, fails_pass);
  if (!plain || !is_negated(id)) return plain;
  // Names and arguments are no list of texts.
  const bool names_calls = positive(id) == MetricId::tool_calls;
  return negation_of(id, *plain, names_calls ? std::vector<std::string>() : expectation.texts);
}

Result<MetricOutcome> TextChecker::assess_positive(const CheckedAnswer& answer,
                                                   const TextExpectation& expectation,
                                                   bool turned_round) const {
  const MetricId id = positive(expectation.metric);
  const auto& texts = expectation.texts;
  switch (id) {
    case MetricId::must_contain:
      return outcome_of(
          id, list_of("not found", texts, [&](const auto& text) { return !contains(answer.text, text); }));
    case MetricId::must_not_contain:
      return outcome_of(
          id, list_of("found", texts, [&](const auto& text) { return contains(answer.text, text); }));
    case MetricId::contains_any:
    case MetricId::starts_with:
      return outcome_of(id, problem_with_all(id, answer.text, texts));
    case MetricId::icontains:
    case MetricId::icontains_any:
      return assess_in_any_case(id, answer.text, texts);
    case MetricId::label:
      return assess_label(id, answer.text, texts);
    case MetricId::exact_match:
      return assess_exact(id, answer.text, texts);
    case MetricId::regex_match:
    case MetricId::regex_not_match:
      return assess_patterns(answer, expectation);
    case MetricId::json_schema:
    case MetricId::contains_json: {
      const auto schema = schemas_.get(texts.front());
      if (!schema) return fail(schema.error());
      return outcome_of_schema(
          id,
          id == MetricId::json_schema ? schema->compare(answer.text) : compare_json_in(answer.text, *schema),
          turned_round);
    }
    case MetricId::tool_calls_valid:
      return outcome_of_schema(id, compare_calls(answer), turned_round);
    case MetricId::levenshtein:
      return outcome_of(id, problem_with_distance(answer.text, texts, expectation.numbers.front()));
    case MetricId::rouge_n:
      return MetricOutcome{id,
                           rouge_n(answer.text, texts, static_cast<std::size_t>(expectation.numbers.front())),
                           std::nullopt, ""};
    case MetricId::tool_call:
      if (texts.empty()) return outcome_of(id, answer.calls.empty() ? "calls no tool" : "");
      return outcome_of(id, problem_with_calls(answer.calls, texts, turned_round));
    case MetricId::tool_calls:
      return outcome_of(
          id, problem_with_call_list(answer.calls, texts, expectation.numbers.front() != 0, turned_round));
    case MetricId::latency:
      if (!answer.latency_ms) return undecided_outcome(id, unknown_latency(answer.is_recorded));
      return outcome_of(id, problem_with_latency(*answer.latency_ms, expectation.numbers.front()));
    case MetricId::cost:
      if (answer.usage == Usage{} && !costs_nothing(expectation.numbers)) {
        return undecided_outcome(id, unknown_cost(answer.is_recorded));
      }
      return outcome_of(id, problem_with_cost(answer.usage, expectation.numbers));
    case MetricId::refusal:
      return outcome_of(
          id, answer.is_refusal
                  ? ""
                  : "the provider gave an answer, and no refusal of its own (words of one do not count)");
    default:
      return fail(Reason::internal_error,
                  std::string(info(id).name) + " is not computed from the answer alone");
  }
}

Result<MetricOutcome> TextChecker::assess_in_any_case(MetricId id, std::string_view answer,
                                                      const std::vector<std::string>& texts) const {
  const auto in_answer = in_small_letters(answer);
  if (!in_answer) return fail(in_answer.error());
  std::vector<std::string> missing;
  for (const std::string& text : texts) {
    const auto sought = in_small_letters(text);
    if (!sought) return fail(sought.error());
    if (!contains(*in_answer, *sought)) missing.push_back(text);
  }
  const bool one_is_enough = id == MetricId::icontains_any;
  if (one_is_enough && missing.size() < texts.size()) return passed_outcome(id);
  return outcome_of(id, list_of("not found", missing, [](const std::string&) { return true; }));
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
  return outcome_of(id, problem);
}

Result<SchemaFinding> TextChecker::compare_calls(const CheckedAnswer& answer) const {
  SchemaFinding unsure;
  for (const ToolCall& call : answer.calls) {
    const auto tool = std::ranges::find(answer.tools, call.name, &Tool::name);
    if (tool == answer.tools.end())
      return SchemaFinding{"calls " + quoted_for_detail(call.name) + ", which is none of the test's tools"};
    const auto schema = schemas_.get(tool->parameters);
    if (!schema) return fail(schema.error());
    auto found = compare_arguments(call, *schema);
    if (!found) return found;
    if (!found->problem.empty() && !found->gave_up) return found;
    if (unsure.problem.empty()) unsure = std::move(*found);
  }
  return unsure;
}

Result<MetricOutcome> TextChecker::assess_group(const CheckedAnswer& answer, const TextExpectation& group,
                                                bool turned_round) const {
  std::vector<MetricOutcome> parts;
  parts.reserve(group.parts.size());
  for (const TextExpectation& part : group.parts) {
    auto one = assess(answer, part, turned_round);
    if (!one) return fail(std::move(one.error()));
    parts.push_back(std::move(*one));
  }
  return outcome_of_group(group, parts);
}

}  // namespace sluice
