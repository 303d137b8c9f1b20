// The engine by itself: requests of a kind that sluice does not know, on a clock of the test's.
#include "tests/unit/worker/call_engine_fixture.hpp"
#include "worker/defaults.hpp"

namespace sluice {
namespace call_engine_test {

TEST_F(CallEngineTest, ARequestOfAnyKindIsCalledAndEndsOnce) {
  auto& request = submit(5);
  const auto made = calls();
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].request.url, "http://a/key-a");
  EXPECT_EQ(made[0].request.body, "question 5");
  EXPECT_EQ(made[0].connect_timeout, 1s);
  EXPECT_EQ(made[0].total_timeout, 30s);
  EXPECT_TRUE(made[0].log_members.empty());
  done(made[0].id, 200, "forty-two");
  const auto ended = only_end();
  EXPECT_EQ(ended.context, (CallContext{9, 5}));
  EXPECT_FALSE(ended.error);
  EXPECT_EQ(ended.usage, (Usage{3, 4}));
  EXPECT_EQ(ended.spend.calls, 1u);
  EXPECT_EQ(request.answer, "forty-two");
  done(made[0].id, 200, "again");
  EXPECT_TRUE(engine.take_ended().empty());
  EXPECT_EQ(request.answer, "forty-two") << "a call that is not known any more is ignored";
}

TEST_F(CallEngineTest, TheOldestOfTheReadyStartsFirst) {
  grant({permits({}, now)});
  for (std::uint64_t id = 1; id <= 3; ++id) submit(id);
  EXPECT_TRUE(calls().empty());
  grant({permits({11, 12}, now)});
  const auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].request.body, "question 1");
  EXPECT_EQ(made[1].request.body, "question 2");
}

TEST_F(CallEngineTest, AFailedTryIsMadeAgainUnderTheSameNumber) {
  submit(1);
  const auto first = calls().at(0).id;
  done(first, 500, "oops");
  EXPECT_TRUE(engine.take_ended().empty());
  const auto waits = turn();
  EXPECT_TRUE(waits.calls.empty());
  ASSERT_TRUE(waits.wake);
  EXPECT_LE(*waits.wake, now.now + settings.backoff_initial);
  pass(500ms);
  const auto again = calls();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id, first);
  done(first, 200);
  const auto ended = only_end();
  EXPECT_EQ(ended.spend.calls, 2u);
  EXPECT_EQ(ended.spend.retries, 1u);
  EXPECT_EQ(ended.spend.waited_retry_ms, 500u);
}

TEST_F(CallEngineTest, WhatFailedTriesTookIsPaidFor) {
  submit(1).taken_all_the_same = {10, 100};
  const auto id = calls().at(0).id;
  done(id, 500);
  pass(2s);
  ASSERT_EQ(calls().size(), 1u);
  done(id, 500);
  pass(4s);
  ASSERT_EQ(calls().size(), 1u);
  done(id, 200);
  const auto ended = only_end();
  EXPECT_EQ(ended.spend.paid.of(CallKind::judge), (Usage{20, 200}));
  EXPECT_EQ(ended.usage, (Usage{3, 4})) << "that of the answer its owner counts";

  submit(2).taken_all_the_same = {10, 100};
  const auto second = calls().at(0).id;
  done(second, 500);
  const auto withdrawn = engine.withdraw(second);
  ASSERT_TRUE(withdrawn);
  EXPECT_EQ(withdrawn->paid.of(CallKind::judge), (Usage{10, 100}));
}

TEST_F(CallEngineTest, ALimitThatARefusalNamesIsReported) {
  submit(1).names_limit = NamedLimit{true, 30'000, 60};
  done(calls().at(0).id, 429);
  const auto demand = turn().demand;
  ASSERT_TRUE(demand);
  EXPECT_EQ(demand->demands.at(0).announced, (wire::AnnouncedLimits{0, 30'000, 0, 0}));
}

TEST_F(CallEngineTest, ARefusedKeyEndsAllThatWaitsForTheProvider) {
  submit(1);
  const auto first = calls().at(0).id;
  grant({permits({}, now)});
  submit(2);
  submit(3, 60s, "b");
  done(first, 401, "who are you");
  const auto ended = engine.take_ended();
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].context.id, 1u);
  EXPECT_EQ(ended[1].context.id, 2u);
  for (const auto& one : ended) EXPECT_EQ(one.error->reason, Reason::key_refused);
  submit(4);
  EXPECT_EQ(only_end().error->reason, Reason::key_refused) << "later ones, too";
  EXPECT_EQ(calls().size(), 1u) << "the other provider's";
}

TEST_F(CallEngineTest, WithoutAKeyOrAProviderNothingIsCalled) {
  CallEngine keyless(settings, {.credentials = {}, .concurrency = 4});
  FakeRequest known;
  FakeRequest unknown("question", "nobody");
  keyless.submit(known, {9, 1}, now.now + 1min, now);
  keyless.submit(unknown, {9, 2}, now.now + 1min, now);
  const auto ended = keyless.take_ended();
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].error->reason, Reason::key_missing);
  EXPECT_EQ(ended[1].error->reason, Reason::internal_error);
}

TEST_F(CallEngineTest, NothingWaitsBeyondItsDeadline) {
  grant({permits({}, now)});
  submit(1, 5s);
  const auto waits = turn();
  EXPECT_EQ(waits.wake, now.now + 5s);
  pass(5s);
  turn();
  const auto ended = only_end();
  EXPECT_TRUE(ended.out_of_time);
  EXPECT_EQ(ended.error->reason, Reason::timed_out);
  EXPECT_EQ(ended.spend.waited_permit_ms, 5000u);
}

// Nobody saw that a call hung, nor afterwards how many had.
TEST_F(CallEngineTest, TheCoordinatorLearnsHowLongTheOldestCallIsOutAndHowManyTimedOut) {
  const auto demand_now = [&] {
    engine.want_demand();
    const auto demand = turn().demand;
    EXPECT_TRUE(demand);
    for (const auto& one : demand.value_or(DemandChanged{}).demands) {
      if (one.provider == "a") return one;
    }
    return wire::Demand{};
  };
  EXPECT_EQ(demand_now().oldest_ms, 0u) << "none is out";
  submit(1);
  const auto hangs = calls().at(0).id;
  pass(20s);
  submit(2);
  const auto second = calls().at(0).id;
  pass(10s);
  EXPECT_EQ(demand_now().oldest_ms, 30'001u);
  HttpDone timed_out;
  timed_out.id = hangs;
  timed_out.started = true;
  timed_out.failure = HttpFailure{HttpFailure::Kind::timed_out, "no answer within 30 s"};
  engine.on_done(timed_out, now, {});
  const auto then = demand_now();
  EXPECT_EQ(then.oldest_ms, 10'001u);
  EXPECT_EQ(then.outcomes.timed_out, 1u);
  done(second, 200);
  EXPECT_EQ(demand_now().outcomes.timed_out, 0u) << "each is said once";
}

// A server that names a delay each time uses up the case, and its words were nowhere.
TEST_F(CallEngineTest, WhatWasRefusedUntilItsTimeWasSpentSaysTheServersWords) {
  submit(1, 5s);
  const auto first = calls().at(0).id;
  done(first, 429, "slow down");
  grant({permits({}, now)});
  pass(4s);
  turn();
  EXPECT_TRUE(engine.take_ended().empty());
  pass(1s);
  turn();
  const auto ended = only_end();
  EXPECT_TRUE(ended.out_of_time);
  ASSERT_TRUE(ended.error);
  EXPECT_EQ(ended.error->reason, Reason::rate_limited);
  EXPECT_NE(ended.error->message.find("slow down"), std::string::npos) << ended.error->message;
  EXPECT_TRUE(ended.error->message.ends_with("; the time of the case was spent waiting"))
      << ended.error->message;
}

TEST_F(CallEngineTest, AnEntryOfAnotherCacheIsSoughtFirst) {
  const EntryKey key{EntryKind::answer, sha256("q")};
  auto& request = submit(1, 60s, "a", key);
  const auto sought = turn();
  EXPECT_TRUE(sought.calls.empty());
  ASSERT_EQ(sought.entries.size(), 1u);
  EXPECT_EQ(std::get<wire::Seek>(sought.entries[0]).keys, std::vector{key});
  EXPECT_TRUE(engine.on_entry({key, "lent"}, now).empty());
  const auto ended = only_end();
  EXPECT_TRUE(ended.lent);
  EXPECT_FALSE(ended.error);
  EXPECT_EQ(ended.spend, Spend{});
  EXPECT_EQ(request.answer, "lent");
}

TEST_F(CallEngineTest, WhatIsNotLentOrDoesNotFitIsCalledFor) {
  const EntryKey none{EntryKind::answer, sha256("none")};
  const EntryKey damaged{EntryKind::answer, sha256("damaged")};
  submit(1, 60s, "a", none);
  submit(2, 60s, "a", damaged);
  engine.on_entry({none, ""}, now);
  engine.on_entry({damaged, "damaged"}, now);
  const auto next = turn();
  EXPECT_EQ(next.calls.size(), 2u);
  ASSERT_EQ(next.problems.size(), 1u);
  EXPECT_EQ(next.problems[0].message, "it is damaged; it is paid for instead");
}

TEST_F(CallEngineTest, WhatOthersSoughtIsTheirs) {
  const EntryKey key{EntryKind::embedding, sha256("text")};
  engine.entries().seek(key, {3, 4});
  EXPECT_EQ(engine.on_entry({key, "vector"}, now), (std::vector<CallContext>{{3, 4}}));
  EXPECT_TRUE(engine.on_entry({key, "vector"}, now).empty());
}

TEST_F(CallEngineTest, WithAReadOnlyOrNoCacheNothingIsSought) {
  auto of_run = settings;
  of_run.write_cache = false;
  CallEngine other(of_run, config());
  other.on_budget(granted({unlimited("a")}, now), now);
  FakeRequest request;
  other.submit(request, {9, 1}, now.now + 1min, now, EntryKey{EntryKind::answer, sha256("q")});
  other.start(now);
  const auto next = other.turn(now, {4, 0, ""});
  EXPECT_TRUE(next.entries.empty());
  EXPECT_EQ(next.calls.size(), 1u);
}

TEST_F(CallEngineTest, TheDemandNamesWhatWaitsHereAndWhatASearchIsFor) {
  auto searched = permits({}, now);
  searched.unlimited = true;
  searched.searched = true;
  searched.places = 2;
  searched.pause_ms = 1000;
  grant({searched});
  turn();
  submit(1);
  submit(2);
  engine.want_demand();
  const auto next = turn({6, 30, "a"});
  ASSERT_TRUE(next.demand);
  EXPECT_EQ(next.demand->concurrency, 6u);
  EXPECT_EQ(next.demand->run_id, "run-1");
  EXPECT_EQ(next.demand->received_us, static_cast<std::uint64_t>(now.boot.count()));
  ASSERT_EQ(next.demand->demands.size(), 2u);
  EXPECT_EQ(next.demand->demands[0].ready_calls, 32u);
  EXPECT_EQ(next.demand->demands[1].ready_calls, 0u);
  EXPECT_EQ(engine.searched_places(), 2u);
}

TEST_F(CallEngineTest, TheCallLogNamesProviderRequestTryAndPermit) {
  auto logging = config();
  logging.log_calls = true;
  CallEngine logged(settings, logging);
  logged.on_budget(granted({unlimited("a")}, now), now);
  FakeRequest request;
  logged.submit(request, {9, 1}, now.now + 1min, now);
  logged.start(now);
  EXPECT_EQ(logged.turn(now, {4, 0, ""}).calls.at(0).log_members,
            R"("provider":"a","fake":1,"attempt":1,"permit":null)");
}

TEST_F(CallEngineTest, ACallThatIsNotUnderWayCanBeWithdrawn) {
  FakeRequest request;
  const auto id = engine.submit(request, {9, 1}, now.now + 1min, now);
  const auto made = calls();
  EXPECT_FALSE(engine.withdraw(id)) << "it is on its way";
  done(made.at(0).id, 500, "oops");
  EXPECT_TRUE(engine.withdraw(id));
  EXPECT_FALSE(engine.withdraw(id));
  pass(1min);
  EXPECT_TRUE(calls().empty());
  EXPECT_TRUE(engine.take_ended().empty());
}

TEST_F(CallEngineTest, RetriesCanBeEnded) {
  std::vector<FakeRequest> asked(3);
  for (auto& request : asked) engine.submit(request, {9, 1}, now.now + 1min, now);
  const auto made = calls();
  ASSERT_EQ(made.size(), 3u);
  done(made[0].id, 500, "oops");
  FakeRequest untried;
  auto none = unlimited("a");
  none.places = 2;
  grant({none});
  const auto waiting = engine.submit(untried, {9, 2}, now.now + 1min, now);
  engine.end_retries();
  const auto ended = engine.take_ended();
  ASSERT_EQ(ended.size(), 1u) << "neither what is on its way nor what was never tried";
  ASSERT_TRUE(ended[0].error);
  EXPECT_EQ(ended[0].error->message, "oops; it was not tried again, for the run was about to end");
  EXPECT_EQ(ended[0].spend.calls, 1u);
  EXPECT_TRUE(engine.withdraw(waiting));
}

TEST_F(CallEngineTest, CancelDropsEverythingAndNamesWhatIsInFlight) {
  submit(1);
  const auto first = calls().at(0).id;
  grant({permits({}, now)});
  submit(2);
  turn();
  EXPECT_EQ(engine.cancel(), std::vector<CallId>{first});
  done(first, 200);
  pass(10min);
  EXPECT_TRUE(calls().empty());
  EXPECT_TRUE(engine.take_ended().empty());
}

TEST_F(CallEngineTest, WhatAnErrorQuotesOfAResponseIsRedacted) {
  const std::vector<RedactionPattern> patterns{{"mail", "[a-z]+@[a-z]+\\.io"}};
  auto with_redactor = config();
  with_redactor.redactor = *Redactor::make(patterns);
  CallEngine careful(settings, std::move(with_redactor));
  careful.on_budget(granted({unlimited("a")}, now), now);
  FakeRequest request;
  careful.submit(request, {9, 1}, now.now + 60s, now, std::nullopt);
  careful.on_time(now);
  careful.start(now);
  const auto begun = careful.turn(now, {4, 0, ""});
  ASSERT_EQ(begun.calls.size(), 1u);
  HttpDone done;
  done.id = begun.calls[0].id;
  done.response = {400, {}, "no such user: jane@home.io"};
  careful.on_done(done, now, {});
  const auto ended = careful.take_ended();
  ASSERT_EQ(ended.size(), 1u);
  ASSERT_TRUE(ended[0].error);
  EXPECT_EQ(ended[0].error->message, "no such user: [redacted mail]");
}

TEST(CallEngineOfAProgram, TakesItsKeyOutOfItsErrorsBeforeTheyAreShortened) {
  const std::string key = "sk-ABCDEFGHIJ-0123456789-abcdefghij";
  RunSettings settings = two_providers();
  settings.providers[0].kind = ProviderKind::exec;
  const Moment now = moment_at(0s);
  for (std::size_t after = 0; after <= defaults::quoted_error_bytes + key.size(); ++after) {
    CallEngine engine(settings, {.credentials = {{"a", Credentials(key)}}, .random_seed = 7});
    engine.on_budget(granted({unlimited("a")}, now), now);
    FakeRequest request;
    engine.submit(request, {9, 1}, now.now + 60s, now, std::nullopt);
    engine.on_time(now);
    engine.start(now);
    const auto begun = engine.turn(now, {4, 0, ""});
    ASSERT_EQ(begun.calls.size(), 1u);
    HttpDone done;
    done.id = begun.calls[0].id;
    done.failure = HttpFailure{HttpFailure::Kind::too_large, "the program \"p\" wrote too much",
                               "key " + key + std::string(after, '.')};
    engine.on_done(done, now, {});
    const auto ended = engine.take_ended();
    ASSERT_EQ(ended.size(), 1u);
    ASSERT_TRUE(ended[0].error);
    EXPECT_EQ(ended[0].error->message.find("abcdefghij"), std::string::npos) << ended[0].error->message;
  }
}

}  // namespace call_engine_test
}  // namespace sluice
