#include "worker/trial_runner.hpp"

#include "tests/actors/model_client_fixture.hpp"

namespace sluice {
namespace {

class TrialRunnerTest : public ModelClientTest {
 protected:
  std::shared_ptr<const RunContext> run = std::make_shared<const RunContext>(RunContext{"run-1", Ontology()});
};

TEST_F(TrialRunnerTest, TakesAUnitToItsScoredResultAndEnds) {
  start();
  const auto before = running();
  auto work = *unit(4);
  work.tasks = {{8, {}, {}, 0.0}, {9, {{"a/b", "p", true, std::nullopt}}, {}, 0.0}};
  spawn_trial_runner(system(), run, std::make_shared<const WorkUnit>(work), client, worker.handle());
  settle();
  answer_claims(only_call());
  const auto finished = worker.take<UnitFinished>();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].run_id, "run-1");
  const auto& result = finished[0].result;
  EXPECT_EQ(result.unit, 4u);
  EXPECT_EQ(result.key, work.key);
  EXPECT_FALSE(result.error);
  EXPECT_FALSE(is_zero(result.answer));
  EXPECT_EQ(result.usage, (Usage{10, 5}));
  EXPECT_EQ(result.spend.calls, 1u);
  ASSERT_EQ(result.scores.size(), 2u);
  EXPECT_EQ(result.scores[1].trial, 9u);
  EXPECT_EQ(result.scores[1].claims.missing, std::vector<std::uint32_t>{0});
  EXPECT_EQ(running(), before);
}

TEST_F(TrialRunnerTest, AnErrorIsAResultWithoutScores) {
  start();
  spawn_trial_runner(system(), run, unit(4), client, worker.handle());
  settle();
  answer(only_call(), 400, "no");
  const auto finished = worker.take<UnitFinished>();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].result.error->reason, Reason::request_refused);
  EXPECT_TRUE(finished[0].result.scores.empty());
  EXPECT_TRUE(is_zero(finished[0].result.answer));
}

TEST_F(TrialRunnerTest, CancelledOnesAreNotLeftBehind) {
  start();
  const auto before = running();
  for (UnitId id = 0; id < 10; ++id) spawn_trial_runner(system(), run, unit(id), client, worker.handle());
  settle();
  EXPECT_EQ(running(), before + 10);
  caf::anon_send(client, CancelCalls{});
  settle();
  EXPECT_EQ(running(), before);
}

}  // namespace
}  // namespace sluice
