#pragma once

#include "coordinator/merge/aggregate.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/report/report.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sluice::sample {

/// Results that lie in memory.
class MemorySource final : public ResultSource {
 public:
  std::vector<CommittedTrial> trials;
  std::optional<Error> failure;

  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override {
    if (failure) return fail(*failure);
    for (const auto& trial : trials) {
      if (trial.trial >= first) visit(trial);
    }
    return {};
  }
};

inline ExpectedClaim expect(std::string subject, std::string predicate, ClaimValue value,
                            std::optional<std::string> rationale = std::nullopt) {
  return {std::move(subject), std::move(predicate), std::move(value), std::move(rationale)};
}

inline FinalClaim claim(std::string path, std::string predicate, ClaimValue value, double confidence,
                        std::optional<std::uint32_t> line = std::nullopt) {
  return {std::move(path), std::move(predicate), std::move(value), confidence, line, true, false};
}

/// A case in its category, which is the part of the id before the first dash.
inline Case make_case(std::string id, std::string name, double weight = 1.0) {
  Case fixture;
  fixture.category = id.substr(0, id.find('-'));
  fixture.source = fixture.category + '/' + id + ".toml";
  fixture.id = std::move(id);
  fixture.name = std::move(name);
  fixture.language = "python";
  fixture.weight = weight;
  return fixture;
}

/// An answer's result. The comparison says which expectation met which claim; metrics follow from it.
inline CommittedTrial scored(TrialId trial, UnitId unit, std::vector<FinalClaim> claims, ClaimsScore score,
                             Usage usage) {
  CommittedTrial result;
  result.trial = trial;
  result.unit.unit = unit;
  result.unit.answer.fill(static_cast<std::uint8_t>(unit + 1));
  result.unit.usage = usage;
  for (const auto& final : claims) {
    result.unit.parsed.push_back(
        {final.concept_path, final.predicate, final.value, final.confidence, final.line});
  }
  TrialScore assessed;
  assessed.trial = trial;
  const bool nothing_expected = score.matched.empty() && score.missing.empty();
  const Scores scores =
      scores_of(Counts{score.matched.size(), score.unexpected.size(), score.missing.size()});
  assessed.metrics.push_back({MetricId::claims_precision, scores.precision, std::nullopt, ""});
  assessed.metrics.push_back({MetricId::claims_recall, scores.recall, std::nullopt, ""});
  assessed.metrics.push_back({MetricId::claims_f1, scores.f1, std::nullopt, ""});
  assessed.metrics.push_back({MetricId::claims_required, std::nullopt, score.missing.empty(), ""});
  assessed.metrics.push_back({MetricId::claims_forbidden, std::nullopt, score.forbidden.empty(), ""});
  if (nothing_expected)
    assessed.metrics.push_back({MetricId::claims_absent, std::nullopt, claims.empty(), ""});
  assessed.claims = std::move(score);
  result.unit.claims = std::move(claims);
  result.unit.scores.push_back(std::move(assessed));
  return result;
}

inline CommittedTrial errored(TrialId trial, UnitId unit, Error error, Usage usage = {}) {
  CommittedTrial result;
  result.trial = trial;
  result.unit.unit = unit;
  result.unit.usage = usage;
  result.unit.error = std::move(error);
  return result;
}

/// Why the trials of a sample have no result where they have none.
inline Error lost(TrialId) {
  return {Reason::worker_lost, "The case was lost with its worker 3 times."};
}

/// A plan with a trial for each case, in their order.
inline RunResults results_of(const Suite& suite, const ResultSource& source, const Gate& gate) {
  return {suite, source, suite.cases.size(), [](TrialId trial) { return std::size_t{trial}; }, lost, gate};
}

/// The verdict on what the aggregates and the comparison say.
inline RunVerdict verdict_on(const ReportInput& input) {
  const auto notices = [&](GateNotice::Severity severity) {
    return static_cast<std::uint64_t>(
        std::ranges::count(input.gate.notices, severity, &GateNotice::severity));
  };
  VerdictInput verdict;
  verdict.statuses = input.aggregates.all.statuses;
  verdict.regressed = input.aggregates.all.regressed;
  verdict.failed_apart = input.aggregates.all.failed_apart;
  verdict.cut_short = input.facts.cut_short.has_value();
  verdict.warnings = notices(GateNotice::Severity::warning);
  verdict.failures = notices(GateNotice::Severity::failure);
  if (input.gate.aggregates) verdict.aggregates = input.gate.aggregates->outcome;
  return run_verdict(verdict);
}

/// A limit from the settings and one from the provider's headers, a pause, and no outage.
inline BudgetFacts sample_budget() {
  BudgetFacts facts;
  facts.provider = "gemini";
  facts.requests = KnownLimit{60.0, LimitSource::configured};
  facts.tokens = KnownLimit{1'000'000.0, LimitSource::announced};
  facts.effective_per_minute = 60.0;
  facts.permits_granted = 9;
  facts.permits_used = 7;
  facts.permits_unused = 2;
  facts.answered = 6;
  facts.utilisation = 0.625;
  facts.paused_time = std::chrono::milliseconds(1500);
  return facts;
}

/// The report's input over results and aggregates, which the caller keeps.
inline ReportInput input_of(const RunResults& results, const Aggregates& aggregates) {
  ReportInput input{.results = results,
                    .aggregates = aggregates,
                    .identity = {},
                    .facts = {},
                    .gate = {},
                    .paid_cost = 0.011};
  input.identity = {.prompt_version = "1.0.0",
                    .prompt_hash = {},
                    .ontology_version = "1.2.0",
                    .provider = ProviderKind::gemini,
                    .provider_name = "gemini",
                    .model = "gemini-2.0-flash"};
  input.identity.prompt_hash.fill(0xab);
  input.facts.run_id = "0191f7d2-6c1e-7a43-9d55-2f1b0c3a4e5f";
  input.facts.started_at_ms = 1770301788500;
  input.facts.completed_at_ms = 1770301800250;
  input.facts.duration_seconds = 11.5;
  input.facts.requests = 7;
  input.facts.retries = 1;
  input.facts.rate_limited = 1;
  input.facts.cache_hits = 1;
  input.facts.paid.of(CallKind::answer).input_tokens = 5000;
  input.facts.paid.of(CallKind::answer).output_tokens = 1500;
  input.facts.leases_lost = 1;
  input.facts.workers = {{"alpha", 5, false}, {"beta", 1, true}};
  input.facts.waited_permit = std::chrono::milliseconds(2500);
  input.facts.waited_retry = std::chrono::milliseconds(612);
  input.facts.budgets = {sample_budget()};
  input.gate.config_fingerprint = "sha256:" + std::string(64, 'c');
  input.mode = "live";
  input.verdict = verdict_on(input);
  return input;
}

inline std::optional<double> sample_price(const PaidByArm& paid) {
  const Usage usage = paid.total().of(CallKind::answer);
  return static_cast<double>(usage.input_tokens) * 1e-6 + static_cast<double>(usage.output_tokens) * 4e-6;
}

/// A run with one case of every kind: passed, nothing expected, missed (with another value, with too little
/// confidence, with nothing), forbidden, unexpected, a committed error, and a case without any result.
struct SampleRun {
  Suite suite;
  MemorySource source;
  Gate gate;
  RunResults results = results_of(suite, source, gate);

  SampleRun() {
    add_cases();
    add_results();
    results.trials = suite.cases.size();
  }
  SampleRun(const SampleRun&) = delete;
  SampleRun& operator=(const SampleRun&) = delete;

  Aggregates aggregates() const { return *aggregate(results, sample_price); }

  /// The report's input over `aggregates`, which the caller keeps.
  ReportInput input(const Aggregates& aggregates) const { return input_of(results, aggregates); }

 private:
  void add_cases() {
    Case bypass = make_case("auth-001", "Debug auth bypass");
    bypass.must_contain = {expect("auth/bypass", "enabled", true, "The X-Debug-Auth header skips the check")};
    Case wide = make_case("edge-006", "証明書の検証を無効にする設定 | e\u0301tat `x` <b>");
    wide.must_contain = {expect("tls/cert_verification", "enabled", false)};
    Case none = make_case("jwt-003", "JWT algorithm none detection", 2.0);
    none.must_contain = {
        expect(
            "jwt/algorithm", "required", std::string("none"),
            "alg:\"none\" bypasses signature verification entirely, so that anybody may write a token that "
            "the service accepts as its own"),
        expect("jwt/signature", "verified", false)};
    Case safe = make_case("negative-001", "Safe TLS config");
    Case limited = make_case("secrets-001", "Hardcoded API key");
    limited.must_contain = {expect("secrets/api_key", "hardcoded", true)};
    Case unverified = make_case("tls-001", "TLS verification disabled in Python requests", 0.5);
    unverified.min_confidence = 0.8;
    unverified.must_contain = {expect("tls/cert_verification", "enabled", false, "verify=False"),
                               expect("tls/min_version", "value", 1.2)};
    unverified.must_not_contain = {expect("tls/cert_verification", "enabled", true, "It is off")};
    Case lost = make_case("tls-002", "Deprecated TLS version");
    suite.name = "tests/llm_fixtures";
    suite.cases = {bypass, wide, none, safe, limited, unverified, lost};
  }

  void add_results() {
    source.trials.push_back(
        scored(0, 0, {claim("auth/bypass", "enabled", true, 0.95, 3)}, {{{0, 0}}, {}, {}, {}}, {900, 120}));
    source.trials.push_back(scored(1, 1, {}, {{}, {0}, {}, {}}, {700, 20}));
    source.trials.push_back(scored(2, 2,
                                   {claim("jwt/algorithm", "required", std::string("HS256"), 0.7, 12),
                                    claim("jwt/signature", "verified", false, 0.9)},
                                   {{{1, 1}}, {0}, {0}, {}}, {1200, 300}));
    source.trials.push_back(scored(3, 3, {}, {}, {800, 10}));
    source.trials.push_back(errored(
        4, 4, {Reason::rate_limited, "gemini answered 429 to 6 calls; the last said \"quota exceeded\"."}));
    source.trials.push_back(scored(5, 5,
                                   {claim("tls/cert_verification", "enabled", true, 0.85, 4),
                                    claim("code/tls/cert_verification", "enabled", false, 0.4, 5),
                                    claim("net/timeout", "seconds", 30.0, 0.9)},
                                   {{}, {0, 1}, {0, 2}, {{0, 0}}}, {1100, 400}));
  }
};

}  // namespace sluice::sample
