#include "coordinator/gate/stability_gate.hpp"

#include "gate_fixture.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::stability_gate_test {

/// What assess_stability says, notices by their codes.
struct Assessed {
  std::optional<StabilityAssessment> assessment;
  std::vector<GateNotice> notices;

  std::vector<std::string> codes() const {
    std::vector<std::string> all;
    for (const GateNotice& notice : notices) all.push_back(notice.code);
    return all;
  }
};

using Codes = std::vector<std::string>;
using Pinned = std::optional<BaselineStability>;

Assessed assess_with(StabilityQuestion question, bool strict = false) {
  Assessed result;
  const GatedRun run{"demo", "sha256:00", "0.1.0", "demo.yaml", "base.json", strict};
  result.assessment = assess_stability(question, run, result.notices);
  return result;
}

/// Of a run under `crlf 1`, all of whose perturbed trials were assessed.
StabilityAssessment assessed(StabilityQuestion question) {
  question.perturbations = {"crlf 1"};
  const Assessed result = assess_with(std::move(question));
  EXPECT_EQ(result.codes(), Codes{});
  return result.assessment.value_or(StabilityAssessment{});
}

Pinned pinned(double score, std::vector<std::string> perturbations = {"crlf 1"}) {
  return BaselineStability{score, 1, 1, 1, std::move(perturbations)};
}

Thresholding statistical() {
  Thresholding thresholding;
  thresholding.mode = ThresholdMode::statistical;
  return thresholding;
}

TEST(StabilityGate, ItsLeastIsAFixedLimit) {
  EXPECT_EQ(assessed({.score = 0.9, .min_stability = 0.9}).status, MetricStatus::pass);
  const auto low = assessed({.score = 0.899, .min_stability = 0.9});
  EXPECT_EQ(low.status, MetricStatus::fail);
  EXPECT_EQ(low.cause, MetricCause::below_min_score);
  EXPECT_EQ(assessed({.score = 0.1}).status, MetricStatus::unjudged);
}

TEST(StabilityGate, FallsLikeAnyScore) {
  const Pinned base = pinned(0.95);
  EXPECT_EQ(assessed({.score = 0.9, .baseline = &base}).status, MetricStatus::pass) << "exactly at the limit";
  const auto fell = assessed({.score = 0.89, .baseline = &base});
  EXPECT_EQ(fell.status, MetricStatus::fail);
  EXPECT_EQ(fell.cause, MetricCause::dropped);
  EXPECT_EQ(fell.delta(), -0.06);
  EXPECT_EQ(fell.max_drop, 0.05);
  EXPECT_EQ(assessed({.score = 0.8, .suite = max_drop(0.2), .baseline = &base}).status, MetricStatus::pass);
  EXPECT_EQ(assessed({.score = 0.89, .suite = statistical(), .baseline = &base}).status, MetricStatus::fail);
  const auto fixed = assessed({.score = 0.1, .suite = absolute(0.9), .baseline = &base});
  EXPECT_EQ(fixed.status, MetricStatus::unjudged) << "the suite's min_score is that of other metrics";
  EXPECT_EQ(fixed.max_drop, std::nullopt);
}

TEST(StabilityGate, WithoutAnEntryItWarns) {
  const Pinned none;
  EXPECT_EQ(assessed({.score = 0.9, .baseline = &none}).status, MetricStatus::warn);
}

TEST(StabilityGate, OtherPerturbationsAreNotCompared) {
  const Pinned base = pinned(0.95, {"crlf 2"});
  StabilityQuestion question{.score = 0.1, .perturbations = {"crlf 1"}, .baseline = &base};
  EXPECT_EQ(assess_with(question).codes(), Codes{"perturbations_differ"});
  EXPECT_EQ(assess_with(question).assessment->status, MetricStatus::unjudged);
  EXPECT_EQ(assess_with(question).notices[0].severity, GateNotice::Severity::warning);
  EXPECT_EQ(assess_with(question, true).notices[0].severity, GateNotice::Severity::failure);
  question.suite.mode = ThresholdMode::absolute;
  EXPECT_EQ(assess_with(question, true).codes(), Codes{}) << "the baseline does not judge there";
}

// Those that came with a later sluice and change no case here do not end the comparison with what is pinned.
TEST(StabilityGate, ABaselineMayLackWhatChangesNoCase) {
  const Pinned base = pinned(0.95, {"crlf 1"});
  StabilityQuestion question{
      .score = 0.1, .perturbations = {"crlf 1", "typos 1"}, .idle = {"typos 1"}, .baseline = &base};
  EXPECT_EQ(assess_with(question, true).codes(), Codes{});
  EXPECT_EQ(assess_with(question, true).assessment->cause, MetricCause::dropped);
  question.idle = {};
  EXPECT_EQ(assess_with(question).codes(), Codes{"perturbations_differ"}) << "it may have changed the score";
  question.idle = {"crlf 1"};
  EXPECT_EQ(assess_with(question).codes(), Codes{"perturbations_differ"});
  const Pinned both = pinned(0.95, {"crlf 1", "typos 1"});
  question.baseline = &both;
  EXPECT_EQ(assess_with(question).codes(), Codes{}) << "one that the baseline has is no other";
  question.perturbations = {"crlf 1"};
  EXPECT_EQ(assess_with(question).codes(), Codes{"perturbations_differ"});
}

TEST(StabilityGate, TheSamePerturbationsInAnotherOrderAreCompared) {
  const Pinned base = pinned(0.95, {"trailing_space 1", "crlf 1"});
  const StabilityQuestion question{
      .score = 0.1, .perturbations = {"crlf 1", "trailing_space 1"}, .baseline = &base};
  const Assessed result = assess_with(question, true);
  EXPECT_EQ(result.codes(), Codes{});
  EXPECT_EQ(result.assessment->cause, MetricCause::dropped);
}

TEST(StabilityGate, APartOfASuiteIsAnotherQuantity) {
  const Pinned base = pinned(0.95);
  const StabilityQuestion question{
      .score = 0.1, .perturbations = {"crlf 1"}, .is_selection = true, .baseline = &base};
  const Assessed result = assess_with(question, true);
  EXPECT_EQ(result.codes(), Codes{"stability_not_compared"});
  EXPECT_EQ(result.notices[0].severity, GateNotice::Severity::info);
  EXPECT_EQ(result.assessment->status, MetricStatus::unjudged);
  EXPECT_EQ(result.assessment->baseline, std::nullopt);
}

TEST(StabilityGate, TheNoticeNamesTheSideThatIsAPart) {
  const Pinned base = pinned(0.95);
  StabilityQuestion question{.score = 0.1, .perturbations = {"crlf 1"}, .baseline = &base};
  const auto message = [&](bool is_selection, bool base_is_selection) {
    question.is_selection = is_selection;
    question.base_is_selection = base_is_selection;
    const Assessed result = assess_with(question, true);
    EXPECT_EQ(result.codes(), Codes{"stability_not_compared"});
    EXPECT_EQ(result.assessment->status, MetricStatus::unjudged);
    return result.notices.empty() ? "" : result.notices[0].message;
  };
  EXPECT_EQ(message(true, false),
            "the stability in `base.json` is that of the whole suite, and this run is a part of it: it was "
            "not compared.");
  EXPECT_EQ(message(false, true),
            "the stability in `base.json` is that of a part of the suite, and this run is the whole: it was "
            "not compared.");
  EXPECT_EQ(message(true, true),
            "the stability in `base.json` is that of a part of the suite, and this run is a part as well, "
            "which may be another: it was not compared.");
  question.score.reset();
  question.is_selection = false;
  EXPECT_EQ(assess_with(question).codes(), Codes{}) << "nothing was to be assessed";
}

TEST(StabilityGate, ReportsThatThereWasNothingToAssess) {
  const StabilityQuestion asked{.perturbations = {"crlf 1"}, .planned = 40, .min_stability = 0.9};
  EXPECT_EQ(assess_with(asked).codes(), Codes{"stability_not_measured"});
  EXPECT_EQ(assess_with(asked).assessment->status, MetricStatus::unjudged);
  const Pinned base = pinned(0.95);
  StabilityQuestion compared{.perturbations = {"crlf 1"}, .planned = 40, .baseline = &base};
  EXPECT_EQ(assess_with(compared).codes(), Codes{"stability_not_measured"});
  EXPECT_EQ(assess_with(compared, true).notices[0].severity, GateNotice::Severity::failure);
  compared.suite.mode = ThresholdMode::absolute;
  EXPECT_EQ(assess_with(compared).codes(), Codes{"stability_incomplete"})
      << "nothing judges it, and all are missing";
}

TEST(StabilityGate, WhatIsMissingIsReported) {
  StabilityQuestion question{
      .score = 1.0, .perturbations = {"crlf 1"}, .planned = 40, .answers = 1, .min_stability = 0.9};
  const Assessed result = assess_with(question);
  EXPECT_EQ(result.codes(), Codes{"stability_incomplete"});
  EXPECT_EQ(result.notices[0].severity, GateNotice::Severity::warning);
  EXPECT_EQ(result.notices[0].message.rfind("39 of 40 answers to perturbed inputs are missing", 0), 0u)
      << result.notices[0].message;
  EXPECT_EQ(result.assessment->status, MetricStatus::pass);
  EXPECT_EQ(assess_with(question, true).notices[0].severity, GateNotice::Severity::failure);
  question.answers = 39;
  EXPECT_EQ(assess_with(question).notices[0].message,
            "1 of 40 answers to perturbed inputs is missing, and the stability says nothing of it: see what "
            "ended in an error, and run again.");
  question.answers = 40;
  EXPECT_EQ(assess_with(question).codes(), Codes{});
}

TEST(StabilityGate, ARunThatPerturbsNothingIsNotAssessed) {
  const Pinned base = pinned(0.95);
  EXPECT_EQ(assess_with({}).codes(), Codes{});
  EXPECT_FALSE(assess_with({}).assessment);
  const Assessed unmeasured = assess_with({.min_stability = 0.9, .baseline = &base}, true);
  EXPECT_EQ(unmeasured.codes(), (Codes{"stability_not_measured", "stability_not_compared"}));
  EXPECT_EQ(unmeasured.notices[0].severity, GateNotice::Severity::failure);
  EXPECT_EQ(unmeasured.notices[1].severity, GateNotice::Severity::info);
  EXPECT_EQ(assess_with({.min_stability = 0.9}).notices.at(0).severity, GateNotice::Severity::warning);
}

TEST(StabilityGate, NamesTheTwoFilesThatAreCompared) {
  const Pinned base = pinned(0.95, {"crlf 2"});
  GatedRun files{"demo", "sha256:00", "0.1.0", "SUITE", "base.json", false, "now.json"};
  std::vector<GateNotice> notices;
  (void)assess_stability({.score = 0.9, .perturbations = {"crlf 1"}, .baseline = &base}, files, notices);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].message.find("than that of `now.json` (crlf 1)"), std::string::npos)
      << notices[0].message;
}

}  // namespace sluice::stability_gate_test
