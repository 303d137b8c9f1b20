#pragma once

#include "common/error.hpp"
#include "common/model/grading.hpp"
#include "common/model/run_settings.hpp"
#include "coordinator/merge/run_grades.hpp"
#include "coordinator/output/sink.hpp"
#include "coordinator/report/writers/table_writer.hpp"

#include <optional>
#include <string>

namespace sluice {

/// One side of a run that grades.
struct GradedArmFacts {
  std::string name;  ///< The arm's.
  ProviderKind provider = ProviderKind::openai;
  std::string provider_name;
  std::string model;
  std::optional<double> estimated_cost;  ///< US dollars for its answers, whoever paid; nothing: not known.
};

/// What a report of `sluice grade` shows (docs/grading.md).
struct GradeReportInput {
  const RunGrades& grades;
  GradeJudge judge = GradeJudge::exact;
  std::string suite;
  std::string run_id;
  GradedArmFacts baseline;
  GradedArmFacts candidate;
  double confidence = 0.95;         ///< Of the intervals.
  std::optional<double> paid_cost;  ///< US dollars for all that this run called for; nothing: not known.
  std::optional<Error> cut_short;   ///< Why the run did not get to its end.
};

void write_grade_table(const GradeReportInput& input, TableStyle style, Sink& sink);
void write_grade_json(const GradeReportInput& input, Sink& sink);

}  // namespace sluice
