#pragma once

#include "common/documents/table_reader.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/expectations/suite_rubrics.hpp"

namespace sluice {

/// What the keys of a judge metric came to.
struct ReadQuestion {
  JudgeQuestion question;
  const KnownRubric* rubric = nullptr;  ///< Null if there is a finding about which one it is.
};

/// Reads the keys of a judge metric: `rubric` (of the metric `rubric` alone), `rubric_version`, `samples`,
/// `reference`, `criteria` and `context`. What is wrong, what its rubric shows and the test lacks, and what
/// its rubric would not show becomes findings.
ReadQuestion read_judge_question(TableReader& reader, MetricId metric, SuiteRubrics& rubrics);

}  // namespace sluice
