#pragma once

#include "coordinator/merge/case_result.hpp"
#include "coordinator/report/report.hpp"

#include <optional>
#include <string>

namespace sluice {

/// What the page and the CSV file show of a case beside its status: redacted, valid UTF-8, without characters
/// that turn the writing direction.
struct CaseTexts {
  std::string system;
  Variables vars;        ///< Of the test, by which its texts were filled in.
  std::string prompt;    ///< The context before it, or the code that claims are about.
  std::string answer;    ///< Its beginning, as the run has it; empty where the claims say it all.
  std::string expected;  ///< Of a test with one reference text; else empty.
  std::string why;       ///< What was expected and what came; or the error.
  std::string scores;    ///< `claims_f1 0.91, semantic_similarity_to 0.80`
  std::optional<double> lowest_score;
};

CaseTexts texts_of(const CaseResult& result, const ReportInput& input);
/// What was asked alone, in the same way; empty where prompts are lost.
CaseTexts prompts_of(const Case& test_case, const ReportInput& input);

/// A text of the run in the same way.
std::string shown_text(const std::string& text, const ReportInput& input);

/// The arm's name behind the test's id; empty without arms.
std::string arm_of(const CaseResult& result, const ReportInput& input);

}  // namespace sluice
