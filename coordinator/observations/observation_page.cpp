#include "coordinator/observations/observation_page.hpp"

#include "common/documents/json_depth.hpp"
#include "common/model/recorded_answer.hpp"
#include "common/text/build_commands.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/billionths.hpp"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using JsonValue = nlohmann::json;

/// Each line of a foreign text by itself, indented.
void add_text(std::string& page, std::string_view heading, std::string_view text, std::string_view if_empty) {
  page += "\n" + std::string(heading) + "\n";
  if (text.empty()) {
    page += "  " + std::string(if_empty) + "\n";
    return;
  }
  while (!text.empty()) {
    const auto end = text.find('\n');
    page += "  " + printable(text.substr(0, end)) + "\n";
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

std::string text_of(const JsonValue& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) return "";
  return printable(found->is_string() ? found->get<std::string>() : found->dump());
}

/// As scores are compared: the mean of some votes is 0.6000000000000001.
std::string rounded_score(const JsonValue& metric) {
  const auto score = metric.find("score");
  if (score == metric.end() || !score->is_number_float()) return text_of(metric, "score");
  return JsonValue(from_billionths(billionths(score->get<double>()))).dump();
}

/// `subject/predicate = value (confidence 0.9, line 7)`.
std::string claim_line(const JsonValue& claim, const char* subject) {
  const auto value = claim.find("value");
  std::string line = text_of(claim, subject) + "/" + text_of(claim, "predicate") + " = " +
                     (value == claim.end() ? "" : printable(value->dump())) + " (confidence " +
                     text_of(claim, "confidence");
  if (const std::string at = text_of(claim, "line"); !at.empty()) line += ", line " + at;
  const auto says = [&](const char* member, bool yes) {
    const auto found = claim.find(member);
    return found != claim.end() && *found == JsonValue(yes);
  };
  if (says("fuzzy_matched", true)) line += ", by similar spelling";
  if (says("matched_ontology", false)) line += ", outside the ontology";
  return line + ")";
}

/// The array's elements, however it came about.
JsonValue elements(const JsonText& text) {
  auto parsed = parse_tree<JsonValue>(text.text);
  if (!parsed.is_array()) parsed = JsonValue::array();
  return parsed;
}

void add_claims(std::string& page, std::string_view heading, const JsonText& text, const char* subject) {
  const std::string lines = claim_lines(text, subject);
  if (!lines.empty()) add_text(page, heading, lines, "");
}

void add_votes(std::string& page, const JsonValue& judge) {
  std::string votes;
  const auto samples = judge.find("samples");
  const auto scores = judge.find("scores");
  const auto is_list = [&](auto member) { return member != judge.end() && member->is_array(); };
  for (std::size_t i = 0; is_list(scores) && i < scores->size(); ++i) {
    votes += (votes.empty() ? "" : ", ") + (*scores)[i].dump();
    if (is_list(samples) && i < samples->size())
      votes += (*samples)[i] == JsonValue(true) ? " passed" : " failed";
  }
  page += "    votes: " + votes + " (" + text_of(judge, "source") + ")\n";
  if (const std::string why = text_of(judge, "rationale"); !why.empty()) page += "    " + why + "\n";
}

/// The detail of a judge metric is the beginning of the rationale, which stands below its votes.
bool is_said_by(const JsonValue& judge, const std::string& detail) {
  return one_line(text_of(judge, "rationale")).starts_with(one_line(detail));
}

void add_metrics(std::string& page, const JsonText& text) {
  const JsonValue metrics = elements(text);
  if (metrics.empty()) return;
  page += "\nMetrics\n";
  for (const JsonValue& metric : metrics) {
    if (!metric.is_object()) continue;
    const std::string expected = text_of(metric, "expected");  // It begins with the name.
    page += "  " + (expected.empty() ? text_of(metric, "name") : expected);
    const auto passed = metric.find("passed");
    const bool is_judged = passed != metric.end() && passed->is_boolean();
    if (is_judged) page += passed->get<bool>() ? " passed" : " failed";
    const std::string score = rounded_score(metric);
    if (!score.empty()) page += " " + score;
    if (!is_judged && score.empty()) page += " undefined";
    const auto judge = metric.find("judge");
    const bool has_votes = judge != metric.end();
    const std::string why = text_of(metric, "detail");
    if (!why.empty() && !(has_votes && is_said_by(*judge, why))) page += ": " + why;
    page += "\n";
    if (has_votes) add_votes(page, *judge);
  }
}

std::string title(const Observation& one) {
  std::string line = printable(one.case_id) + ": " + one.status;
  if (one.reason_code) line += " (" + *one.reason_code + ")";
  if (!one.perturbation.empty()) line += ", " + printable(one.perturbation);
  if (one.repeat > 0) line += ", repeat " + std::to_string(one.repeat + 1);
  return line + "\n";
}

/// There was an answer, and nobody said what it took: the rule of results, for what is kept.
bool has_unknown_usage(const Observation& one) {
  const bool is_called_for = one.calls > 0 || one.cache_hit || one.finish_reason == recorded_finish;
  const bool was_answered = one.parse_success || !one.raw_response.empty();
  return is_called_for && was_answered && one.input_tokens == 0 && one.output_tokens == 0;
}

std::string facts(const Observation& one) {
  std::string lines = "Run " + one.run_id + ", " + one.timestamp + "\n";
  lines += "Model " + printable(one.model);
  if (one.model != defaults::recorded_model) lines += " of " + printable(one.provider);
  if (!one.served_model.empty() && one.served_model != one.model)
    lines += ", served by " + printable(one.served_model);
  if (!one.finish_reason.empty()) lines += ", finished with " + printable(one.finish_reason);
  lines += "\n";
  lines += one.cache_hit ? "Out of a cache" : wording::counted(one.calls, "call");
  if (one.retries > 0) lines += " (" + wording::grouped(one.retries) + " of them again)";
  lines += ", " + wording::grouped(one.latency_ms) + " ms";
  if (one.waited_ms > 0) lines += " and " + wording::grouped(one.waited_ms) + " ms of waiting";
  const bool is_unknown = has_unknown_usage(one);
  lines += is_unknown ? std::string(", tokens unknown")
                      : ", " + wording::counted(one.input_tokens, "token") + " in, " +
                            wording::grouped(one.output_tokens) + " out";
  if (one.paid_tokens > 0) lines += ", " + wording::grouped(one.paid_tokens) + " paid";
  // Beside tokens that nobody knows, what was not paid would read as their price.
  if (one.cost && (!is_unknown || one.paid_tokens > 0)) lines += ", " + wording::dollars(*one.cost);
  return lines + "\n";
}

/// `degraded: log4j, similarity 0.7123 (hit from 0.85, degraded from 0.65; plugin upgrades, embedder emb-1)`.
void add_retrieval(std::string& page, const RetrievalEvent& found) {
  page += "\nSolved example\n  " + std::string(to_string(found.kind));
  if (found.score)
    page += ": " + printable(found.example) + ", similarity " + wording::fixed(*found.score, 4);
  page += " (hit from " + wording::fixed(found.high_floor, 3) + ", degraded from " +
          wording::fixed(found.degraded_floor, 3) + "; plugin " + printable(found.plugin) + ", embedder " +
          printable(found.embedder) + ")\n";
}

constexpr std::string_view prompt_is_lost =
    "(not known: the suite, its prompt or what else is asked has changed since; runs with "
    "--save-observations "
    "keep it)";
constexpr std::string_view answer_is_lost = "(in no cache any more; runs with --save-observations keep it)";

/// `Grade 0.40 by llm:j:comparison-v1; baseline first 0.75, candidate first 0.25: the order decides`
std::string grade_line(const Grade& grade) {
  std::string line = "Grade " + wording::fixed(grade.quality_score, 2) + " by " + printable(grade.grader_id);
  if (!grade.orders) return line;
  line += "; baseline first " + wording::fixed(grade.orders->baseline_first, 2) + ", candidate first " +
          wording::fixed(grade.orders->candidate_first, 2);
  return position_flips(*grade.orders) ? line + ": the order decides" : line;
}

void add_pair(std::string& page, const GradedPair& pair) {
  add_text(page,
           "Answer of the baseline, " + printable(pair.baseline_arm) + " (" + printable(pair.baseline_model) +
               " of " + printable(pair.baseline_provider) + ")",
           pair.result.baseline.text, "(empty)");
  add_text(page, grade_line(pair.result.grade), pair.result.grade.notes, "(no note)");
}

}  // namespace

std::string_view words_for_empty(const Observation& one) {
  return one.answered_at ? "(empty)" : "(none came)";
}

std::optional<FailedMetric> first_failed_metric(const JsonText& metrics) {
  for (const JsonValue& metric : elements(metrics)) {
    if (!metric.is_object()) continue;
    const auto passed = metric.find("passed");
    if (passed != metric.end() && *passed == JsonValue(false))
      return FailedMetric{text_of(metric, "name"), text_of(metric, "detail")};
  }
  return std::nullopt;
}

bool all_pass_or_fail(const JsonText& metrics) {
  const auto values = elements(metrics);
  return std::ranges::all_of(values, [](const JsonValue& metric) {
    const auto passed = metric.is_object() ? metric.find("passed") : metric.end();
    return passed != metric.end() && passed->is_boolean();
  });
}

std::string claim_lines(const JsonText& claims, const char* subject) {
  std::string lines;
  for (const JsonValue& claim : elements(claims)) {
    if (claim.is_object()) lines += claim_line(claim, subject) + "\n";
  }
  return lines;
}

std::string observation_page(const Observation& one, const ShownBeside& beside) {
  std::string page = title(one) + facts(one);
  if (beside.retrieval != nullptr) add_retrieval(page, *beside.retrieval);
  if (one.error) add_text(page, "Error", *one.error, "");
  if (one.system_prompt) add_text(page, "System prompt", *one.system_prompt, "(empty)");
  add_text(page, "Prompt", one.prompt, beside.prompt_is_lost ? prompt_is_lost : "(empty)");
  const GradedPair* const pair = beside.pair;
  add_text(page, pair == nullptr ? "Answer" : "Answer of the candidate, " + printable(one.arm),
           one.raw_response, beside.answer_is_lost ? answer_is_lost : words_for_empty(one));
  if (pair != nullptr) add_pair(page, *pair);
  add_claims(page, "Claims as the model wrote them", one.parsed_claims, "subject");
  add_claims(page, "Claims after the ontology", one.final_claims, "concept_path");
  add_metrics(page, one.metrics);
  if (beside.missed != nullptr && one.perturbation.empty()) {
    page += "\nMissed by the case\n";
    for (const std::string& line : *beside.missed) page += "  " + printable(line) + "\n";
  }
  return without_commands(page);
}

}  // namespace sluice
