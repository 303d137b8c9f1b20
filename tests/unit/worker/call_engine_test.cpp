// The engine by itself: requests of a kind that sluice does not know, on a clock of the test's.
#include "worker/calls/call_engine.hpp"

#include "tests/unit/worker/fake_request.hpp"
#include "worker/defaults.hpp"

#include <deque>

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct CallEngineTest : testing::Test {
  CallEngineTest() { grant({unlimited("a"), unlimited("b")}); }

  CallEngineConfig config() const {
    return {.credentials = {{"a", "key-a"}, {"b", "key-b"}},
            .random_seed = 7,
            .has_cache = true,
            .concurrency = 4};
  }
  void grant(std::vector<wire::Grant> grants) { engine.on_budget(granted(std::move(grants), now), now); }
  static wire::Grant permits(std::vector<std::uint64_t> ids, const Moment& at) {
    wire::Grant grant;
    grant.provider = "a";
    const auto us = static_cast<std::uint64_t>(at.boot.count());
    for (const auto id : ids) grant.permits.push_back({id, us - 1000, us + 50'000, {}, false});
    return grant;
  }
  /// The request is the engine's until its end.
  FakeRequest& submit(std::uint64_t id, Duration time = 60s, std::string to = "a",
                      std::optional<EntryKey> held = std::nullopt) {
    auto& request = requests.emplace_back("question " + std::to_string(id), std::move(to));
    engine.submit(request, {9, id}, now.now + time, now, held);
    return request;
  }
  EngineTurn turn(const Backlog& backlog = {4, 0, ""}) {
    engine.on_time(now);
    engine.start(now);
    return engine.turn(now, backlog);
  }
  std::vector<HttpCall> calls() { return turn().calls; }
  void done(std::uint64_t id, int status, std::string body = "answer") {
    HttpDone done;
    done.id = id;
    done.response = {status, {}, std::move(body)};
    engine.on_done(done, now, {});
  }
  CallEnded only_end() {
    auto ended = engine.take_ended();
    EXPECT_EQ(ended.size(), 1u);
    return ended.empty() ? CallEnded{} : std::move(ended[0]);
  }
  void pass(Duration time) {
    now = {now.now + time, now.boot + std::chrono::duration_cast<BootTime>(time)};
    engine.on_budget(granted({}, now), now);  // The coordinator answers all the while.
  }

  const RunSettings settings = two_providers();
  Moment now = moment_at(0s);
  CallEngine engine{settings, config()};
  std::deque<FakeRequest> requests;
};

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

TEST_F(CallEngineTest, WhyAProviderThatNeverAnswersFailsIsSaidOnce) {
  std::vector<CallProblem> problems;
  for (std::uint64_t failures = 1; failures <= 5; ++failures) {
    submit(failures);
    done(calls().at(0).id, 500, "no model is loaded");
    const auto said = turn().problems;
    EXPECT_EQ(said.size(), failures == 3 ? 1u : 0u) << "after failure " << failures;
    problems.insert(problems.end(), said.begin(), said.end());
  }
  ASSERT_EQ(problems.size(), 1u);
  const std::string& message = problems[0].message;
  EXPECT_NE(message.find("calls to provider \"a\" fail: "), std::string::npos) << message;
  EXPECT_NE(message.find("no model is loaded"), std::string::npos) << message;
  EXPECT_EQ(problems[0].provider, "a") << "the log's lines have it";
}

// The first calls of a run go out together. That a limit refused four of them was said here, and by the
// coordinator.
TEST_F(CallEngineTest, CallsThatAreRefusedTogetherAreOneFailure) {
  for (std::uint64_t id = 1; id <= 4; ++id) submit(id);
  std::vector<std::uint64_t> sent;
  for (const HttpCall& call : calls()) sent.push_back(call.id);
  ASSERT_EQ(sent.size(), 4u);
  for (int wave = 1; wave <= 3; ++wave) {
    for (const auto id : sent) done(id, 429, "limit of 10 tokens");
    EXPECT_EQ(turn().problems.size(), wave == 3 ? 1u : 0u) << "of wave " << wave;
    pass(8s);
    turn();
  }
}

TEST_F(CallEngineTest, WhyAnOutageBeganIsSaidAndStandsInWhatItEnds) {
  submit(1);
  done(calls().at(0).id, 200);
  submit(2);
  done(calls().at(0).id, 503, "out of memory");
  EXPECT_TRUE(turn().problems.empty()) << "one failure is nothing to tell";
  wire::Grant outage = permits({}, now);
  outage.hold = wire::HoldReason::outage;
  grant({outage});
  const auto said = turn().problems;
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].message.find("out of memory"), std::string::npos) << said[0].message;
  EXPECT_TRUE(turn().problems.empty());
  outage.hold = wire::HoldReason::given_up;
  engine.take_ended();
  grant({outage});
  const auto ended = only_end();
  ASSERT_TRUE(ended.error);
  EXPECT_NE(ended.error->message.find("out of memory"), std::string::npos) << ended.error->message;
}

// The last case waited for up to a minute at a provider that answered all others.
TEST_F(CallEngineTest, TheEndOfAnOutageEndsBackOffsButOfWhatFailsAlone) {
  const auto outage_comes_and_goes = [&] {
    auto outage = permits({}, now);
    outage.hold = wire::HoldReason::outage;
    grant({outage});
    EXPECT_TRUE(calls().empty());
    grant({unlimited("a")});
  };
  submit(1);
  const auto first = calls().at(0).id;
  done(first, 503, "down");
  outage_comes_and_goes();
  const auto again = calls();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id, first);
  done(first, 503, "down");
  submit(2);
  done(calls().at(0).id, 200);
  outage_comes_and_goes();
  EXPECT_TRUE(calls().empty()) << "another was answered meanwhile";
}

TEST_F(CallEngineTest, AProbeAfterLostCallsGoesByAConnectionOfItsOwn) {
  using Kind = HttpFailure::Kind;
  std::uint64_t permit = 0;
  const auto probe = [&] {
    auto outage = permits({++permit}, now);
    outage.hold = wire::HoldReason::outage;
    outage.permits[0].probe = true;
    grant({outage});
    return calls().at(0);
  };
  const auto lose = [&](std::uint64_t id, Kind kind) {
    HttpDone lost;
    lost.id = id;
    lost.started = kind != Kind::permit_expired;
    lost.failure = HttpFailure{kind, "gone"};
    engine.on_done(lost, now, {});
  };
  submit(1);
  lose(calls().at(0).id, Kind::timed_out);
  submit(2);
  auto next = probe();
  EXPECT_TRUE(next.fresh_connection);
  lose(next.id, Kind::permit_expired);
  next = probe();
  EXPECT_FALSE(next.fresh_connection) << "the one that took too long is there now";
  lose(next.id, Kind::connection_lost);
  next = probe();
  EXPECT_TRUE(next.fresh_connection);
  done(next.id, 503, "out of memory");
  EXPECT_FALSE(probe().fresh_connection) << "it answers, if only that it is down";
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

}  // namespace
}  // namespace sluice
