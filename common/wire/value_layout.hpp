#pragma once

#include "common/defaults.hpp"
#include "common/model/metrics.hpp"
#include "common/model/result.hpp"
#include "common/model/run_settings.hpp"
#include "common/model/trial.hpp"
#include "common/wire/archive.hpp"
#include "common/wire/versions.hpp"

#include <cstddef>
#include <optional>
#include <utility>

/// The layout of the values that messages hold: results, units, settings. The ledger and the caches keep some
/// of them in it too. What layout.hpp says of a change holds here.
namespace sluice::wire {

template <>
bool is_known(Reason value);
template <>
bool is_known(MetricId value);
template <>
bool is_known(Mode value);
template <>
bool is_known(ProviderKind value);
template <>
bool is_known(MessageRole value);
template <>
bool is_known(PartKind value);
template <>
bool is_known(Judge value);
template <>
bool is_known(JudgeSource value);
template <>
bool is_known(GradeJudge value);

template <class Archive, Of<Error> M>
bool layout(Archive& archive, M& m) {
  if constexpr (!Archive::reading) {
    // Who does not know a reason refuses the whole message: this one ends the worker's part as well.
    const bool is_later =
        m.reason == Reason::provider_changed && archive.version < first_with_changed_programs;
    return archive.record(is_later ? Reason::provider_unreachable : m.reason, Sentence{m.message});
  } else {
    return archive.record(m.reason, Sentence{m.message});
  }
}

template <class Archive, Of<Usage> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.input_tokens, m.output_tokens);
}

template <class Archive, Of<PaidTokens> M>
bool layout(Archive& archive, M& m) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return archive.record(paid_columns[I].in(m)...);
  }
  (std::make_index_sequence<paid_columns.size()>());
}

template <class Archive, Of<ParsedClaim> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.subject, m.predicate, m.value, Ratio{m.confidence}, m.line);
}

template <class Archive, Of<FinalClaim> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.concept_path, m.predicate, m.value, Ratio{m.confidence}, m.line, m.matched_ontology,
                        m.fuzzy_matched);
}

/// The rationale stays on the coordinator, which alone shows it.
template <class Archive, Of<ExpectedClaim> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.subject, m.predicate, m.value);
}

/// Label alone has a fifth field, so all other results stay what they were: whoever does not know the field
/// does not know the metric either.
template <class Archive, Of<MetricOutcome> M>
bool layout(Archive& archive, M& m) {
  const auto record = [&](auto&&... later) {
    return archive.record(m.id, Ratio{m.score}, m.passed, Excerpt{m.detail, defaults::max_detail_bytes},
                          later...);
  };
  if constexpr (Archive::reading) {
    constexpr std::size_t fields_with_label = 5;
    const bool has_label = archive.field_count() == fields_with_label;
    if (!(has_label ? record(Name{m.label}) : record())) return false;
    return has_label == (m.id == MetricId::label) || archive.refuse("a label was expected of label alone");
  } else {
    return m.id == MetricId::label ? record(Name{m.label}) : record();
  }
}

template <class Archive, Of<ClaimMatch> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.expectation, m.claim);
}

template <class Archive, Of<ClaimsScore> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.matched, m.missing, m.unexpected, m.forbidden);
}

template <class Archive, Of<CountedVote> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Ratio{m.score}, m.passed);
}

/// As many votes as a judge metric may have, and at least one.
template <class Archive>
bool votes_fit(Archive& archive, MetricId metric, std::size_t votes) {
  if constexpr (Archive::reading) {
    if (!is_judge_metric(metric)) return archive.refuse("a judge metric was expected");
    if (votes == 0 || votes > defaults::max_judge_samples) return archive.refuse("no such number of votes");
  }
  return true;
}

template <class Archive, Of<JudgeScore> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.metric, m.source, m.votes, Excerpt{m.rationale, defaults::max_rationale_bytes}) &&
         votes_fit(archive, m.metric, m.votes.size());
}

template <class Archive, Of<TrialScore> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.trial, m.metrics, m.claims, m.judged);
}

template <class Archive, Of<Spend> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.calls, m.retries, m.rate_limited, m.cache_hit, m.paid, m.latency_ms,
                        m.waited_permit_ms, m.waited_pause_ms, m.waited_retry_ms, m.unmetered);
}

template <class Archive, Of<OrderedScores> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Ratio{m.baseline_first}, Ratio{m.candidate_first});
}

template <class Archive, Of<Grade> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Ratio{m.quality_score}, Excerpt{m.notes, defaults::max_rationale_bytes},
                        Name{m.grader_id}, m.orders);
}

template <class Archive, Of<GradedAnswer> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Excerpt{m.text, defaults::max_graded_bytes},
                        Excerpt{m.served_model, defaults::max_detail_bytes}, m.usage, m.cache_hit,
                        m.latency_ms);
}

template <class Archive, Of<GradingResult> M>
bool layout(Archive& archive, M& m) {
  if (!archive.record(m.grade, m.baseline, m.candidate)) return false;
  if constexpr (Archive::reading) {
    if (!check_grade(m.grade)) return archive.refuse("a sound grade was expected");
  }
  return true;
}

template <class Archive, Of<ObservedAnswer> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Prose{m.text}, Excerpt{m.finish_reason, max_name_bytes},
                        Excerpt{m.served_model, max_name_bytes}, m.created_at_ms);
}

/// True if every position in the scores lies within what it points into.
bool positions_fit(const UnitResult& result);

/// A baseline's answer that was stored is one field more, so all other results stay what they were.
template <class Archive, Of<UnitResult> M>
bool layout(Archive& archive, M& m) {
  const auto record = [&](auto&... later) {
    return archive.record(m.unit, m.key, m.answer, m.usage, m.error, m.parsed, m.claims,
                          Excerpt{m.shown_text, defaults::max_shown_bytes}, m.scores, m.spend, m.grade,
                          m.claims_identity, m.observed, Bytes{m.embedding, defaults::max_embedding_bytes},
                          m.lease, later...);
  };
  if constexpr (!Archive::reading) {
    const bool has_stored = archive.version >= first_with_stored_baselines && !is_zero(m.stored_baseline);
    return has_stored ? record(m.stored_baseline) : record();
  } else {
    constexpr std::size_t fields_with_stored = 16;
    if (!(archive.field_count() == fields_with_stored ? record(m.stored_baseline) : record())) return false;
    if (!positions_fit(m)) return archive.refuse("a score points beyond the claims or expectations");
    return true;
  }
}

template <class Archive, Of<TextExpectation> M>
bool layout(Archive& archive, M& m) {
  if (!archive.record(m.metric, m.texts, m.numbers, m.weight, m.parts)) return false;
  if constexpr (Archive::reading) {
    if (is_claims_metric(m.metric) || is_judge_metric(m.metric))
      return archive.refuse("a metric of the answer was expected");
    if (!is_complete(m)) return archive.refuse("a metric without what it assesses by");
  }
  return true;
}

template <class Archive, Of<JudgeExpectation> M>
bool layout(Archive& archive, M& m) {
  const auto record = [&](auto&... later) {
    return archive.record(m.metric, m.rubric, m.samples, Ratio{m.min_score}, m.reference, m.criteria,
                          m.recorded, later...);
  };
  return (archive.version < first_with_judged_context ? record() : record(m.context)) &&
         votes_fit(archive, m.metric, m.samples);
}

template <class Archive, Of<JudgedQuestion> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.prompt, m.context);
}

template <class Archive, Of<ScoringTask> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.trial, m.must_contain, m.must_not_contain, Ratio{m.min_confidence},
                        m.assesses_claims, m.texts, m.judged, m.question);
}

template <class Archive, Of<RequestParam> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.name}, m.json);
}

template <class Archive, Of<MessagePart> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.kind, m.text, Name{m.media_type});
}

template <class Archive, Of<ToolCall> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.id, m.name, m.arguments);
}

template <class Archive, Of<ChatMessage> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.role, m.parts, m.calls, m.call_id, m.call_name);
}

template <class Archive, Of<Tool> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.name}, m.description, m.parameters);
}

template <class Archive, Of<RequestExtras> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.params, m.messages, m.tools, Name{m.tool_choice}, m.format.is_json,
                        Name{m.format.name}, m.format.is_strict);
}

template <class Archive, Of<ModelRequest> M>
bool layout(Archive& archive, M& m) {
  // Most requests have no extras: they are nil then.
  std::optional<RequestExtras> extras;
  if constexpr (!Archive::reading) {
    if (!m.extras.empty()) extras = m.extras;
  }
  if (!archive.record(Name{m.provider}, Name{m.model}, m.system, m.user, m.response_schema, m.temperature,
                      m.max_tokens, m.seed, Name{m.schema_name}, extras)) {
    return false;
  }
  if constexpr (Archive::reading) m.extras = std::move(extras).value_or(RequestExtras{});
  return true;
}

template <class Archive, Of<RecordedAnswer> M>
bool layout(Archive& archive, M& m) {
  const auto record = [&](auto&... later) {
    return archive.record(m.text, Excerpt{m.model, max_name_bytes}, m.usage, later...);
  };
  return archive.version < first_with_recorded_calls ? record() : record(m.calls);
}

template <class Archive, Of<WorkUnit> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.unit, m.key, m.pinned_answer, m.repeat, m.request, m.tasks, m.held_elsewhere,
                        m.recorded, m.lease);
}

/// A value with a line end in it would be a header of its own.
template <class Archive, Of<ProviderHeader> M>
bool layout(Archive& archive, M& m) {
  if (!archive.record(Name{m.name}, m.value, Name{m.variable})) return false;
  if constexpr (Archive::reading) {
    if (!is_header_name(m.name) || !is_header_value(m.value)) return archive.refuse("a header was expected");
  }
  return true;
}

template <class Archive, Of<QueryField> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.name}, m.value);
}

template <class Archive, Of<ProviderSettings> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.name}, m.kind, m.base_url, m.cache_identity, Name{m.api_key_env},
                        Name{m.max_tokens_field}, m.headers, m.query);
}

template <class Archive, Of<EmbeddingSettings> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.provider}, Name{m.model});
}

template <class Archive, Of<Rubric> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.id}, Name{m.version}, m.system, m.user);
}

template <class Archive, Of<JudgeSettings> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.judge, Name{m.provider}, Name{m.model}, m.temperature, m.max_tokens, m.refresh,
                        m.rubrics, m.seed);
}

template <class Archive, Of<GradingSettings> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.judge, Name{m.provider}, Name{m.model}, m.llm);
}

template <class Archive, Of<RedactionPattern> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.name}, Name{m.pattern});
}

template <class Archive, Of<RunSettings> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, m.mode, m.read_cache, m.write_cache, m.providers, m.connect_timeout,
                        m.request_timeout, m.case_timeout, m.backoff_initial, m.max_retries,
                        m.heartbeat_interval, m.ontology, m.embedding, m.judge, m.grading, m.observe,
                        m.redaction, m.returns_embeddings, m.durable);
}

}  // namespace sluice::wire
