#pragma once

#include "common/checks/redactor.hpp"
#include "common/documents/finding.hpp"
#include "common/model/judge.hpp"
#include "common/model/recorded_answer.hpp"
#include "common/model/votes.hpp"
#include "coordinator/suite/case_list.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// How an answer was judged where it was recorded: `meta.assay.judge.SCORE` (score_text).
struct RecordedJudgement {
  std::string name;    ///< ScoreId
  std::string rubric;  ///< Its id.
  std::string rubric_version;
  JudgeScore score;  ///< Its source is `trace`.
};

/// An answer to a test, with what was recorded beside it.
struct AnsweredTest {
  RecordedAnswer answer;
  std::optional<std::string> context;         ///< What was retrieved for it, in place of the test's context.
  std::vector<RecordedJudgement> judgements;  ///< At most one of each score.
  std::uint32_t line = 0;
};

/// Answers that an application recorded (docs/answers.md), by test; under arms by `TEST@ARM`.
class RecordedAnswers {
 public:
  const AnsweredTest* find(std::string_view test) const;
  std::size_t size() const { return answers_.size(); }
  /// Whether any of them calls a tool.
  bool have_calls() const;

  /// A finding for each answer to a test that is not there, and for one with a judgement of a score that the
  /// test lacks beside one that it has and nobody judged; after defaults::max_file_findings how many more.
  std::vector<Finding> check_tests(const CaseList& cases) const;

 private:
  friend tl::expected<RecordedAnswers, std::vector<Finding>> parse_recorded_answers(std::string_view text,
                                                                                    const std::string& file,
                                                                                    const Redactor& redactor);
  std::string file_;
  std::map<std::string, AnsweredTest, std::less<>> answers_;
};

/// JSON Lines of `{"id": TEST, "answer": TEXT}` and more, or spans as OpenTelemetry's collector exports them:
/// objects with `resourceSpans`, of which those with the attribute `sluice.test` are read. Either all
/// answers, or everything that is wrong: lines that are neither, unknown keys, a test that is answered twice,
/// no answer at all. Rationales are redacted before they are cut to what a JudgeScore keeps.
tl::expected<RecordedAnswers, std::vector<Finding>> parse_recorded_answers(
    std::string_view text, const std::string& file, const Redactor& redactor = Redactor());

/// A sentence on judgements of recorded answers that count for nothing, since they are by another rubric or
/// another version of it than the test asks for; nothing if there are none. `file` has the answers; `rubrics`
/// are the suite's.
std::optional<std::string> passed_over_judgements(const CaseList& cases, std::span<const Rubric> rubrics,
                                                  const std::string& file);

}  // namespace sluice
