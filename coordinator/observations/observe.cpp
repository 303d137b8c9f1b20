#include "coordinator/observations/observe.hpp"

#include "common/checks/redact_claims.hpp"
#include "common/documents/json_depth.hpp"
#include "common/model/request_text.hpp"
#include "coordinator/display/expectation_wording.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/output/claim_json.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/output/vote_json.hpp"
#include "coordinator/suite/redacted_case.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// Of most; a text that is longer grows.
constexpr std::size_t claim_bytes = 128;
constexpr std::size_t metric_bytes = 96;

std::string parsed_as_json(const std::vector<ParsedClaim>& claims) {
  std::string text;
  text.reserve(claims.size() * claim_bytes);
  Json json(text);
  json.open('[');
  for (const ParsedClaim& claim : claims) write_parsed_claim(json, claim);
  json.close(']');
  return text;
}

std::string final_as_json(const std::vector<FinalClaim>& claims) {
  std::string text;
  text.reserve(claims.size() * claim_bytes);
  Json json(text);
  json.open('[');
  for (const FinalClaim& claim : claims) {
    json.open('{');
    write_final_claim(json, claim);
    json.close('}');
  }
  json.close(']');
  return text;
}

void write_judged(Json& json, const JudgeScore& judged) {
  json.key("judge").open('{');
  json.member("source", to_string(judged.source));
  json.member("agreement", judged.agreement());
  write_each_vote(json, judged);
  json.member("rationale", judged.rationale);
  json.close('}');
}

/// `missing: tls/cert/enabled = false; ...`. A result that was made of another suite may have positions that
/// this one lacks.
std::string listed(std::string text, const std::vector<ExpectedClaim>& claims,
                   const std::vector<std::uint32_t>& positions) {
  std::string_view separator;
  for (const std::uint32_t position : positions) {
    if (position >= claims.size()) continue;
    const ExpectedClaim& one = claims[position];
    text += std::string(separator) + to_text(one.subject, one.predicate, one.value);
    separator = "; ";
  }
  return separator.empty() ? std::string() : text;
}

/// Why the outcome is what it is. Results name claims by their places alone.
std::string detail_of(const MetricOutcome& outcome, const ClaimsScore& claims, const Case& of,
                      const Redactor& redactor) {
  if (!outcome.detail.empty() || outcome.passed != false) return outcome.detail;
  std::string detail;
  if (outcome.id == MetricId::claims_required) detail = listed("missing: ", of.must_contain, claims.missing);
  if (outcome.id == MetricId::claims_forbidden) {
    std::vector<std::uint32_t> found;
    std::ranges::transform(claims.forbidden, std::back_inserter(found), &ClaimMatch::expectation);
    detail = listed("found: ", of.must_not_contain, found);
  }
  redactor.apply(detail);
  return detail;
}

std::string words_of(const Expectation& one, std::span<const Rubric> rubrics) {
  std::string score = score_text(one.what.metric, one.name);
  if (!one.judge) return wording::expected_in_words(one.what, std::move(score));
  const Rubric& rubric = rubrics[one.judge->rubric];
  score = score_with_rubric(std::move(score), one.what.metric, rubric.id, rubric.version);
  return wording::asked_in_words(std::move(score),
                                 {{}, {}, one.judge->context, one.judge->reference, one.judge->criteria});
}

/// By what an outcome was assessed; empty for claims.
std::string expected_by(const Expectation* expectation, std::span<const Rubric> rubrics,
                        const Redactor& redactor) {
  if (expectation == nullptr || is_claims_metric(expectation->what.metric)) return "";
  if (redactor.empty()) return words_of(*expectation, rubrics);
  std::string words = words_of(redacted(*expectation, redactor), rubrics);
  redactor.apply(words);
  return words;
}

/// `rubrics`: Suite::rubrics; null: it is not known what the case expected then.
std::string metrics_as_json(const TrialScore& score, const Case& of, const Redactor& redactor,
                            const std::vector<Rubric>* rubrics) {
  std::string text;
  text.reserve(score.metrics.size() * metric_bytes);
  Json json(text);
  json.open('[');
  const std::size_t first_judged = score.metrics.size() - score.judged.size();
  for (std::size_t i = 0; i < score.metrics.size(); ++i) {
    const MetricOutcome& outcome = score.metrics[i];
    json.open('{');
    const auto before = std::ranges::count(std::span(score.metrics).first(i), outcome.id, &MetricOutcome::id);
    const Expectation* expectation = find_expectation(of, outcome.id, static_cast<std::size_t>(before));
    json.member("name", score_text(outcome.id, expectation != nullptr ? expectation->name : std::string()));
    json.member("version", info(outcome.id).version);
    const std::string expected = rubrics != nullptr ? expected_by(expectation, *rubrics, redactor) : "";
    if (!expected.empty()) json.member("expected", expected);
    json.member("score", outcome.score);
    json.member("passed", outcome.passed);
    json.member("detail", detail_of(outcome, score.claims, of, redactor));
    if (i >= first_judged) write_judged(json, score.judged[i - first_judged]);
    json.close('}');
  }
  json.close(']');
  return text;
}

/// The answer but for its time.
void add_answer(const UnitResult& result, Observation& to) {
  to.input_tokens = result.usage.input_tokens;
  to.output_tokens = result.usage.output_tokens;
  to.cache_hit = result.spend.cache_hit;
  to.latency_ms = result.spend.latency_ms;
  to.key = to_hex(result.key);
  if (!result.parsed.empty()) to.parsed_claims.text = parsed_as_json(result.parsed);
  if (!result.claims.empty()) to.final_claims.text = final_as_json(result.claims);
  if (const auto& observed = result.observed) {
    to.raw_response = observed->text;
    to.finish_reason = observed->finish_reason;
    to.served_model = observed->served_model;
  }
}

/// Of a trial without a score: one that takes a refusal has one.
void add_error(const UnitResult& result, const TrialScore* score, Observation& to) {
  const Error* error = result.error && score == nullptr ? &*result.error : nullptr;
  const bool is_unparsable = error != nullptr && error->reason == Reason::unparsable_answer;
  to.parse_success = error == nullptr;
  to.reason_code = error != nullptr ? std::optional(std::string(to_string(error->reason))) : std::nullopt;
  to.error = error != nullptr ? std::optional(error->message) : std::nullopt;
  to.parse_error = is_unparsable ? to.error : std::nullopt;
}

void add_spend(const Spend& spend, const RunPrice& price, std::size_t arm, Observation& to) {
  to.calls = spend.calls;
  to.retries = spend.retries;
  to.rate_limited = spend.rate_limited;
  to.waited_ms = std::uint64_t{spend.waited_permit_ms} + spend.waited_pause_ms + spend.waited_retry_ms;
  to.paid_tokens = spend.paid.total();
  if (price && spend.unmetered == 0) to.cost = price(PaidByArm(spend.paid, arm));
}

/// The unit's other trials have cost nothing more.
void clear_spend(Observation& of) {
  of.calls = of.retries = of.rate_limited = of.waited_ms = of.paid_tokens = 0;
  if (of.cost) of.cost = 0.0;
}

/// Texts alone: what is between them stays JSON whatever a pattern matches. True if any has changed.
bool redact_texts(nlohmann::ordered_json& value, const Redactor& redactor) {
  if (value.is_string()) return redactor.apply(value.get_ref<std::string&>());
  bool changed = false;
  if (!value.is_structured()) return changed;
  for (auto& element : value) changed |= redact_texts(element, redactor);
  return changed;
}

/// Of claims whose value is one. True if any has changed.
bool redact_numbers(nlohmann::ordered_json& claims, const Redactor& redactor) {
  bool changed = false;
  for (auto& claim : claims) {
    const auto number = claim.is_object() ? claim.find("value") : claim.end();
    if (number == claim.end() || !number->is_number()) continue;
    ClaimValue value = number->get<double>();
    if (!redact_value(value, redactor)) continue;
    *number = std::get<std::string>(std::move(value));
    changed = true;
  }
  return changed;
}

void redact(JsonText& json, const Redactor& redactor) {
  // Not the text as a whole: what an escape stands for may fit a pattern, and the escape not.
  auto value = parse_tree<nlohmann::ordered_json>(json.text);
  if (value.is_discarded()) redactor.apply(json.text);
  const bool has_texts = redact_texts(value, redactor);
  const bool has_numbers = value.is_array() && redact_numbers(value, redactor);
  if (!has_texts && !has_numbers) return;
  json.text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void redact(Observation& one, const Redactor& redactor) {
  if (redactor.empty()) return;
  for (std::string* text : {&one.raw_response, &one.prompt}) redactor.apply(*text);
  for (JsonText* json : {&one.parsed_claims, &one.final_claims, &one.metrics}) redact(*json, redactor);
  for (auto* text : {&one.parse_error, &one.error}) {
    if (*text) redactor.apply(**text);
  }
  if (!one.system_prompt) return;
  if (auto shown = redactor.redacted(*one.system_prompt)) one.system_prompt = share(std::move(*shown));
}

std::string_view status_before_gate(const TrialScore* score) {
  if (score == nullptr || std::ranges::any_of(score->metrics, &MetricOutcome::is_undecided))
    return to_string(CaseStatus::error);
  const bool failed =
      std::ranges::any_of(score->metrics, [](const MetricOutcome& one) { return one.passed == false; });
  return to_string(failed ? CaseStatus::fail : CaseStatus::pass);
}

ObservationMaker::ObservationMaker(std::shared_ptr<const Plan> plan, ObservedRun run)
    : plan_(std::move(plan)), run_(std::move(run)), ids_(run_.run_id) {}

Result<void> ObservationMaker::make(const UnitResult& result, std::int64_t now_ms, const Take& take) {
  Observation one;
  one.timestamp = time_text(now_ms, last_now_);
  one.run_id = run_.run_id;
  if (auto added = add_prompt(result.unit, one); !added) return added;
  add_answer(result, one);
  if (result.observed) one.answered_at = time_text(result.observed->created_at_ms, last_answered_);
  add_spend(result.spend, run_.price, plan_->arm_of(result.unit), one);
  const auto trials = plan_->trials_of(result.unit);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const TrialScore* score = result.score_of(trials[i]);
    add_error(result, score, one);
    if (auto added = add_trial(trials[i], score, true, one); !added) return added;
    if (i + 1 == trials.size()) {
      take(std::move(one));
      break;
    }
    take(one);
    if (i == 0) clear_spend(one);
  }
  return {};
}

Result<Observation> ObservationMaker::make_without_prompt(const CommittedTrial& one, bool pays,
                                                          std::int64_t now_ms) {
  const UnitId unit = plan_->unit_of(one.trial);
  const auto request = plan_->request(unit);
  if (!request) return fail(request.error());
  Observation made;
  made.timestamp = time_text(now_ms, last_now_);
  made.run_id = run_.run_id;
  made.model = request->model;
  made.provider = request->provider;
  add_answer(one.unit, made);
  if (one.unit.observed) made.answered_at = time_text(one.unit.observed->created_at_ms, last_answered_);
  add_spend(one.unit.spend, run_.price, plan_->arm_of(unit), made);
  if (!pays) clear_spend(made);
  const TrialScore* score = one.unit.scores.empty() ? nullptr : &one.unit.scores.front();
  add_error(one.unit, score, made);
  if (auto added = add_trial(one.trial, score, false, made); !added) return fail(std::move(added.error()));
  return made;
}

/// The plan renders what was sent, and needs no more memory for it than for one request.
Result<void> ObservationMaker::add_prompt(UnitId unit, Observation& to) {
  auto request = plan_->request(unit);
  if (!request) return fail(std::move(request.error()));
  to.model = request->model;
  to.provider = request->provider;
  to.prompt = request_text(*request);
  to.input_hash = to_prefixed_hex(sha256(to.prompt));
  to.content_length = to.prompt.size();
  run_.redactor.apply(to.prompt);
  if (!request->system) return {};
  if (request->system != system_) {
    system_ = request->system;
    sent_system_hash_ = to_prefixed_hex(sha256(*system_));
    auto clean = run_.redactor.redacted(*system_);
    shown_system_ = clean ? share(std::move(*clean)) : system_;
    // A run that redacts and one that does not have sent the same, and show something else.
    system_hash_ = clean ? to_prefixed_hex(sha256(*shown_system_)) : sent_system_hash_;
  }
  to.system_hash = system_hash_;
  to.system_prompt = shown_system_;
  to.prompt_hash = sent_system_hash_;
  return {};
}

Result<void> ObservationMaker::add_trial(TrialId trial, const TrialScore* score, bool says_expected,
                                         Observation& to) const {
  const auto test_case = plan_->case_of_trial(trial);
  if (!test_case) return fail(test_case.error());
  const Case& of = **test_case;
  const TrialPlace place = plan_->trials().place(trial);
  to.id = ids_.of(trial);
  to.trial = trial;
  to.case_id = of.id;
  to.category = of.category;
  to.language = of.language;
  to.file_path = of.content_file.empty() ? of.source : of.content_file;
  to.arm = of.arm < run_.arms.size() ? run_.arms[of.arm] : std::string();
  to.perturbation = place.perturbation > 0 ? plan_->perturbations()[place.perturbation - 1].name : "";
  to.repeat = place.repeat;
  const bool is_claims = of.kind == CaseKind::claims;
  to.prompt_version = is_claims ? run_.prompt_version : std::string();
  if (is_claims) to.prompt_hash = run_.prompt_hash;
  to.status = status_before_gate(score);
  const auto* rubrics = says_expected ? &plan_->suite_rubrics() : nullptr;
  to.metrics.text = score != nullptr ? metrics_as_json(*score, of, run_.redactor, rubrics) : "[]";
  return {};
}

const std::string& ObservationMaker::time_text(std::int64_t ms, TimeText& last) {
  if (last.ms != ms) last = {ms, wording::rfc3339(ms)};
  return last.text;
}

}  // namespace sluice
