#pragma once

#include "common/model/grading.hpp"
#include "coordinator/facts/observation.hpp"
#include "coordinator/facts/retrieval_event.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The pair that a grade is of: the observation's answer is the candidate's.
struct GradedPair {
  GradingResult result;
  std::string baseline_arm;
  std::string baseline_provider;
  std::string baseline_model;
};

/// What is shown beside an observation.
struct ShownBeside {
  const RetrievalEvent* retrieval =
      nullptr;                       ///< Which solved example the case found; null: it looked for none.
  const GradedPair* pair = nullptr;  ///< Of a run that graded; else null.
  const std::vector<std::string>* missed = nullptr;  ///< As of CaseOutcome; null: the case missed nothing.
  bool prompt_is_lost = false;                       ///< What was asked is not known any more.
  bool answer_is_lost = false;                       ///< There was an answer, which is nowhere any more.
};

/// One observation for people, section by section: what was asked, what was answered, what was made of it and
/// what it took. Foreign text in it can neither move the cursor nor be a command to a build server. Ends with
/// a line feed.
std::string observation_page(const Observation& one, const ShownBeside& beside = {});

/// What stands in the place of an empty answer: that it is one, or that none came.
std::string_view words_for_empty(const Observation& one);

/// A metric that failed.
struct FailedMetric {
  std::string name;
  std::string detail;  ///< May be empty.
};

/// Whether each of them passes or fails by itself: of a score the gate decides.
bool all_pass_or_fail(const JsonText& metrics);
/// The first of an observation's metrics that failed, printable; nothing where none did.
std::optional<FailedMetric> first_failed_metric(const JsonText& metrics);

/// A line for each claim of a JSON array: `subject/predicate = value (confidence 0.9, line 7)`. `subject` is
/// the member with its subject.
std::string claim_lines(const JsonText& claims, const char* subject);

}  // namespace sluice
