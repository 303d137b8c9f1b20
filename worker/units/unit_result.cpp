#include "worker/units/unit_result.hpp"

#include "common/checks/redact_claims.hpp"
#include "common/defaults.hpp"
#include "common/model/embedding.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sluice {

namespace {

constexpr const char* about_redacted = "it is about what is redacted";

/// Before anything is cut: half a key is not known as one.
void disclose(std::string& text, const Disclosure& disclosure) {
  disclosure.keys.apply(text);
  disclosure.redactor.apply(text);
}

/// A vote may quote what a cache holds of an answer.
Evidence disclosed(Evidence evidence, const Disclosure& disclosure) {
  for (auto& of_task : evidence.votes) {
    for (auto& of_metric : of_task) {
      for (Vote& vote : of_metric.votes) disclose(vote.rationale, disclosure);
    }
  }
  return evidence;
}

/// What the enricher did not know of the candidate's answer. A cache may hold keys of either.
GradingResult finished(GradingResult grade, const Completion& candidate, const Spend& spend,
                       const Disclosure& disclosure) {
  grade.candidate.served_model = candidate.served_model;
  grade.candidate.usage = candidate.usage;
  grade.candidate.cache_hit = spend.cache_hit;
  grade.candidate.latency_ms = spend.cache_hit ? 0 : spend.latency_ms;
  for (std::string* text : {&grade.grade.notes, &grade.baseline.text, &grade.baseline.served_model,
                            &grade.candidate.text, &grade.candidate.served_model})
    disclose(*text, disclosure);
  return grade;
}

bool depends_on_text_alone(MetricId metric) {
  return metric != MetricId::semantic_similarity_to && positive(metric) != MetricId::latency &&
         positive(metric) != MetricId::cost && positive(metric) != MetricId::refusal;
}

/// Its detail may hold what only the redacted answer as a whole shows to be a secret.
bool quotes_calls(const TextExpectation& expectation) {
  const MetricId metric = positive(expectation.metric);
  return metric == MetricId::tool_call || metric == MetricId::tool_calls ||
         metric == MetricId::tool_calls_valid || !expectation.parts.empty();
}

/// A detail may quote a part of what is expected, in which no pattern finds what it would find in the whole.
bool quotes_part_of_secret(const std::string& detail, const TextExpectation& expectation,
                           const Redactor& redactor) {
  const auto quotes_the_rest = [](const TextExpectation& one) {
    return positive(one.metric) == MetricId::exact_match;
  };
  const auto has_secret = [&redactor](const TextExpectation& one) {
    return std::ranges::any_of(one.texts,
                               [&](const std::string& text) { return redactor.redacted(text).has_value(); });
  };
  const bool quotes_part =
      detail.find("...") != std::string::npos || is_or_holds(expectation, quotes_the_rest);
  return quotes_part && is_or_holds(expectation, has_secret);
}

/// Details quote the answer, cut short: where something was redacted in it, they are what the redacted answer
/// would get.
void redact_details(UnitResult& result, const WorkUnit& unit, const Checks& checks,
                    const std::optional<std::string>& clean, const Redactor& redactor) {
  auto score = result.scores.begin();
  for (const ScoringTask& task : unit.tasks) {
    if (score == result.scores.end()) break;
    if (score->trial != task.trial) continue;  // Of a refusal that it does not take.
    const auto& texts = task.texts;
    auto& metrics = score->metrics;
    const std::size_t first_text = metrics.size() - texts.size() - score->judged.size();
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      std::string& detail = metrics[i].detail;
      if (detail.empty()) continue;
      const bool is_of_text = i >= first_text && i < first_text + texts.size();
      const MetricId metric = is_of_text ? texts[i - first_text].metric : MetricId::semantic_similarity_to;
      const bool is_about_answer = clean && is_of_text && !metrics[i].is_undecided();
      if (is_about_answer && quotes_calls(texts[i - first_text])) {
        detail = about_redacted;
      } else if (is_about_answer && depends_on_text_alone(metric)) {
        auto again = checks.text_checker.assess(*clean, texts[i - first_text]);
        // What the redacted answer would pass is about what is redacted, and may quote a part of it.
        if (again) detail = again->detail.empty() ? about_redacted : std::move(again->detail);
      }
      if (is_of_text && quotes_part_of_secret(detail, texts[i - first_text], redactor))
        detail = about_redacted;
      redactor.apply(detail);
    }
    ++score;
  }
}

/// Of recorded judgements: those of votes are clean before they are cut.
void disclose_recorded(UnitResult& result, const Disclosure& disclosure) {
  for (TrialScore& score : result.scores) {
    const std::size_t first = score.metrics.size() - score.judged.size();
    for (std::size_t i = 0; i < score.judged.size(); ++i) {
      JudgeScore& judged = score.judged[i];
      if (judged.source != JudgeSource::trace) continue;
      disclose(judged.rationale, disclosure);
      score.metrics[first + i].detail = detail_of(judged);
    }
  }
}

/// After the scores, which are those of the answer as it is.
void redact(UnitResult& result, const std::optional<std::string>& clean, const WorkUnit& unit,
            const Checks& checks, const Redactor& redactor) {
  if (redactor.empty()) return;
  if (result.error) redactor.apply(result.error->message);
  if (clean && !result.shown_text.empty())
    result.shown_text = shown_beginning(*clean, result.error.has_value());
  redact_claims(result, redactor);
  redact_details(result, unit, checks, clean, redactor);
}

Result<std::string> packed_embedding(const EmbeddedTexts& embedded, const std::string& answer) {
  const auto found = embedded.find(answer);
  if (found == embedded.end()) return fail(Reason::internal_error, "the answer was not embedded");
  if (found->second->size() * sizeof(float) > defaults::max_embedding_bytes)
    return fail(Reason::embedding_count_wrong, "the embedding has " + std::to_string(found->second->size()) +
                                                   " dimensions, more than can be compared here");
  return pack_embedding(*found->second);
}

/// Needs no embeddings and no votes.
bool needs_the_answer_alone(const ScoringTask& task) {
  return std::ranges::all_of(task.judged, [](const auto& one) { return one.recorded.has_value(); }) &&
         std::ranges::none_of(task.texts, [](const TextExpectation& one) {
           return one.metric == MetricId::semantic_similarity_to;
         });
}

/// `text`: that of the answer, as it may be shown.
ObservedAnswer as_observed(Completion&& answer, std::string text, const Disclosure& disclosure) {
  for (std::string* words : {&answer.finish_reason, &answer.served_model}) disclose(*words, disclosure);
  return {std::move(text), std::move(answer.finish_reason), std::move(answer.served_model),
          answer.created_at_ms};
}

/// The answer as observations keep it: without keys, and redacted.
ObservedAnswer observed_answer(Completion answer, const Disclosure& disclosure) {
  std::string text = std::move(answer.text);
  disclose(text, disclosure);
  return as_observed(std::move(answer), std::move(text), disclosure);
}

}  // namespace

SharedUnit part_that_assesses(const Completion& answer, const SharedUnit& unit) {
  if (!answer.non_answer) return unit;
  const auto takes_it = [&](const ScoringTask& task) { return takes(task, answer); };
  if (std::ranges::none_of(unit->tasks, takes_it)) return nullptr;
  if (std::ranges::all_of(unit->tasks, takes_it)) return unit;
  WorkUnit part = *unit;
  std::erase_if(part.tasks, std::not_fn(takes_it));
  return std::make_shared<const WorkUnit>(std::move(part));
}

UnitResult unit_result(const WorkUnit& unit, const Checks& checks, UnitOutcome outcome,
                       const Evidence& evidence, const Spend& spend, ReadAnswer read,
                       const Disclosure& disclosure) {
  const auto& [keys, redactor, whole_text, embedding] = disclosure;
  UnitResult result;
  result.unit = unit.unit;
  result.key = unit.key;
  result.spend = spend;
  if (auto* error = std::get_if<Error>(&outcome)) {
    result.error = std::move(*error);
    redactor.apply(result.error->message);
    return result;
  }
  auto& completion = std::get<Completion>(outcome);
  // The answer is known by what the cache holds; nothing else holds a key.
  result.answer = answer_digest(completion);
  if (completion.non_answer) completion.non_answer->message = disclosed_reason(completion, keys, redactor);
  if (keys.apply(completion.text)) read = {};
  for (ToolCall& call : completion.calls) keys.apply(call.arguments);
  const bool judged = !evidence.votes.empty();
  score_answer(completion, checks, unit, judged ? disclosed(evidence, disclosure) : evidence, result,
               std::move(read.claims));
  disclose_recorded(result, disclosure);
  auto clean = redactor.redacted(completion.text);
  redact(result, clean, unit, checks, redactor);
  if (embedding && !result.error) {
    if (auto packed = packed_embedding(evidence.embedded, completion.text)) {
      result.embedding = std::move(*packed);
    } else {
      result.error = std::move(packed.error());
    }
  }
  if (evidence.grade) result.grade = finished(*evidence.grade, completion, spend, disclosure);
  if (whole_text) {
    std::string text = std::move(clean ? *clean : completion.text);
    result.observed = as_observed(std::move(completion), std::move(text), disclosure);
  }
  return result;
}

UnitResult unassessed_result(const WorkUnit& unit, const Checks& checks, Error error, Completion answer,
                             const Spend& spend, const Disclosure& disclosure) {
  UnitResult result = unit_result(unit, checks, std::move(error), {}, spend, {}, disclosure);
  // The answer is known by what the cache holds.
  result.answer = answer_digest(answer);
  result.usage = answer.usage;
  ObservedAnswer shown = observed_answer(std::move(answer), disclosure);
  result.shown_text = shown_beginning(shown.text, true);
  if (disclosure.whole_text) result.observed = std::move(shown);
  return result;
}

std::optional<WorkUnit> part_beside_error(const WorkUnit& unit, const Error& error,
                                          const Completion& answer) {
  if (!answer.non_answer || stops_run(error.reason)) return std::nullopt;
  WorkUnit part = unit;
  std::erase_if(part.tasks, [&](const ScoringTask& task) {
    return !takes(task, answer) || !needs_the_answer_alone(task);
  });
  return part.tasks.empty() ? std::nullopt : std::optional(std::move(part));
}

UnitResult refused_result(const WorkUnit& part, const Checks& checks, Error error, Completion answer,
                          const Spend& spend, const Disclosure& disclosure) {
  UnitResult result = unit_result(part, checks, std::move(answer), {}, spend, {}, disclosure);
  disclosure.redactor.apply(error.message);
  if (result.error) result.error->message += "; what else a test asks of it failed: " + error.message;
  return result;
}

}  // namespace sluice
