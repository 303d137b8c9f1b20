// When calls start, and what the coordinator hears of them: the model client under granted budgets.
#include "tests/actors/granted_client_fixture.hpp"

namespace sluice {
namespace {

TEST_F(ModelClientBudgetTest, NothingStartsBeforeTheFirstGrantAndTheDemandIsToldAtOnce) {
  start_without_grant();
  complete({unit(1), unit(2)});
  EXPECT_TRUE(calls().empty());
  const auto demand = last_demand();
  EXPECT_EQ(demand.provider, "openai");
  EXPECT_EQ(demand.ready_calls, 2u);
  EXPECT_EQ(demand.sizes.size(), 2u);
  EXPECT_EQ(demand.in_flight, 0u);
  budget(true, {unlimited()});
  EXPECT_EQ(calls().size(), 2u);
}

TEST_F(ModelClientBudgetTest, EachCallStartsOnAPermitOldestFirst) {
  start_limited();
  complete({unit(1), unit(2), unit(3)});
  EXPECT_EQ(last_demand().ready_calls, 3u);
  budget(true, {permits({11, 12})});
  const auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  EXPECT_LT(made[0].id, made[1].id);
  for (const auto& call : made) {
    ASSERT_TRUE(call.window);
    EXPECT_LE(call.window->from, boot());
    EXPECT_GE(call.window->to, boot() + 49ms);
    EXPECT_LE(call.window->to, boot() + 50ms);
  }
  pass(100ms);
  const auto demand = last_demand();
  EXPECT_EQ(demand.ready_calls, 1u);
  EXPECT_EQ(demand.in_flight, 2u);
  EXPECT_EQ(demand.spent, (Spent{{11, true}, {12, true}}));
}

TEST_F(ModelClientBudgetTest, APermitWaitsForItsWindow) {
  start_limited();
  complete(1);
  auto grant = permits({1});
  grant.permits[0].opens_us = boot_us() + 20'000;
  budget(true, {grant});
  pass(20ms);
  EXPECT_TRUE(calls().empty()) << "the coordinator's clock may be a little behind";
  pass(1ms);
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(ModelClientBudgetTest, AClosedPermitIsToldAndTheCallGoesOnWaiting) {
  start_limited();
  complete(1);
  auto grant = permits({1});
  grant.places = 0;
  budget(true, {grant});
  worker.take<DemandChanged>();
  pass(49ms);
  EXPECT_TRUE(worker.take<DemandChanged>().empty());
  pass(2ms);
  const auto demand = last_demand();
  EXPECT_EQ(demand.spent, (Spent{{1, false}}));
  EXPECT_EQ(demand.ready_calls, 1u);
  EXPECT_TRUE(calls().empty());
  budget(true, {permits({2})});
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(ModelClientBudgetTest, PermitsThatNeverComeInTimeAreToldAsAReasonToLeave) {
  start_without_grant();
  complete(1);
  for (int second = 0; second <= 10; ++second) {
    EXPECT_TRUE(worker.got<WorkerUnfit>().empty()) << second;
    auto grant = permits({static_cast<std::uint64_t>(second)});
    const BudgetChanged from_afar{
        true, false, {"run-1", boot_us() - 1'000'000, boot_us() - 2'000'000, {grant}}, boot()};
    caf::anon_send(client, from_afar);
    settle();
    ActorTest::pass(1s);
  }
  EXPECT_TRUE(calls().empty());
  const auto unfit = worker.got<WorkerUnfit>();
  ASSERT_FALSE(unfit.empty());
  EXPECT_EQ(unfit[0].run_id, "run-1");
  EXPECT_EQ(unfit[0].why.reason, Reason::coordinator_too_far);
}

TEST_F(ModelClientBudgetTest, GrantsThatAreAlwaysTooOldAreAReasonToLeaveForWhoHasCallsToMake) {
  start_without_grant();
  const auto hear_from_afar = [this](int seconds) {
    for (int second = 0; second < seconds; ++second) {
      const BudgetChanged from_afar{
          true, false, {"run-1", boot_us() - 4'000'000, boot_us() - 2'000'000, {unlimited()}}, boot()};
      caf::anon_send(client, from_afar);
      settle();
      ActorTest::pass(1s);
    }
  };
  hear_from_afar(120);
  EXPECT_TRUE(worker.got<WorkerUnfit>().empty()) << "it has nothing to call for";
  complete(1);
  hear_from_afar(1);
  EXPECT_TRUE(calls().empty());
  const auto unfit = worker.got<WorkerUnfit>();
  ASSERT_FALSE(unfit.empty());
  EXPECT_EQ(unfit[0].why.reason, Reason::coordinator_too_far);
}

TEST_F(ModelClientBudgetTest, WhatNobodyNeedsGoesBackAtOnce) {
  start_limited();
  complete(1);
  demands();
  budget(true, {permits({1, 2, 3})});
  EXPECT_EQ(last_demand().spent, (Spent{{1, true}, {2, false}, {3, false}}));
}

TEST_F(ModelClientBudgetTest, ARetryTakesAPermitLikeAFirstCall) {
  start_limited();
  complete(1);
  budget(true, {permits({1})});
  answer(only_call(), 500, "oops");
  demands();
  pass(500ms);
  EXPECT_TRUE(calls().empty());
  EXPECT_EQ(last_demand().ready_calls, 1u);
  budget(true, {permits({2})});
  answer_claims(only_call());
  EXPECT_EQ(only_outcome().spend.retries, 1u);
}

TEST_F(ModelClientBudgetTest, TheRealUsageIsSettled) {
  start_limited();
  complete(1);
  const auto size = last_demand().sizes.at(0);
  EXPECT_GE(size.input_tokens, 3u);
  EXPECT_EQ(size.output_tokens, 4096u) << "the request leaves it to the provider";
  budget(true, {permits({1}, size)});
  answer_claims(only_call());
  EXPECT_EQ(last_demand().settled, (Settled{{1, {10, 5}}}));
  complete({unit(2), unit(3), unit(4)});
  budget(true, {permits({2, 3, 4}, size)});
  const auto made = calls();
  ASSERT_EQ(made.size(), 3u);
  demands();
  answer(made[0].id, 400, "no");
  EXPECT_EQ(last_demand().settled, (Settled{{2, {0, 0}}})) << "a refused call is not charged";
  answer(made[1].id, 500, "oops");
  EXPECT_TRUE(last_demand().settled.empty()) << "what it was charged is not known";
  answer(made[2].id, 200,
         R"({"choices":[{"message":{"content":"{\"claims\":[]}"},"finish_reason":"stop"}]})");
  EXPECT_TRUE(last_demand().settled.empty()) << "the server does not say";
}

TEST_F(ModelClientBudgetTest, ACallIsNeverLargerThanItsPermit) {
  start_limited();
  auto large = *unit(1);
  large.request.user = std::string(1000, '~');
  complete({std::make_shared<const WorkUnit>(large), unit(2)});
  const auto sizes = last_demand().sizes;
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_GT(sizes[0].input_tokens, sizes[1].input_tokens + 900);
  budget(true, {permits({1}, sizes[1])});
  const auto made = calls();
  ASSERT_EQ(made.size(), 1u) << "the older one does not fit, but does not block the other either";
  EXPECT_NE(made[0].request.body.find("unit 2"), std::string::npos);
}

TEST_F(ModelClientBudgetTest, ACallBeyondTheCeilingEndsAndSaysWhatWouldFit) {
  start_limited();
  complete(1);
  auto grant = permits({});
  grant.ceiling.total_tokens = 1000;
  budget(true, {grant});
  complete(2);
  const auto done = outcomes();
  ASSERT_EQ(done.size(), 2u) << "the one that waited, and the one that came";
  for (const auto& one : done) {
    EXPECT_EQ(reason_of(one), Reason::request_refused);
    EXPECT_NE(message_of(one).find("lower --max-output-tokens"), std::string::npos) << message_of(one);
  }
  auto small = *unit(3);
  small.request.max_tokens = 100;
  complete({std::make_shared<const WorkUnit>(small)});
  EXPECT_TRUE(outcomes().empty());
}

TEST_F(ModelClientBudgetTest, ACallThatMissedItsWindowSpendsNoAttempt) {
  settings.max_retries = 0;
  start_limited();
  complete(1);
  for (std::uint64_t permit = 1; permit <= 3; ++permit) {
    budget(true, {permits({permit})});
    const auto id = only_call();
    demands();
    fail_call(id, HttpFailure::Kind::permit_expired);
    EXPECT_EQ(last_demand().settled, (Settled{{permit, {0, 0}}}));
    EXPECT_TRUE(calls().empty()) << "it takes a new permit";
  }
  budget(true, {permits({4})});
  answer_claims(only_call());
  const auto done = only_outcome();
  EXPECT_TRUE(std::holds_alternative<Completion>(done.outcome));
  EXPECT_EQ(done.spend.calls, 1u);
  EXPECT_EQ(done.spend.retries, 0u);
}

TEST_F(ModelClientBudgetTest, ACallThatMissesEveryWindowEnds) {
  start_limited();
  complete(1);
  std::uint64_t permit = 1;
  for (; outcomes().empty() && permit < 100; ++permit) {
    budget(true, {permits({permit})});
    const auto id = only_call();
    HttpDone done;
    done.id = id;
    done.failure = HttpFailure{HttpFailure::Kind::permit_expired, "the call came too late"};
    caf::anon_send(client, HttpCallsDone{{done}});
    settle();
    if (permit == 9) break;
  }
  EXPECT_EQ(permit, 9u);
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::connection_lost);
  EXPECT_NE(message_of(done).find("raise burst_seconds"), std::string::npos) << message_of(done);
  EXPECT_EQ(done.spend.calls, 0u);
}

TEST_F(ModelClientBudgetTest, ARequestThatWentOutOnceIsACallThoughItIsSentAgain) {
  settings.max_retries = 0;
  start_limited();
  complete(1);
  budget(true, {permits({1})});
  HttpDone done;
  done.id = only_call();
  done.started = true;
  done.failure = HttpFailure{HttpFailure::Kind::went_stale, "closed without an answer"};
  demands();
  end_calls({done});
  EXPECT_TRUE(last_demand().settled.empty()) << "nobody knows what it was charged";
  budget(true, {permits({2})});
  answer_claims(only_call());
  EXPECT_EQ(only_outcome().spend.calls, 2u);
}

// One request that a server would not take was sent on each idle connection, uncounted.
TEST_F(ModelClientBudgetTest, ARequestThatKillsItsConnectionsIsForgivenOnceATry) {
  settings.max_retries = 0;
  start_limited();
  complete(1);
  for (std::uint64_t permit = 1; permit <= 2; ++permit) {
    EXPECT_TRUE(outcomes().empty());
    budget(true, {permits({permit})});
    const auto made = calls();
    ASSERT_EQ(made.size(), 1u);
    EXPECT_EQ(made[0].fresh_connection, permit == 2);
    HttpDone done;
    done.id = made[0].id;
    done.started = true;
    done.failure = HttpFailure{HttpFailure::Kind::went_stale, "closed without an answer"};
    demands();
    end_calls({done});
  }
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::connection_lost);
  EXPECT_EQ(done.spend.calls, 2u);
}

TEST_F(ModelClientBudgetTest, WithoutALimitCallsSayNothing) {
  start();
  for (UnitId id = 1; id <= 50; ++id) {
    complete(id);
    answer_claims(only_call());
  }
  EXPECT_TRUE(worker.take<DemandChanged>().empty());
  caf::anon_send(client, ReportDemand{});
  settle();
  const auto demand = last_demand();
  EXPECT_EQ(demand.outcomes.answered, 50u);
  EXPECT_TRUE(demand.sizes.empty());
}

TEST_F(ModelClientBudgetTest, WhatTheGovernorMustSeeIsToldAtOnce) {
  start();
  complete({unit(1), unit(2), unit(3)});
  const auto made = calls();
  answer(made[0].id, 429, "slow down");
  EXPECT_EQ(last_demand().outcomes.rate_limited, 1u);
  fail_call(made[1].id, HttpFailure::Kind::timed_out);
  EXPECT_EQ(last_demand().outcomes.failed, 1u);
  answer(made[2].id, 400, "its own fault", {{"x-ratelimit-limit-requests", "600"}});
  const auto demand = last_demand();
  EXPECT_EQ(demand.outcomes.failed, 0u);
  EXPECT_EQ(demand.outcomes.answered, 0u);
  EXPECT_EQ(demand.outcomes.declined, 1u);
  EXPECT_EQ(demand.backing_off, 2u) << "the other two are tried again later";
  EXPECT_EQ(demand.announced.requests_per_minute, 600u);
}

TEST_F(ModelClientBudgetTest, PlacesBoundTheCallsInFlight) {
  start();
  auto grant = unlimited();
  grant.places = 2;
  budget(true, {grant});
  complete({unit(1), unit(2), unit(3)});
  auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  grant.places = 1;
  budget(true, {grant});
  answer_claims(made[0].id);
  EXPECT_TRUE(calls().empty()) << "one is still in flight";
  answer_claims(made[1].id);
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(ModelClientBudgetTest, UnitsBeginAsSlotsBecomeFreeWithoutBeingAskedFor) {
  max_concurrent = 2;
  start();
  complete({unit(1), unit(2), unit(3), unit(4)});
  auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(worker.take<UnitsScored>().at(0).started, (std::vector<UnitId>{1, 2}));
  answer_claims(made[0].id);
  EXPECT_EQ(calls().size(), 1u);
  const auto turn = worker.take<UnitsCompleted>();
  ASSERT_EQ(turn.size(), 1u);
  EXPECT_EQ(turn[0].started, std::vector<UnitId>{3});
  EXPECT_EQ(turn[0].units.at(0).unit->unit, 1u);
}

TEST_F(ModelClientBudgetTest, ASearchMayGoBeyondTheConfiguredNumber) {
  max_concurrent = 2;
  start();
  complete({unit(1), unit(2), unit(3), unit(4), unit(5), unit(6)});
  EXPECT_EQ(calls().size(), 2u);
  auto grant = unlimited();
  grant.places = 5;
  grant.searched = true;
  budget(true, {grant});
  EXPECT_EQ(calls().size(), 3u);
  const auto told = worker.take<DemandChanged>();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().concurrency, 5u) << "the credit follows";
  EXPECT_EQ(told.back().demands.at(0).in_flight, 5u);
  EXPECT_EQ(told.back().demands.at(0).ready_calls, 1u) << "what more places would be for";
  EXPECT_EQ(told.back().received_us, boot_us());
}

TEST_F(ModelClientBudgetTest, WaitsAreToldApart) {
  start_limited();
  complete(1);
  pass(100ms);
  budget(true, {permits({1})});
  answer(only_call(), 429, "slow down", {{"retry-after", "2"}});
  pass(2300ms);
  budget(true, {permits({2})});
  answer(only_call(), 500, "oops");
  pass(600ms);
  budget(true, {permits({3})});
  pass(40ms);
  answer_claims(only_call());
  const auto spend = only_outcome().spend;
  EXPECT_EQ(spend.waited_pause_ms, 2000u);
  EXPECT_LE(spend.waited_retry_ms, 500u);
  EXPECT_EQ(spend.waited_permit_ms + spend.waited_retry_ms, 1000u);
  EXPECT_GE(spend.waited_permit_ms, 500u);
  EXPECT_EQ(spend.latency_ms, 40u) << "of the three seconds it waited";
}

TEST_F(ModelClientBudgetTest, ACallSaysWhatTheLogIsToHold) {
  log_calls = true;
  start_limited();
  complete(7);
  budget(true, {permits({41})});
  const auto made = calls();
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].log_members, R"("provider":"openai","unit":7,"attempt":1,"permit":41)");
  answer(made[0].id, 500, "oops");
  budget(true, {unlimited()});
  pass(500ms);
  EXPECT_EQ(calls().at(0).log_members, R"("provider":"openai","unit":7,"attempt":2,"permit":null)");
}

}  // namespace
}  // namespace sluice
