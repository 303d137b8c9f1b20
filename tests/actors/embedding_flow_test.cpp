// From an answer to the embeddings that it is compared by: the model client with a fake provider.
#include "common/model/cache_key.hpp"
#include "tests/actors/model_client_fixture.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Json = nlohmann::json;

class EmbeddingFlowTest : public ModelClientTest {
 protected:
  EmbeddingFlowTest() { settings.embedding = {"openai", "e-1"}; }

  /// A unit of free text whose answer is compared with the references.
  static SharedUnit compared(UnitId id, std::vector<std::string> references = {"reference"}) {
    ScoringTask task;
    task.texts = {{MetricId::semantic_similarity_to, std::move(references)}};
    return std::make_shared<const WorkUnit>(free_text(id, std::move(task)));
  }

  static bool is_embedding(const HttpCall& call) { return call.request.url.ends_with("/v1/embeddings"); }
  static std::vector<std::string> texts_of(const HttpCall& call) {
    EXPECT_TRUE(is_embedding(call)) << call.request.url;
    const auto body = Json::parse(call.request.body);
    EXPECT_EQ(body["model"], "e-1");
    return body["input"].get<std::vector<std::string>>();
  }
  /// The vector of a text is its length, and 1.
  static HttpDone embedded(const HttpCall& call) {
    Json data = Json::array();
    for (const auto& text : texts_of(call)) {
      data.push_back({{"index", data.size()}, {"embedding", {text.size(), 1}}});
    }
    return answered(call.id, 200, Json{{"data", data}, {"usage", {{"prompt_tokens", 30}}}}.dump());
  }
  HttpCall only_embedding_call() {
    auto made = calls();
    EXPECT_EQ(made.size(), 1u);
    if (made.empty()) return {};
    EXPECT_TRUE(is_embedding(made[0]));
    return made[0];
  }
  /// Brings a unit to its embedding call.
  HttpCall ask_and_answer(UnitId id, const std::string& text) {
    complete({compared(id)});
    end_calls({said(only_call(), text)});
    return only_embedding_call();
  }
  static std::vector<float> vector_of(const CompletedUnit& done, const std::string& text) {
    const auto found = done.evidence.embedded.find(text);
    return found == done.evidence.embedded.end() ? std::vector<float>() : *found->second;
  }
};

TEST_F(EmbeddingFlowTest, AnAnswerComesWithItsEmbeddings) {
  start();
  const auto call = ask_and_answer(1, "answer");
  EXPECT_TRUE(outcomes().empty());
  EXPECT_EQ(texts_of(call), (std::vector<std::string>{"reference", "answer"}));
  EXPECT_EQ(call.connect_timeout, 10s);
  pass(25ms);
  end_calls({embedded(call)});
  const auto done = only_outcome();
  EXPECT_EQ(std::get<Completion>(done.outcome).text, "answer");
  EXPECT_EQ(vector_of(done, "reference"), (std::vector<float>{9, 1}));
  EXPECT_EQ(vector_of(done, "answer"), (std::vector<float>{6, 1}));
  EXPECT_EQ(done.spend, (Spend{2, 0, 0, false, {10, 5, 30}, 1})) << "the tokens of both calls";
}

TEST_F(EmbeddingFlowTest, WhatComesTogetherIsEmbeddedTogether) {
  start();
  complete({compared(1), compared(2), compared(3)});
  const auto made = calls();
  ASSERT_EQ(made.size(), 3u);
  end_calls({said(made[0].id, "one"), said(made[1].id, "two"), said(made[2].id, "one")});
  const auto call = only_embedding_call();
  EXPECT_EQ(texts_of(call), (std::vector<std::string>{"reference", "one", "two"})) << "each text once";
  end_calls({embedded(call)});
  const auto done = outcomes();
  ASSERT_EQ(done.size(), 3u);
  std::uint32_t embedding_calls = 0;
  std::uint64_t tokens = 0;
  for (const auto& one : done) {
    EXPECT_EQ(one.evidence.embedded.size(), 2u);
    embedding_calls += one.spend.calls - 1;
    tokens += one.spend.paid.of(CallKind::embedding).input_tokens;
  }
  EXPECT_EQ(embedding_calls, 1u);
  EXPECT_EQ(tokens, 30u);
}

TEST_F(EmbeddingFlowTest, TextsGatherWhileACallIsUnderWay) {
  start();
  const auto first = ask_and_answer(1, "one");
  for (UnitId id = 2; id <= 3; ++id) {
    complete({compared(id)});
    end_calls({said(only_call(), "answer " + std::to_string(id))});
    EXPECT_TRUE(calls().empty());
  }
  end_calls({embedded(first)});
  EXPECT_EQ(only_outcome().unit->unit, 1u);
  const auto second = only_embedding_call();
  EXPECT_EQ(texts_of(second), (std::vector<std::string>{"answer 2", "answer 3"})) << "the reference is known";
  end_calls({embedded(second)});
  EXPECT_EQ(outcomes().size(), 2u);
}

TEST_F(EmbeddingFlowTest, AFailedCallIsRetriedLikeAnyOther) {
  start();
  const auto first = ask_and_answer(1, "answer");
  answer(first.id, 500, "oops");
  EXPECT_TRUE(calls().empty());
  pass(500ms);
  const auto second = only_embedding_call();
  end_calls({embedded(second)});
  const auto done = only_outcome();
  EXPECT_TRUE(std::holds_alternative<Completion>(done.outcome));
  EXPECT_EQ(done.spend.calls, 3u);
  EXPECT_EQ(done.spend.retries, 1u);
}

TEST_F(EmbeddingFlowTest, ARateLimitPausesEmbeddingsAndAnswersAlike) {
  start();
  const auto call = ask_and_answer(1, "answer");
  answer(call.id, 429, "slow down", {{"retry-after", "7"}});
  EXPECT_EQ(demands().at(0).pause_ms, 7000u);
  complete({compared(2)});
  pass(6999ms);
  EXPECT_TRUE(calls().empty());
  pass(1ms);
  const auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  EXPECT_NE(is_embedding(made[0]), is_embedding(made[1]));
  end_calls({embedded(is_embedding(made[0]) ? made[0] : made[1])});
  EXPECT_EQ(only_outcome().spend.rate_limited, 1u);
}

TEST_F(EmbeddingFlowTest, AFailureIsAnErrorWithItsReason) {
  settings.max_retries = 0;
  start();
  const std::vector<std::pair<std::string, Reason>> cases = {
      {"{}", Reason::provider_failed},
      {R"({"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[0,0]}]})", Reason::provider_failed}};
  UnitId id = 1;
  for (const auto& [body, reason] : cases) {
    const auto call = ask_and_answer(id++, "answer");
    answer(call.id, 200, body);
    const auto done = only_outcome();
    EXPECT_EQ(reason_of(done), reason);
    EXPECT_NE(std::get<Error>(done.outcome).message.find("embedding"), std::string::npos);
  }
  const auto lost = ask_and_answer(id++, "answer");
  fail_call(lost.id, HttpFailure::Kind::timed_out);
  EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  const auto refused = ask_and_answer(id++, "answer");
  answer(refused.id, 401, "{}");
  EXPECT_EQ(reason_of(only_outcome()), Reason::key_refused);
}

TEST_F(EmbeddingFlowTest, ARefusedTextFailsNobodyElse) {
  start();
  complete({compared(1), compared(2), compared(3)});
  const auto made = calls();
  end_calls({said(made[0].id, "one"), said(made[1].id, "too long"), said(made[2].id, "three")});
  std::map<UnitId, bool> served;
  for (auto open = calls(); !open.empty(); open = calls()) {
    for (const auto& call : open) {
      const auto texts = texts_of(call);
      const bool refused = std::ranges::find(texts, "too long") != texts.end();
      end_calls({refused ? answered(call.id, 400, R"({"error":{"message":"too long"}})") : embedded(call)});
    }
    for (const auto& done : outcomes()) {
      served[done.unit->unit] = std::holds_alternative<Completion>(done.outcome);
      if (!served[done.unit->unit]) {
        EXPECT_EQ(reason_of(done), Reason::request_refused);
      }
    }
  }
  EXPECT_EQ(served, (std::map<UnitId, bool>{{1, true}, {2, false}, {3, true}}));
}

TEST_F(EmbeddingFlowTest, CachedModeReplaysAnswerAndEmbeddings) {
  start(true);
  end_calls({embedded(ask_and_answer(1, "answer"))});
  const auto live = only_outcome();
  settings.mode = Mode::cached;
  restart();
  complete({compared(1)});
  EXPECT_TRUE(calls().empty());
  const auto replayed = only_outcome();
  EXPECT_EQ(vector_of(replayed, "answer"), vector_of(live, "answer"));
  EXPECT_EQ(vector_of(replayed, "reference"), vector_of(live, "reference"));
  EXPECT_EQ(replayed.spend, (Spend{0, 0, 0, true, {}, 0}));
}

TEST_F(EmbeddingFlowTest, CachedModeNamesTheEmbeddingThatIsMissing) {
  start(true);
  end_calls({embedded(ask_and_answer(1, "answer"))});
  only_outcome();
  settings.mode = Mode::cached;
  settings.embedding.model = "another";
  restart();
  complete({compared(1)});
  EXPECT_TRUE(calls().empty());
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::cache_miss);
  EXPECT_EQ(std::get<Error>(done.outcome).message,
            "the cache does not hold the embedding of \"reference\" by another");
}

TEST_F(EmbeddingFlowTest, APaidAnswerIsKeptWhenItsEmbeddingFails) {
  start(true);
  const auto call = ask_and_answer(1, "answer");
  answer(call.id, 400, "{}");
  while (const auto halved = calls().size()) EXPECT_EQ(halved, 2u) << "one for each text";
  restart();
  complete({compared(1)});
  const auto again = only_embedding_call();
  end_calls({embedded(again)});
  const auto done = outcomes().back();
  EXPECT_TRUE(done.spend.cache_hit);
  EXPECT_EQ(std::get<Completion>(done.outcome).text, "answer");
}

TEST_F(EmbeddingFlowTest, ALiveRunTakesStoredEmbeddingsAndARefreshRenewsThem) {
  start(true);
  end_calls({embedded(ask_and_answer(1, "answer"))});
  only_outcome();
  restart();
  complete({compared(2)});
  end_calls({said(only_call(), "answer")});
  EXPECT_EQ(only_outcome().evidence.embedded.size(), 2u) << "both texts are in the cache";
  settings.read_cache = false;
  restart();
  EXPECT_EQ(texts_of(ask_and_answer(3, "answer")).size(), 2u);
}

TEST_F(EmbeddingFlowTest, WithoutACacheNothingIsStored) {
  settings.write_cache = false;
  start(true);
  end_calls({embedded(ask_and_answer(1, "answer"))});
  EXPECT_TRUE(std::holds_alternative<Completion>(only_outcome().outcome));
  EXPECT_FALSE(store->find_embedding(embedding_key(settings.providers[0], "e-1", "answer"))->has_value());
}

TEST_F(EmbeddingFlowTest, TheBuiltInEmbedderAndMockModeMakeNoCall) {
  settings.embedding = {"", std::string(lexical_embedding_model)};
  start();
  complete({compared(1)});
  end_calls({said(only_call(), "answer")});
  const auto lexical = only_outcome();
  EXPECT_EQ(lexical.evidence.embedded.size(), 2u);
  EXPECT_EQ(lexical.spend.calls, 1u);
  settings.embedding = {"openai", "e-1"};
  settings.mode = Mode::mock;
  restart();
  complete({compared(2)});
  EXPECT_TRUE(calls().empty());
  const auto mock = only_outcome();
  EXPECT_EQ(std::get<Completion>(mock.outcome).text, "") << "a mock of a text says nothing";
  EXPECT_TRUE(mock.evidence.embedded.empty()) << "which is like nothing, and needs no embedding";
}

TEST_F(EmbeddingFlowTest, NothingIsEmbeddedThatNeedsNoModel) {
  start();
  complete({compared(1, {"answer", " "}), unit(2)});
  const auto made = calls();
  end_calls({said(made[0].id, "answer"), answered_claims(made[1].id)});
  EXPECT_TRUE(calls().empty());
  EXPECT_EQ(outcomes().size(), 2u);
}

TEST_F(EmbeddingFlowTest, AProviderWithoutEmbeddingsIsSaidSo) {
  settings.providers[0].kind = ProviderKind::anthropic;
  settings.mode = Mode::cached;
  start(true);
  const auto work = compared(1);
  const Completion answer_of_then{"answer", "stop", "m", {}, 1, {}};
  const KeyedAnswer keyed{work->key, &answer_of_then};
  ASSERT_TRUE(store->store(std::span(&keyed, 1)));
  complete({work});
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::settings_invalid);
  EXPECT_NE(std::get<Error>(done.outcome).message.find("gemini"), std::string::npos);
}

TEST_F(EmbeddingFlowTest, TheCasesTimeHoldsForEmbeddingsToo) {
  settings.case_timeout = 10s;
  start();
  complete({compared(1)});
  const auto slow = only_call();
  pass(6s);
  complete({compared(2)});
  const auto quick = only_call();
  end_calls({said(slow, "one"), said(quick, "two")});
  const auto call = only_embedding_call();
  EXPECT_EQ(call.total_timeout, 4s) << "what is left of the first one's time";
  answer(call.id, 429, "later", {{"retry-after", "5"}});
  const auto late = only_outcome();
  EXPECT_EQ(late.unit->unit, 1u);
  EXPECT_EQ(reason_of(late), Reason::rate_limited);
  pass(5s);
  const auto again = only_embedding_call();
  EXPECT_EQ(texts_of(again), (std::vector<std::string>{"reference", "two"}));
  end_calls({embedded(again)});
  EXPECT_TRUE(std::holds_alternative<Completion>(only_outcome().outcome));
}

TEST_F(EmbeddingFlowTest, ACallForOthersHoldsNobodyBeyondItsTime) {
  settings.case_timeout = 10s;
  start();
  complete({compared(1)});
  const auto slow = only_call();
  pass(6s);
  const auto others = ask_and_answer(2, "two");
  end_calls({said(slow, "one")});
  EXPECT_TRUE(calls().empty()) << "its text waits for the end of the call under way";
  pass(4s + 100ms);
  const auto late = only_outcome();
  EXPECT_EQ(late.unit->unit, 1u);
  EXPECT_EQ(reason_of(late), Reason::timed_out);
  EXPECT_EQ(late.spend.latency_ms, 6000u) << "of its answer";
  end_calls({embedded(others)});
  EXPECT_EQ(only_outcome().unit->unit, 2u);
  EXPECT_TRUE(calls().empty()) << "nobody wants the first one's text any more";
}

TEST_F(EmbeddingFlowTest, CancelEndsEmbeddingCallsToo) {
  start();
  const auto call = ask_and_answer(1, "answer");
  caf::anon_send(client, CancelCalls{});
  settle();
  const auto cancelled = http.take<HttpCancel>();
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(cancelled[0].id, call.id);
  end_calls({embedded(call)});
  pass(20min);
  EXPECT_TRUE(outcomes().empty());
  EXPECT_TRUE(calls().empty());
}

// Embeddings were tried again for as long as the run's end waited for them.
TEST_F(EmbeddingFlowTest, WhenTheRunIsOverAFailedCallGivesBackThoseWhoWaitForIt) {
  start();
  complete({compared(1), compared(2)});
  const auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  end_calls({said(made[0].id, "one"), said(made[1].id, "two")});
  const auto call = only_embedding_call();
  caf::anon_send(client, WindDown{now() + 20s});
  settle();
  EXPECT_TRUE(outcomes().empty()) << "it may come yet";
  answer(call.id, 503, "down");
  EXPECT_TRUE(outcomes().empty());
  const auto returned = worker.take<UnitsReturned>();
  ASSERT_EQ(returned.size(), 1u);
  EXPECT_EQ(returned[0].units, (std::vector<UnitId>{1, 2}));
  std::uint64_t tokens = 0;
  for (const auto& one : returned[0].spent) tokens += one.spend.paid.total();
  EXPECT_EQ(tokens, 30u) << "of both answers";
  pass(30s);
  EXPECT_TRUE(calls().empty());
}

TEST_F(EmbeddingFlowTest, WithoutAKeyNothingIsCalledFor) {
  settings.embedding.provider = "elsewhere";
  ProviderSettings elsewhere = settings.providers[0];
  elsewhere.name = "elsewhere";
  settings.providers.push_back(elsewhere);
  start();
  complete({compared(1)});
  end_calls({said(only_call(), "answer")});
  EXPECT_TRUE(calls().empty());
  EXPECT_EQ(reason_of(only_outcome()), Reason::key_missing);
}

}  // namespace
}  // namespace sluice
