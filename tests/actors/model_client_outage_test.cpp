// What becomes of calls when the provider, or the coordinator, is not there: outages, silence, fatal answers.
#include "tests/actors/granted_client_fixture.hpp"

namespace sluice {
namespace {

class ModelClientOutageTest : public ModelClientBudgetTest {};

TEST_F(ModelClientOutageTest, AnOutageCostsNeitherAttemptsNorTheTimeOfTheCase) {
  settings.max_retries = 1;
  settings.case_timeout = 30s;
  start();
  complete({unit(1), unit(2)});
  const auto made = calls();
  budget(true, {down()});
  fail_call(made[0].id, HttpFailure::Kind::could_not_connect);
  for (int second = 0; second < 120; ++second) {
    pass(1s);
    budget(true, {down()});
  }
  EXPECT_TRUE(calls().empty());
  for (std::uint64_t id = 1; id <= 5; ++id) {
    auto probe = permits({id}, {}, true);
    probe.hold = wire::HoldReason::outage;
    budget(true, {probe});
    fail_call(only_call(), HttpFailure::Kind::could_not_connect);
    EXPECT_EQ(last_demand().outcomes.failed, 1u);
    pass(1s);
  }
  fail_call(made[1].id, HttpFailure::Kind::timed_out);
  EXPECT_TRUE(outcomes().empty());
  budget(true, {unlimited()});
  const auto again = calls();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].total_timeout, 30s) << "the outage of two minutes did not count";
  end_calls({answered_claims(again[0].id), answered_claims(again[1].id)});
  const auto done = outcomes();
  ASSERT_EQ(done.size(), 2u);
  for (const auto& one : done) {
    EXPECT_TRUE(std::holds_alternative<Completion>(one.outcome));
  }
  EXPECT_GE(done[0].spend.waited_pause_ms, 124'000u);
  EXPECT_LE(done[0].spend.latency_ms, 1000u) << "the outage is not the answer's time";
  EXPECT_EQ(done[0].spend.waited_retry_ms, 0u);
  EXPECT_EQ(done[0].spend.waited_permit_ms, 0u);
}

// Retry-After: 86400 failed case after case for hours.
TEST_F(ModelClientOutageTest, ADelayThatNoCaseCanWaitForEndsNone) {
  settings.case_timeout = 30s;
  start();
  complete({unit(1), unit(2)});
  const auto made = calls();
  answer(made[0].id, 429, "{}", {{"retry-after", "120"}});
  EXPECT_EQ(last_demand().pause_ms, 120'000u);
  answer_claims(made[1].id);
  complete(3);
  pass(119s);
  EXPECT_EQ(outcomes().size(), 1u) << "the one that was answered";
  EXPECT_TRUE(calls().empty());
  pass(2s);
  const auto again = calls();
  ASSERT_EQ(again.size(), 2u);
  for (const auto& call : again) {
    EXPECT_GE(call.total_timeout, 29s) << "the pause is nobody's time";
    answer_claims(call.id);
  }
  EXPECT_EQ(outcomes().size(), 2u);
}

// A burst of 429 in which nothing was answered ended 6 to 11 of 61 cases.
TEST_F(ModelClientOutageTest, RefusalsWhereNobodyIsAnsweredSpendNoAttempts) {
  settings.max_retries = 1;
  start();
  complete(1);
  for (int i = 0; i < 6; ++i) {
    answer(only_call(), 429, "{}");
    pass(61s);
  }
  EXPECT_TRUE(outcomes().empty());
  const auto refused = only_call();
  complete(2);
  answer_claims(only_call());
  EXPECT_EQ(outcomes().size(), 1u);
  answer(refused, 429, "{}");
  EXPECT_EQ(reason_of(only_outcome()), Reason::rate_limited) << "others are answered: it is this case alone";
}

TEST_F(ModelClientOutageTest, ARefusedProbeHasLostNothing) {
  settings.max_retries = 0;
  start();
  complete(1);
  auto id = only_call();
  budget(true, {down()});
  for (std::uint64_t probe = 1; probe <= 2; ++probe) {
    answer(id, 429, "{}");
    EXPECT_TRUE(outcomes().empty());
    pass(1s);
    auto next = permits({probe}, {}, true);
    next.hold = wire::HoldReason::outage;
    budget(true, {next});
    id = only_call();
  }
  answer_claims(id);
  EXPECT_TRUE(std::holds_alternative<Completion>(only_outcome().outcome));
}

TEST_F(ModelClientOutageTest, ACallThatAlwaysFailsEndsThoughItIsItsOnlyProbe) {
  settings.max_retries = 1;
  start();
  complete(1);
  answer_claims(only_call());
  outcomes();
  complete(2);
  const auto first = only_call();
  budget(true, {down()});
  answer(first, 500, "oops");
  std::uint64_t probes = 0;
  for (; worker.got<UnitsCompleted>().empty() && probes < 100; ++probes) {
    auto probe = permits({probes + 1}, {}, true);
    probe.hold = wire::HoldReason::outage;
    budget(true, {probe});
    answer(only_call(), 500, "oops");
    pass(1s);
  }
  EXPECT_EQ(probes, 6u) << "four for nothing, and its two tries";
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::provider_failed);
  EXPECT_EQ(done.spend.calls, 7u);
}

TEST_F(ModelClientOutageTest, ProbesRotateAndAnotherUnitMayTryWhenAllHaveFailed) {
  max_concurrent = 2;
  start();
  complete({unit(1), unit(2), unit(3), unit(4)});
  const auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  budget(true, {down()});
  end_calls({answered(made[0].id, 500, "oops"), answered(made[1].id, 500, "oops")});
  std::vector<std::uint64_t> probed;
  for (std::uint64_t id = 1; id <= 3; ++id) {
    auto probe = permits({id}, {}, true);
    probe.hold = wire::HoldReason::outage;
    budget(true, {probe});
    probed.push_back(only_call());
    if (id < 3) answer(probed.back(), 500, "oops");
    pass(1s);
  }
  EXPECT_EQ(probed[0], made[0].id);
  EXPECT_EQ(probed[1], made[1].id);
  EXPECT_GT(probed[2], made[1].id) << "neither of those that hold the places";
  answer_claims(probed[2]);
  budget(true, {unlimited()});
  EXPECT_EQ(calls().size(), 3u) << "the fourth took the place of the third";
}

TEST_F(ModelClientOutageTest, NothingStartsOnAnAllowanceOfLongAgo) {
  start();
  ActorTest::pass(3s);
  complete(1);
  EXPECT_EQ(calls().size(), 1u);
  ActorTest::pass(1s);
  complete(2);
  EXPECT_TRUE(calls().empty());
  hear_again();
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(ModelClientOutageTest, NothingStartsOnGrantsThatAnswerWhatWasSaidLongAgo) {
  start();
  const auto said = boot_us();
  ActorTest::pass(4s);
  caf::anon_send(client, BudgetChanged{true, false, {"run-1", said, said, {unlimited()}}, boot()});
  settle();
  complete(1);
  EXPECT_TRUE(calls().empty()) << "they lay in the socket while the process was stopped";
  hear_again();
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(ModelClientOutageTest, AfterASilenceOnlyANewGrantAllowsCalls) {
  start();
  budget(false);
  complete(1);
  caf::anon_send(client, BudgetChanged{true, false, {}, {}});
  settle();
  EXPECT_TRUE(calls().empty());
  budget(true, {unlimited()});
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(ModelClientOutageTest, ARefusalInA200IsAnAnswerAndIsNotCharged) {
  start_limited();
  complete(1);
  budget(true, {permits({1})});
  const auto id = only_call();
  demands();
  answer(id, 200, R"({"error":{"code":400,"message":"no such parameter"}})");
  const auto demand = last_demand();
  EXPECT_EQ(demand.outcomes.failed, 0u);
  EXPECT_EQ(demand.outcomes.declined, 1u);
  EXPECT_EQ(demand.settled, (Settled{{1, {0, 0}}}));
}

TEST_F(ModelClientOutageTest, AfterGivingUpWhatWaitsEnds) {
  start();
  complete({unit(1), unit(2)});
  const auto made = calls();
  answer(made[0].id, 500, "oops");
  budget(true, {down()});
  complete(3);
  auto over = down();
  over.hold = wire::HoldReason::given_up;
  budget(true, {over});
  const auto waiting = outcomes();
  ASSERT_EQ(waiting.size(), 2u) << "in its back-off, and held";
  for (const auto& one : waiting) {
    EXPECT_EQ(reason_of(one), Reason::provider_failed);
    EXPECT_NE(message_of(one).find("outage_timeout_seconds"), std::string::npos);
  }
  answer_claims(made[1].id);
  EXPECT_TRUE(std::holds_alternative<Completion>(only_outcome().outcome));
  complete(4);
  EXPECT_EQ(reason_of(only_outcome()), Reason::provider_failed);
}

TEST_F(ModelClientOutageTest, AFatalAnswerStopsAllCallsToItsProvider) {
  start();
  complete({unit(1), unit(2), unit(3)});
  const auto made = calls();
  answer(made[0].id, 500, "oops");
  answer(made[1].id, 401, R"({"error":{"message":"no such key"}})");
  const auto ended = outcomes();
  ASSERT_EQ(ended.size(), 2u) << "the refused one, and the one that waited for its retry";
  for (const auto& one : ended) {
    EXPECT_EQ(reason_of(one), Reason::key_refused);
    EXPECT_NE(message_of(one).find("provider \"openai\""), std::string::npos) << message_of(one);
  }
  complete(4);
  EXPECT_EQ(reason_of(only_outcome()), Reason::key_refused);
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientOutageTest, WhoSaysHelloAgainHoldsNoPermits) {
  start_limited();
  complete({unit(1), unit(2)});
  auto grant = permits({1, 2});
  grant.places = 1;
  budget(true, {grant});
  const auto first = only_call();
  demands();
  caf::anon_send(client, BudgetChanged{true, true, {}, {}});
  settle();
  const auto demand = last_demand();
  EXPECT_TRUE(demand.spent.empty());
  EXPECT_EQ(demand.ready_calls, 1u);
  answer_claims(first);
  EXPECT_TRUE(last_demand().settled.empty()) << "the permit is void";
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientOutageTest, Geminis503IsNotRetriedForLong) {
  settings.providers[0].kind = ProviderKind::gemini;
  start();
  complete(1);
  for (int call = 0; call < 3; ++call) {
    answer(only_call(), 503, R"({"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}})");
    pass(2s);
  }
  EXPECT_EQ(reason_of(only_outcome()), Reason::provider_failed);
}

}  // namespace
}  // namespace sluice
