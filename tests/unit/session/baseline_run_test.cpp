#include "coordinator/session/baseline_run.hpp"

#include "coordinator/plan/plan_identity.hpp"
#include "tests/unit/plan/plan_fixture.hpp"

namespace sluice {
namespace {

class Results final : public ResultSource {
 public:
  /// The trial's result as `plan` asks for it.
  Results& add(const Plan& plan, TrialId trial, std::optional<double> f1) {
    CommittedTrial result;
    result.trial = trial;
    result.unit.key = plan.key(plan.unit_of(trial));
    result.unit.scores.resize(1);
    result.unit.scores[0].metrics.push_back({MetricId::claims_recall, 0.99, {}, {}});
    result.unit.scores[0].metrics.push_back({MetricId::claims_f1, f1, {}, {}});
    trials_.push_back(std::move(result));
    return *this;
  }
  Results& add_error(TrialId trial) {
    CommittedTrial result;
    result.trial = trial;
    result.unit.error = Error{Reason::worker_lost, "lost"};
    trials_.push_back(std::move(result));
    return *this;
  }
  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override {
    for (const CommittedTrial& one : trials_) {
      if (one.trial >= first) visit(one);
    }
    return {};
  }

 private:
  std::vector<CommittedTrial> trials_;
};

class BaselineRun : public PlanTest {
 protected:
  static PastRun run_of(const Plan& plan) {
    PastRun past;
    past.run.settings = "{\"trials\":\"" + to_prefixed_hex(trial_identity(plan)) + "\"}";
    return past;
  }
  static std::vector<FixtureScores> compared(const Plan& plan, const PastRun& past, const Results& then,
                                             const Results& now) {
    auto scores = compare_fixtures(plan, past, then, now);
    EXPECT_TRUE(scores);
    return scores ? *scores : std::vector<FixtureScores>();
  }
};

TEST_F(BaselineRun, FixturesThatWereEditedAreComparedByTheirNumbers) {
  const Plan before = plan();
  const Results then = Results().add(before, 0, 0.5).add(before, 1, 0.25).add_error(2).add(before, 3, 1.0);
  suite.cases.held(0).content += " more";
  settings.model = "another";
  const Plan after = plan();
  const Results now =
      Results().add(after, 0, 0.75).add(after, 1, std::nullopt).add(after, 2, 1.0).add_error(3);
  EXPECT_EQ(compared(after, run_of(before), then, now),
            (std::vector<FixtureScores>{{"a", 0.5, 0.75}, {"b", 0.25, std::nullopt}}));
}

TEST_F(BaselineRun, WhereFixturesCameOrWentTheRequestSaysWhichOneItIs) {
  const Plan before = plan();
  Results then;
  for (TrialId trial = 0; trial < 5; ++trial) then.add(before, trial, 0.5);
  const PastRun past = run_of(before);
  suite.cases = {make_case("a", "one"), make_case("c", "one"), make_case("d", "three"),
                 make_case("new", "four")};
  const Plan after = plan();
  Results now;
  for (TrialId trial = 0; trial < 4; ++trial) now.add(after, trial, 0.25);
  EXPECT_EQ(compared(after, past, then, now), (std::vector<FixtureScores>{{"d", 0.5, 0.25}}))
      << "a and c ask the same";
}

TEST_F(BaselineRun, RepeatsCountByTheirMean) {
  suite.cases = {make_case("a", "one")};
  const Plan twice = *Plan::make(suite, prompt, Ontology(), settings, {{}, 2});
  const Results then = Results().add(twice, 0, 0.5).add(twice, 1, 1.0);
  const Results now = Results().add(twice, 0, std::nullopt).add(twice, 1, 0.0);
  EXPECT_EQ(compared(twice, run_of(twice), then, now), (std::vector<FixtureScores>{{"a", 0.75, 0.5}}));
}

TEST_F(BaselineRun, TheTableSaysWhichRunItWasMadeOf) {
  PastRun past;
  past.run.model = "m";
  past.run.prompt_version = "1";
  AggregateBaseline baseline;
  baseline.model = "m";
  baseline.prompt_version = "1";
  baseline.measured_at = "2026-02-05T10:30:00Z";
  EXPECT_FALSE(is_made_of(baseline, past)) << "it has not ended";
  past.summary.emplace();
  past.summary->completed_at_ms = 1'770'287'400'999;
  EXPECT_EQ(measured_at(*past.summary), baseline.measured_at);
  EXPECT_TRUE(is_made_of(baseline, past));
  baseline.model = "n";
  EXPECT_FALSE(is_made_of(baseline, past));
}

}  // namespace
}  // namespace sluice
