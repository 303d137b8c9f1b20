#include "coordinator/report/json_writer.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/wording.hpp"

#include <string_view>

namespace sluice {
namespace {

void write_scores(Json& json, const Scores& scores) {
  json.member("precision", scores.precision);
  json.member("recall", scores.recall);
  json.member("f1", scores.f1);
}

void write_claim(Json& json, const FinalClaim& claim) {
  json.member("concept_path", claim.concept_path);
  json.member("predicate", claim.predicate);
  json.member("value", claim.value);
  json.member("confidence", claim.confidence);
  json.member("line", claim.line);
  json.member("matched_ontology", claim.matched_ontology);
  json.member("fuzzy_matched", claim.fuzzy_matched);
}

void write_claim_object(Json& json, const FinalClaim& claim) {
  json.open('{');
  write_claim(json, claim);
  json.close('}');
}

void write_expectation(Json& json, const ExpectedClaim& expected) {
  json.member("subject", expected.subject);
  json.member("predicate", expected.predicate);
  json.member("value", expected.value);
  json.member("rationale", expected.rationale);
}

void write_metrics(Json& json, const CaseResult& result) {
  json.key("metrics").open('[');
  for (const MetricOutcome& outcome : result.metrics()) {
    const MetricInfo& metric = info(outcome.id);
    json.open('{');
    json.member("name", metric.name);
    json.member("version", metric.version);
    json.member("score", outcome.score);
    json.member("passed", outcome.passed);
    json.close('}');
  }
  json.close(']');
}

void write_details(Json& json, const CaseResult& result, CaseDetails& details) {
  explain(result, details);
  json.key("missing").open('[');
  for (const MissedClaim& missed : details.missing) {
    json.open('{');
    write_expectation(json, *missed.expected);
    json.key("got");
    if (missed.got == nullptr) {
      json.null();
    } else {
      json.open('{');
      write_claim(json, *missed.got);
      json.member("below_min_confidence", missed.below_min_confidence);
      json.close('}');
    }
    json.close('}');
  }
  json.close(']');
  json.key("unexpected").open('[');
  for (const FinalClaim* claim : details.unexpected) write_claim_object(json, *claim);
  json.close(']');
  json.key("forbidden").open('[');
  for (const ForbiddenClaim& forbidden : details.forbidden) {
    json.open('{');
    write_expectation(json, *forbidden.forbidden);
    json.key("got");
    write_claim_object(json, *forbidden.got);
    json.close('}');
  }
  json.close(']');
}

void write_answer(Json& json, const UnitResult* unit) {
  json.key("claims").open('[');
  if (unit != nullptr) {
    for (const FinalClaim& claim : unit->claims) write_claim_object(json, claim);
  }
  json.close(']');
  json.key("parsed").open('[');
  if (unit != nullptr) {
    for (const ParsedClaim& claim : unit->parsed) {
      json.open('{');
      json.member("subject", claim.subject);
      json.member("predicate", claim.predicate);
      json.member("value", claim.value);
      json.member("confidence", claim.confidence);
      json.member("line", claim.line);
      json.close('}');
    }
  }
  json.close(']');
  json.key("answer");
  unit == nullptr || is_zero(unit->answer) ? json.null() : json.value(to_prefixed_hex(unit->answer));
  json.member("input_tokens", unit == nullptr ? std::uint64_t{0} : unit->usage.input_tokens);
  json.member("output_tokens", unit == nullptr ? std::uint64_t{0} : unit->usage.output_tokens);
}

// One line a fixture, so that two reports compare line by line.
void write_fixture(Json& json, const CaseResult& result, CaseDetails& details) {
  const Case& fixture = result.fixture;
  json.line(2);
  json.open('{');
  json.member("id", fixture.id);
  json.member("name", fixture.name);
  json.member("category", fixture.category);
  json.member("language", fixture.language);
  json.member("source", fixture.source);
  json.member("status", to_string(result.status));
  json.key("reason_code");
  result.error == nullptr ? json.null() : json.value(to_string(result.error->reason));
  write_metrics(json, result);
  write_scores(json, result.counts ? scores_of(*result.counts) : Scores{});
  const auto count = [&](std::uint64_t Counts::*part) {
    return result.counts ? std::optional((*result.counts).*part) : std::nullopt;
  };
  json.member("true_positives", count(&Counts::true_positives));
  json.member("false_positives", count(&Counts::false_positives));
  json.member("false_negatives", count(&Counts::false_negatives));
  json.member("weight", fixture.weight);
  write_details(json, result, details);
  write_answer(json, result.unit);
  json.close('}');
}

void write_totals(Json& json, const Totals& totals, std::size_t depth) {
  json.line(depth);
  write_scores(json, scores_of(totals.counts));
  json.line(depth);
  json.member("total_fixtures", totals.statuses.total());
  json.member("passed", totals.statuses.passed);
  json.member("warned", totals.statuses.warned);
  json.member("flaky", totals.statuses.flaky);
  json.member("failed", totals.statuses.failed);
  json.member("errors", totals.statuses.errors);
  json.member("excluded", totals.statuses.errors);
  json.line(depth);
  json.member("true_positives", totals.counts.true_positives);
  json.member("false_positives", totals.counts.false_positives);
  json.member("false_negatives", totals.counts.false_negatives);
  json.line(depth);
  json.key("weighted").open('{');
  write_scores(json, scores_of(totals.weighted));
  json.close('}');
}

void write_aggregates(Json& json, const Aggregates& aggregates) {
  json.line(1);
  json.key("metrics").open('{');
  write_totals(json, aggregates.all, 2);
  json.line(2);
  json.member("total_tokens", aggregates.usage.input_tokens + aggregates.usage.output_tokens);
  json.member("input_tokens", aggregates.usage.input_tokens);
  json.member("output_tokens", aggregates.usage.output_tokens);
  json.line(2);
  json.member("estimated_cost", aggregates.estimated_cost);
  json.line(2);
  json.key("by_category").open('{');
  for (const auto& [category, totals] : aggregates.by_category) {
    json.line(3);
    json.key_of(category).open('{');
    write_totals(json, totals, 4);
    json.text() += "\n      ";
    json.close('}');
  }
  json.text() += aggregates.by_category.empty() ? "" : "\n    ";
  json.close('}');
  json.text() += "\n  ";
  json.close('}');
}

template <class T>
void write_line(Json& json, std::string_view name, const T& content) {
  json.line(1);
  json.member(name, content);
}

void write_head(Json& json, const ReportInput& input) {
  const RunIdentity& identity = input.identity;
  json.open('{');
  write_line(json, "schema_version", report_schema_version);
  write_line(json, "run_id", input.facts.run_id);
  write_line(json, "timestamp", wording::rfc3339(input.facts.completed_at_ms));
  write_line(json, "started_at", wording::rfc3339(input.facts.started_at_ms));
  write_line(json, "completed_at", wording::rfc3339(input.facts.completed_at_ms));
  write_line(json, "suite", input.results.suite.name);
  write_line(json, "prompt_version", identity.prompt_version);
  write_line(json, "prompt_hash", to_prefixed_hex(identity.prompt_hash));
  write_line(json, "ontology_version", identity.ontology_version);
  write_line(json, "provider", to_string(identity.provider));
  write_line(json, "model", identity.model);
  write_line(json, "verdict", to_string(input.verdict));
  json.line(1);
  json.key("reason_code");
  input.facts.cut_short ? json.value(to_string(input.facts.cut_short->reason)) : json.null();
}

void write_run_facts(Json& json, const ReportInput& input) {
  const RunFacts& facts = input.facts;
  const auto member = [&](std::string_view name, const auto& content) {
    json.line(2);
    json.member(name, content);
  };
  member("sluice_version", SLUICE_VERSION);
  member("mode", to_string(input.mode));
  member("duration_seconds", facts.duration_seconds);
  member("requests", facts.requests);
  member("retries", facts.retries);
  member("rate_limited", facts.rate_limited);
  member("cache_hits", facts.cache_hits);
  member("paid_input_tokens", facts.paid_input_tokens);
  member("paid_output_tokens", facts.paid_output_tokens);
  member("paid_cost", input.paid_cost);
  member("duplicates_dropped", facts.duplicates_dropped);
  member("leases_lost", facts.leases_lost);
  member("frames_rejected", facts.frames_rejected);
  json.line(2);
  json.key("cut_short");
  facts.cut_short ? json.value(facts.cut_short->message) : json.null();
  json.line(2);
  json.key("workers").open('[');
  for (const WorkerFacts& worker : facts.workers) {
    json.line(3);
    json.open('{');
    json.member("name", worker.name);
    json.member("units", worker.units);
    json.member("lost", worker.lost);
    json.close('}');
  }
  json.text() += facts.workers.empty() ? "" : "\n    ";
  json.close(']');
}

// The errors' own words differ from run to run (addresses, request ids, times), so they stand in `run`, last.
Result<void> write_errors(Json& json, const ReportInput& input, BufferedWriter& writer) {
  json.line(2);
  json.key("errors").open('{');
  if (input.aggregates.all.statuses.errors > 0) {
    const auto visited = visit_cases(input.results, [&](const CaseResult& result) {
      if (result.error == nullptr) return;
      json.line(3);
      json.key_of(result.fixture.id).value(result.error->message);
      writer.passed();
    });
    if (!visited) return visited;
    json.text() += "\n    ";
  }
  json.close('}');
  return {};
}

}  // namespace

Result<void> write_json_report(const ReportInput& input, Sink& sink) {
  BufferedWriter writer(sink);
  Json json(writer.text());
  write_head(json, input);
  write_aggregates(json, input.aggregates);
  json.line(1);
  json.key("fixture_results").open('[');
  CaseDetails details;
  const auto visited = visit_cases(input.results, [&](const CaseResult& result) {
    write_fixture(json, result, details);
    writer.passed();
  });
  if (!visited) return visited;
  json.text() += input.results.trials > 0 ? "\n  " : "";
  json.close(']');
  json.line(1);
  json.key("run").open('{');
  write_run_facts(json, input);
  if (auto errors = write_errors(json, input, writer); !errors) return errors;
  json.text() += "\n  ";
  json.close('}');
  json.text() += "\n}\n";
  return {};
}

}  // namespace sluice
