// What a run is gated by, as by one of its arms.
#include "coordinator/session/run_gate.hpp"

#include "coordinator/gate/repeated_assessment.hpp"
#include "tests/unit/report/gated_run.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// A test under the arms a and b, each asked three times.
class ArmsWithRepeats : public ::testing::Test {
 protected:
  ArmsWithRepeats() {
    for (const char* name : {"a", "b"}) options_.arms.emplace_back().arm.name = name;
    options_.baseline_arm = 0;
    inputs_.suite.name = "arms";
  }

  void ask(CaseKind kind) {
    for (std::uint32_t arm = 0; arm < 2; ++arm) {
      Case test = sample::make_case("t1@" + options_.arms[arm].arm.name, "");
      test.kind = kind;
      test.arm = arm;
      if (kind == CaseKind::text)
        test.expectations = {{{MetricId::rouge_n, {"alpha"}}, {}, std::nullopt}};
      else
        test.must_contain = {sample::expect("a/b", "c", true)};
      inputs_.suite.cases.push_back(std::move(test));
      (void)table_.add_case();
    }
  }
  /// Of one arm after the other.
  void answer(const std::vector<double>& scores) {
    for (const double score : scores) {
      const auto trial = static_cast<TrialId>(source_.trials.size());
      source_.trials.push_back(
          sample::answered(trial, "alpha", {MetricId::rouge_n, score, std::nullopt, ""}));
    }
  }
  void extract(bool finds_it) {
    const auto trial = static_cast<TrialId>(source_.trials.size());
    if (!finds_it) return source_.trials.push_back(sample::scored(trial, trial, {}, {{}, {0}, {}, {}}, {}));
    source_.trials.push_back(
        sample::scored(trial, trial, {sample::claim("a/b", "c", true, 0.9)}, {{{0, 0}}, {}, {}, {}}, {}));
  }

  RunResults results(const Gate& gate) const {
    RunResults all = sample::results_of(inputs_.suite, source_, gate);
    all.trials = table_.trial_count();
    all.table = &table_;
    return all;
  }
  /// What the cases come to beside the arm a.
  std::map<std::string, CaseAssessment> gated() const {
    const RunGate plain;
    const auto gate = gate_against_arm(options_, inputs_, results(plain.gate), plain);
    EXPECT_TRUE(gate);
    std::map<std::string, CaseAssessment> by_case;
    EXPECT_TRUE(visit_cases(results(gate->gate), [&](const CaseResult& result) {
      by_case[result.fixture.id] = {
          result.status, result.assessment.regressed, result.assessment.improved, {}};
    }));
    return by_case;
  }

  RunOptions options_;
  RunInputs inputs_;
  sample::MemorySource source_;
  TrialTable table_{3};
};

// It failed for two of its repeats, which lay below its own mean.
TEST_F(ArmsWithRepeats, TheBaselinesArmDoesNotRegressAgainstItself) {
  ask(CaseKind::text);
  answer({0.3, 0.3, 1.0});
  answer({0.8, 0.8, 0.8});
  const auto cases = gated();
  EXPECT_EQ(cases.at("t1@a").status, CaseStatus::pass);
  EXPECT_EQ(cases.at("t1@b").status, CaseStatus::pass);
  EXPECT_TRUE(cases.at("t1@b").improved);
}

TEST_F(ArmsWithRepeats, AnotherArmRegressesByItsMean) {
  ask(CaseKind::text);
  answer({0.3, 0.3, 1.0});
  answer({0.2, 0.2, 1.0});
  const auto cases = gated();
  EXPECT_EQ(cases.at("t1@a").status, CaseStatus::pass);
  EXPECT_TRUE(cases.at("t1@b").regressed);
}

// A repeat that extracts nothing has no precision.
TEST_F(ArmsWithRepeats, TheBaselinesArmLacksNoScoreThatItNeverHad) {
  ask(CaseKind::claims);
  for (const bool finds_it : {true, false, false, true, false, false}) extract(finds_it);
  const auto cases = gated();
  EXPECT_EQ(cases.at("t1@a").status, CaseStatus::pass);
  EXPECT_FALSE(cases.at("t1@b").regressed) << "it answers the same";
}

// The command was refused.
TEST(RunGate, ProposesToPinWithCommandsThatNeedToBeAllowed) {
  RunOptions options;
  options.suite_path = "suite.yaml";
  options.baseline = "no-such-folder/base.json";
  RunInputs inputs;
  const auto message = [&] {
    const auto gate = load_gate(options, inputs);
    return gate ? "" : gate.error().message;
  };
  EXPECT_EQ(message().find("--allow-commands"), std::string::npos) << message();
  inputs.suite.brings_commands = true;
  EXPECT_NE(message().find("`sluice run suite.yaml --allow-commands"), std::string::npos) << message();
}

// The progress of every run counted "before the gate", also of one that had none.
TEST(RunGate, DecidesBeyondChecksByABaselineOrAScore) {
  Suite suite;
  suite.input_files.emplace_back();
  suite.metrics = {MetricId::must_contain};
  const RunOptions plain;
  EXPECT_FALSE(decides_beyond_checks(plain, suite));
  RunOptions beside_baseline;
  beside_baseline.baseline = "base.json";
  EXPECT_TRUE(decides_beyond_checks(beside_baseline, suite));
  RunOptions beside_arm;
  beside_arm.baseline_arm = 0;
  EXPECT_TRUE(decides_beyond_checks(beside_arm, suite));
  for (const MetricId scored : {MetricId::rouge_n, MetricId::correctness, MetricId::claims_recall}) {
    suite.metrics = {MetricId::must_contain, scored};
    EXPECT_TRUE(decides_beyond_checks(plain, suite)) << info(scored).name;
  }
  Suite fixtures;
  fixtures.metrics = {MetricId::claims_recall, MetricId::claims_required};
  EXPECT_FALSE(decides_beyond_checks(plain, fixtures)) << "nothing assesses their scores";
  fixtures.thresholding.min_score = 0.5;
  EXPECT_TRUE(decides_beyond_checks(plain, fixtures));
}

}  // namespace
}  // namespace sluice
