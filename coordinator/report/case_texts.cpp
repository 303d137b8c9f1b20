#include "coordinator/report/case_texts.hpp"

#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/case_explanation.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

std::string shown(std::string_view text) {
  return without_direction_controls(to_valid_utf8(text));
}

/// The suite's own texts: those of answers come redacted.
std::string redacted(const std::string& text, const ReportInput& input) {
  if (input.redactor == nullptr) return shown(text);
  return shown(input.redactor->redacted(text).value_or(text));
}

/// Empty where there are several.
std::string reference_of(const Case& test_case) {
  std::string reference;
  for (const Expectation& one : test_case.expectations) {
    const MetricId metric = one.what.metric;
    const bool is_reference = metric == MetricId::exact_match || metric == MetricId::semantic_similarity_to;
    if (!is_reference) continue;
    for (const std::string& text : one.what.texts) {
      if (!reference.empty() && text != reference) return "";
      reference = text;
    }
  }
  return reference;
}

void take_scores(const CaseResult& result, CaseTexts& texts) {
  for (const AssessedMetric& metric : result.metrics()) {
    if (!metric.is_scored() || !metric.score) continue;
    texts.scores +=
        (texts.scores.empty() ? "" : ", ") + metric.shown_name() + ' ' + wording::words_for(metric).score;
    texts.lowest_score = std::min(texts.lowest_score.value_or(*metric.score), *metric.score);
  }
}

}  // namespace

std::string shown_text(const std::string& text, const ReportInput& input) {
  return redacted(text, input);
}

CaseTexts prompts_of(const Case& test_case, const ReportInput& input) {
  CaseTexts texts;
  if (input.prompts_are_lost) return texts;
  texts.system = redacted(test_case.system, input);
  const std::string before = test_case.context.empty() ? "" : test_case.context + "\n\n";
  texts.prompt = redacted(before + test_case.content, input);
  if (test_case.vars == nullptr) return texts;
  for (const auto& [name, value] : *test_case.vars) texts.vars.emplace(shown(name), redacted(value, input));
  return texts;
}

CaseTexts texts_of(const CaseResult& result, const ReportInput& input) {
  const Case& test_case = result.fixture;
  CaseTexts texts = prompts_of(test_case, input);
  if (result.unit != nullptr) texts.answer = shown(result.unit->shown_text);
  texts.expected = redacted(reference_of(test_case), input);
  take_scores(result, texts);
  if (result.error != nullptr) {
    texts.why = shown(std::string(to_string(result.error->reason)) + ": " + result.error->message);
  } else if (result.status != CaseStatus::pass) {
    CaseDetails details;
    texts.why = redacted(
        wording::plain_text(wording::explanation(result, input.results.suite.rubrics, details)), input);
  }
  return texts;
}

std::string arm_of(const CaseResult& result, const ReportInput& input) {
  return input.arms == nullptr ? std::string() : input.arms->arms.at(result.fixture.arm).name;
}

}  // namespace sluice
