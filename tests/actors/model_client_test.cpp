// What is called for, what comes from the cache and goes into it, and what is handed out together.
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
