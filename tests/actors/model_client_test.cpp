#include "tests/actors/model_client_fixture.hpp"

namespace sluice {
namespace {

TEST_F(ModelClientTest, AMissIsCalledForAndThenAHit) {
  start(true);
  complete(1);
  const auto made = calls();
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].request.url, "http://127.0.0.1:1/v1/chat/completions");
  EXPECT_EQ(made[0].connect_timeout, 10s);
  EXPECT_EQ(made[0].total_timeout, 120s);
  EXPECT_EQ(made[0].max_body, std::size_t{8} << 20);
  pass(40ms);
  answer_claims(made[0].id);
  const auto done = only_outcome();
  EXPECT_EQ(std::get<Completion>(done.outcome).text, no_claims);
  EXPECT_EQ(done.spend, (Spend{1, 0, 0, false, {10, 5}, 40}));

  complete(1);
  EXPECT_TRUE(calls().empty());
  const auto hit = only_outcome();
  EXPECT_EQ(std::get<Completion>(hit.outcome), std::get<Completion>(done.outcome));
  EXPECT_EQ(hit.spend, (Spend{0, 0, 0, true, {}, 0}));
}

TEST_F(ModelClientTest, RefreshCallsAllTheSameAndReplaces) {
  start(true);
  complete(1);
  answer_claims(only_call());
  settings.read_cache = false;
  restart();
  complete(1);
  answer_claims(only_call(), R"({\"claims\": []})");
  EXPECT_EQ((*store->find_answer(unit(1)->key))->text, R"({"claims": []})");
}

TEST_F(ModelClientTest, WithoutCacheNothingIsStored) {
  settings.write_cache = false;
  start(true);
  complete(1);
  answer_claims(only_call());
  EXPECT_FALSE(store->find_answer(unit(1)->key)->has_value());
}

TEST_F(ModelClientTest, CachedModeNeverCalls) {
  settings.mode = Mode::cached;
  start(true);
  complete(1);
  EXPECT_EQ(reason_of(only_outcome()), Reason::cache_miss);
  pass(2s);
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientTest, CachedModeSaysOfAnAnswerThatIsNotThePinnedOneWhatToDo) {
  start(true);
  complete(1);
  end_calls({answered_claims(only_call())});
  only_outcome();
  settings.mode = Mode::cached;
  restart();
  WorkUnit pinned = *unit(1);
  pinned.pinned_answer = sha256("replaced by a --refresh");
  complete({std::make_shared<const WorkUnit>(std::move(pinned))});
  const auto done = only_outcome();
  ASSERT_EQ(reason_of(done), Reason::cache_miss);
  const std::string message = std::get<Error>(done.outcome).message;
  EXPECT_NE(message.find("holds another answer"), std::string::npos) << message;
  EXPECT_NE(message.find("--resume RUN"), std::string::npos) << message;
}

TEST_F(ModelClientTest, MockModeAnswersWithNoClaims) {
  settings.mode = Mode::mock;
  start();
  complete(1);
  EXPECT_EQ(std::get<Completion>(only_outcome().outcome).text, no_claims);
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientTest, RetriesAfterABackOff) {
  start();
  complete(1);
  answer(only_call(), 500, "oops");
  EXPECT_TRUE(outcomes().empty());
  pass(500ms);
  answer_claims(only_call());
  const auto done = only_outcome();
  EXPECT_TRUE(std::holds_alternative<Completion>(done.outcome));
  EXPECT_EQ(done.spend.calls, 2u);
  EXPECT_EQ(done.spend.retries, 1u);
  EXPECT_EQ(done.spend.latency_ms, 1u) << "of the try that was answered";
}

TEST_F(ModelClientTest, GivesUpWhenTheRetriesAreSpent) {
  start();
  complete(1);
  for (int call = 0; call < 6; ++call) {
    answer(only_call(), 503, "busy");
    pass(16s);
  }
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::provider_failed);
  EXPECT_NE(std::get<Error>(done.outcome).message.find("6 calls"), std::string::npos);
  EXPECT_EQ(done.spend.calls, 6u);
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientTest, FatalAnswersAreNotRetried) {
  start();
  complete(1);
  answer(only_call(), 401, "{}");
  EXPECT_EQ(reason_of(only_outcome()), Reason::key_refused);
  pass(5s);
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientTest, NoCallStartsBeforeTheTimeThatTheServerNamed) {
  start();
  for (UnitId id = 1; id <= 3; ++id) complete(id);
  const auto first = calls();
  ASSERT_EQ(first.size(), 3u);
  answer(first[0].id, 429, "slow down", {{"retry-after", "7"}});
  const auto told = demands();
  ASSERT_EQ(told.size(), 1u) << "at once";
  EXPECT_EQ(told[0].provider, "openai");
  EXPECT_EQ(told[0].pause_ms, 7000u);
  answer(first[1].id, 500, "its own back-off is shorter");
  answer_claims(first[2].id);
  complete(4);
  pass(6999ms);
  EXPECT_TRUE(calls().empty()) << "neither the one that was refused nor any other";
  pass(1ms);
  EXPECT_EQ(calls().size(), 3u);
}

TEST_F(ModelClientTest, ANamedDelaySpendsNoAttempt) {
  start();
  complete(1);
  for (int i = 0; i < 20; ++i) {
    answer(only_call(), 429, "slow down", {{"retry-after", "1"}});
    pass(1s);
  }
  answer_claims(only_call());
  const auto done = only_outcome();
  EXPECT_TRUE(std::holds_alternative<Completion>(done.outcome));
  EXPECT_EQ(done.spend.rate_limited, 20u);
}

TEST_F(ModelClientTest, APauseOfTheGovernorIsKeptUntilItSaysOtherwise) {
  start();
  budget(true, {paused(3000)});
  complete(1);
  pass(1s);
  budget(true, {paused(2000)});
  pass(1s);
  budget(true, {paused(500)});
  pass(499ms);
  EXPECT_TRUE(calls().empty());
  pass(1ms);
  only_call();
}

TEST_F(ModelClientTest, WhoIsCutOffStartsNoCall) {
  start();
  complete(1);
  const auto in_flight = only_call();
  budget(false);
  complete(2);
  answer(in_flight, 500, "oops");
  pass(30s);
  EXPECT_TRUE(calls().empty());
  EXPECT_TRUE(outcomes().empty());
  budget(true, {unlimited()});
  EXPECT_EQ(calls().size(), 2u);
}

TEST_F(ModelClientTest, ACaseThatPausesHoldBeyondItsTimeEnds) {
  settings.case_timeout = 10s;
  start();
  budget(true, {paused(9'000)});
  complete(1);
  pass(5s);
  budget(true, {paused(9'000)});
  pass(4999ms);
  EXPECT_TRUE(outcomes().empty());
  pass(1ms);
  EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientTest, ANamedDelayBeyondTheCasesTimeEndsItAtOnce) {
  settings.case_timeout = 10s;
  start();
  complete(1);
  pass(4s);
  answer(only_call(), 429, "later", {{"retry-after", "6"}});
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::rate_limited);
  EXPECT_NE(std::get<Error>(done.outcome).message.find("time of the case"), std::string::npos);
}

TEST_F(ModelClientTest, ACallGetsNoMoreTimeThanTheCaseHasLeft) {
  settings.case_timeout = 10s;
  start();
  complete(1);
  const auto first = calls();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].total_timeout, 10s);
  pass(4s);
  answer(first[0].id, 429, "later", {{"retry-after", "2"}});
  pass(2s);
  EXPECT_EQ(calls().at(0).total_timeout, 4s);
}

TEST_F(ModelClientTest, CancelEndsAllCallsAndAnswersNobody) {
  start();
  for (UnitId id = 1; id <= 3; ++id) complete(id);
  const auto made = calls();
  answer(made[0].id, 503, "busy");
  caf::anon_send(client, CancelCalls{});
  settle();
  EXPECT_EQ(http.take<HttpCancel>().size(), 2u) << "the third waits for its retry";
  answer_claims(made[1].id);
  fail_call(made[2].id, HttpFailure::Kind::cancelled);
  pass(5s);
  EXPECT_TRUE(outcomes().empty());
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientTest, AProviderThatNeverAnsweredIsUnreachable) {
  settings.max_retries = 1;
  for (const auto kind : {HttpFailure::Kind::could_not_connect, HttpFailure::Kind::could_not_resolve,
                          HttpFailure::Kind::other}) {
    start();
    complete(1);
    fail_call(only_call(), kind);
    pass(1s);
    fail_call(only_call(), kind);
    EXPECT_EQ(reason_of(only_outcome()), Reason::provider_unreachable);
  }
}

// A base URL with https:// for a server of plain HTTP was tried until the tries or the case's time were
// spent.
TEST_F(ModelClientTest, AProviderWithoutTlsIsUnreachableAtOnce) {
  settings.max_retries = 1;
  start();
  complete(1);
  fail_call(only_call(), HttpFailure::Kind::no_tls);
  EXPECT_EQ(reason_of(only_outcome()), Reason::provider_unreachable);
  complete(2);
  answer_claims(only_call());
  outcomes();
  complete(3);
  fail_call(only_call(), HttpFailure::Kind::no_tls);
  pass(1s);
  fail_call(only_call(), HttpFailure::Kind::no_tls);
  EXPECT_EQ(reason_of(only_outcome()), Reason::connection_lost) << "it has answered: something is in its way";
}

// Of nine tests one had the only temperature that the model takes: the others were refused one by one.
TEST_F(ModelClientTest, ATemperatureThatTheModelTookIsRefusedOfOneRequest) {
  start();
  const auto refuses = [&](UnitId id, double temperature) {
    WorkUnit work = *unit(id);
    work.request.temperature = temperature;
    complete({std::make_shared<const WorkUnit>(std::move(work))});
    answer(only_call(), 400,
           R"({"error":{"message":"Unsupported value: 'temperature'","type":"invalid_request_error",)"
           R"("param":"temperature","code":"unsupported_value"}})");
    return reason_of(only_outcome());
  };
  WorkUnit first = *unit(1);
  first.request.temperature = 1;
  complete({std::make_shared<const WorkUnit>(std::move(first))});
  answer_claims(only_call());
  outcomes();
  EXPECT_EQ(refuses(2, 0.3), Reason::parameter_refused);
  EXPECT_EQ(refuses(3, 1), Reason::request_refused) << "something else of it does not go with that";
}

// Such a server was called six times a case, and unreachable in the end.
TEST_F(ModelClientTest, AnAnswerInAnUnaskedEncodingIsNotAskedForAgain) {
  start();
  complete(1);
  fail_call(only_call(), HttpFailure::Kind::unasked_encoding);
  const auto first = only_outcome();
  EXPECT_EQ(reason_of(first), Reason::provider_unreachable) << "each other answer would be in it, too";
  EXPECT_EQ(std::get<Error>(first.outcome).message, "it broke") << "it was reached";
  start();
  complete(1);
  answer_claims(only_call());
  outcomes();
  complete(2);
  fail_call(only_call(), HttpFailure::Kind::unasked_encoding);
  EXPECT_EQ(reason_of(only_outcome()), Reason::provider_failed) << "one of many";
  EXPECT_TRUE(calls().empty());
}

// Each case would wait in vain through all of its calls. One alone may be slower than the others.
TEST_F(ModelClientTest, AProviderThatNeverAnsweredTwoCasesInTimeIsUnreachable) {
  settings.max_retries = 1;
  start();
  const auto time_out = [this] {
    fail_call(only_call(), HttpFailure::Kind::timed_out);
    pass(1s);
    fail_call(only_call(), HttpFailure::Kind::timed_out);
    return only_outcome();
  };
  complete(1);
  EXPECT_EQ(reason_of(time_out()), Reason::timed_out);
  complete(2);
  const auto second = time_out();
  EXPECT_EQ(reason_of(second), Reason::provider_unreachable);
  EXPECT_NE(std::get<Error>(second.outcome).message.find("--request-timeout"), std::string::npos);
}

TEST_F(ModelClientTest, ACallThatHadLittleTimeLeftSaysNothingOfItsProvider) {
  settings.max_retries = 0;
  settings.request_timeout = 10s;
  settings.case_timeout = 9s;
  start();
  for (const UnitId id : {1u, 2u, 3u}) {
    complete(id);
    const auto made = calls();
    ASSERT_EQ(made.size(), 1u);
    EXPECT_EQ(made[0].total_timeout, 9s);
    fail_call(made[0].id, HttpFailure::Kind::timed_out);
    EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  }
}

TEST_F(ModelClientTest, AProviderThatHasAnsweredIsNotUnreachable) {
  settings.max_retries = 0;
  start();
  complete(1);
  answer(only_call(), 400, "bad request");
  EXPECT_EQ(reason_of(only_outcome()), Reason::request_refused);
  complete(2);
  fail_call(only_call(), HttpFailure::Kind::could_not_connect);
  EXPECT_EQ(reason_of(only_outcome()), Reason::connection_lost);
}

TEST_F(ModelClientTest, FailuresHaveTheirReasons) {
  settings.max_retries = 0;
  start();
  complete(1);
  answer_claims(only_call());  // It is reachable.
  outcomes();
  const std::vector<std::pair<HttpFailure::Kind, Reason>> reasons{
      {HttpFailure::Kind::timed_out, Reason::timed_out},
      {HttpFailure::Kind::connection_lost, Reason::connection_lost},
      {HttpFailure::Kind::too_large, Reason::answer_too_large},
  };
  for (const auto& [kind, reason] : reasons) {
    complete(1);
    fail_call(only_call(), kind);
    EXPECT_EQ(reason_of(only_outcome()), reason);
  }
}

TEST_F(ModelClientTest, AnAnswerThatCannotBeReadIsAnOutcomeAndNoAnswer) {
  start(true);
  complete(1);
  answer_claims(only_call(), "I see no problem.");
  const auto done = only_outcome();
  const auto& completion = std::get<Completion>(done.outcome);
  ASSERT_TRUE(completion.non_answer);
  EXPECT_EQ(completion.non_answer->reason, Reason::unparsable_answer);
  EXPECT_EQ(completion.text, "I see no problem.");
  EXPECT_EQ(done.spend.paid, (PaidTokens{10, 5, 0})) << "it was paid for";

  complete(1);
  only_call();  // A live run asks again.
  settings.mode = Mode::cached;
  restart();
  complete(1);
  const auto replayed = only_outcome();
  ASSERT_TRUE(std::get<Completion>(replayed.outcome).non_answer);
  EXPECT_EQ(std::get<Completion>(replayed.outcome).non_answer->reason, Reason::unparsable_answer);
  EXPECT_TRUE(replayed.spend.cache_hit);
}

// Each waiting call once set a timer of its own, and each timer that fired set one for each call that still
// waited: their number doubled with every back-off.
TEST_F(ModelClientTest, ManyBackOffsTakeFewTurns) {
  start();
  constexpr UnitId units = 60;
  for (UnitId id = 0; id < units; ++id) complete(id);
  for (const auto& call : calls()) answer(call.id, 503, "busy");
  const auto turns = pass(501ms);
  EXPECT_EQ(calls().size(), units);
  EXPECT_LE(turns, 6 * units);
}

TEST_F(ModelClientTest, AnUnknownProviderOrAMissingKeyIsAnErrorOfTheUnit) {
  settings.providers.push_back(settings.providers[0]);
  settings.providers[1].name = "keyless";
  start();
  const std::vector<std::pair<std::string, Reason>> expected{{"nobody", Reason::internal_error},
                                                             {"keyless", Reason::key_missing}};
  for (const auto& [provider, reason] : expected) {
    auto work = *unit(1);
    work.request.provider = provider;
    complete({std::make_shared<const WorkUnit>(std::move(work))});
    EXPECT_EQ(reason_of(only_outcome()), reason);
  }
  complete(2);
  only_call();  // It goes on.
}

TEST_F(ModelClientTest, WhatOneMessageBringsAboutGoesOnTogether) {
  start(true);
  complete({unit(1), unit(2), unit(3), unit(4)});
  ASSERT_EQ(http.got<HttpCalls>().size(), 1u);
  const auto made = calls();
  ASSERT_EQ(made.size(), 4u);
  end_calls({answered_claims(made[2].id), answered(made[1].id, 503, "busy"), answered(made[3].id, 400, "no"),
             answered_claims(made[0].id)});
  EXPECT_EQ(worker.got<UnitsCompleted>().size(), 1u);
  const auto done = outcomes();
  ASSERT_EQ(done.size(), 3u) << "one waits for its retry";
  EXPECT_EQ(done[0].unit->unit, 3u);
  EXPECT_EQ(done[1].unit->unit, 4u);
  EXPECT_EQ(reason_of(done[1]), Reason::request_refused);
  EXPECT_EQ(done[2].unit->unit, 1u);
  for (const UnitId id : {1u, 3u}) EXPECT_TRUE(store->find_answer(unit(id)->key)->has_value()) << id;
  for (const UnitId id : {2u, 4u}) EXPECT_FALSE(store->find_answer(unit(id)->key)->has_value()) << id;

  // Hits, and calls for the rest.
  complete({unit(1), unit(3), unit(5)});
  EXPECT_EQ(worker.got<UnitsCompleted>().size(), 1u);
  EXPECT_EQ(outcomes().size(), 2u);
  only_call();
}

TEST_F(ModelClientTest, WhatCannotBeStoredIsNoAnswer) {
  {
    auto made = AnswerCache::open(folder_.path() / "cache");
    ASSERT_TRUE(made) << made.error().message;
  }
  auto cache = AnswerCache::open_read_only(folder_.path() / "cache");
  ASSERT_TRUE(cache) << cache.error().message;
  store = std::make_shared<AnswerStore>(std::move(*cache), std::vector<AnswerCache>());
  restart();
  complete({unit(1), unit(2)});
  const auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  end_calls({answered_claims(made[0].id), answered(made[1].id, 400, "no")});
  const auto done = outcomes();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(reason_of(done[0]), Reason::cache_failed);
  EXPECT_EQ(done[0].spend.paid, (PaidTokens{10, 5, 0})) << "it was paid for";
  EXPECT_EQ(reason_of(done[1]), Reason::request_refused);
}

}  // namespace
}  // namespace sluice
