// What other workers' caches hold: the model client with the test as coordinator.
#include "common/model/cache_key.hpp"
#include "tests/actors/model_client_fixture.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

class LentEntriesFlowTest : public ModelClientTest {
 protected:
  LentEntriesFlowTest() {
    caches_hold_nothing = false;
    settings.embedding = {"openai", "e-1"};
  }

  static SharedUnit held_elsewhere(UnitId id, const Digest& pinned = {}) {
    WorkUnit work = *unit(id);
    work.held_elsewhere = true;
    work.pinned_answer = pinned;
    return std::make_shared<const WorkUnit>(std::move(work));
  }
  static Completion lent_answer() { return {no_claims, "stop", "m-1", {10, 5}, 1000, {}}; }
  static EntryKey key_of(UnitId id) { return {EntryKind::answer, unit(id)->key}; }
  static std::string entry_of(UnitId id) { return cache_entry::encode(unit(id)->key, lent_answer()); }

  /// A unit of free text whose answer is compared with a reference.
  static SharedUnit compared(UnitId id) {
    ScoringTask task;
    task.texts = {{MetricId::semantic_similarity_to, {"reference"}}};
    return std::make_shared<const WorkUnit>(free_text(id, std::move(task)));
  }
  EntryKey embedding_of(const std::string& text) const {
    return {EntryKind::embedding, embedding_key(settings.providers[0], "e-1", text)};
  }
  std::string vector_entry(const std::string& text) const {
    return cache_entry::encode(embedding_of(text).digest, Embedding{{2.0f, 1.0f}, 1000});
  }
  HttpDone embedded(const HttpCall& call) const {
    auto data = nlohmann::json::array();
    for (std::size_t i = 0; i < nlohmann::json::parse(call.request.body)["input"].size(); ++i)
      data.push_back({{"index", i}, {"embedding", {1, 1}}});
    return answered(call.id, 200, nlohmann::json{{"data", data}, {"usage", {{"prompt_tokens", 30}}}}.dump());
  }
};

TEST_F(LentEntriesFlowTest, AnAnswerOfAnotherCacheIsACacheHit) {
  start(true);
  complete({held_elsewhere(1, answer_digest(lent_answer()))});
  EXPECT_EQ(sought(), std::vector{key_of(1)});
  EXPECT_TRUE(calls().empty()) << "nothing is called for meanwhile";
  for (const auto& demand : demands()) EXPECT_EQ(demand.ready_calls, 0u) << "and no permit asked for";
  found(key_of(1), entry_of(1));
  const auto done = only_outcome();
  EXPECT_EQ(std::get<Completion>(done.outcome), lent_answer());
  EXPECT_TRUE(done.spend.cache_hit);
  EXPECT_EQ(done.spend.calls, 0u);
  EXPECT_TRUE(calls().empty());
  // It is in the own cache now.
  restart();
  complete({held_elsewhere(1)});
  EXPECT_TRUE(sought().empty());
  EXPECT_TRUE(only_outcome().spend.cache_hit);
}

// The run took what the own cache had, and pinned it: what another worker had been given since was undone.
TEST_F(LentEntriesFlowTest, ThePinnedAnswerOfAnotherCacheIsSoughtThoughTheOwnOneHasAnother) {
  start(true);
  complete(1);
  answer_claims(only_call(), R"({\"claims\": []})");
  EXPECT_NE(std::get<Completion>(only_outcome().outcome).text, lent_answer().text);
  restart();
  complete({held_elsewhere(1, answer_digest(lent_answer()))});
  EXPECT_EQ(sought(), std::vector{key_of(1)});
  found(key_of(1), entry_of(1));
  EXPECT_EQ(std::get<Completion>(only_outcome().outcome), lent_answer());
  EXPECT_TRUE(calls().empty());
}

TEST_F(LentEntriesFlowTest, WhatTheOtherLacksIsPaidFor) {
  start(true);
  complete({held_elsewhere(1)});
  found(key_of(1), "");
  answer_claims(only_call());
  EXPECT_EQ(only_outcome().spend.calls, 1u);
}

TEST_F(LentEntriesFlowTest, WhatDoesNotFitIsPaidFor) {
  start(true);
  complete({held_elsewhere(1), held_elsewhere(2, sha256("another answer")), held_elsewhere(3)});
  found(key_of(1), "garbage");
  found(key_of(2), entry_of(2));
  found(key_of(3), entry_of(1));
  EXPECT_EQ(calls().size(), 3u);
  EXPECT_TRUE(outcomes().empty());
}

TEST_F(LentEntriesFlowTest, OnlyUnitsThatAreHeldElsewhereAreSought) {
  start(true);
  complete(1);
  EXPECT_TRUE(sought().empty());
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(LentEntriesFlowTest, WithoutACacheNothingIsSought) {
  start(false);
  complete({held_elsewhere(1)});
  EXPECT_TRUE(sought().empty());
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(LentEntriesFlowTest, NobodyWaitsForOthersLongerThanItsTimeLasts) {
  settings.case_timeout = 5s;
  start(true);
  complete({held_elsewhere(1)});
  pass(4999ms);
  EXPECT_TRUE(outcomes().empty());
  pass(2ms);
  EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  found(key_of(1), entry_of(1));
  EXPECT_TRUE(outcomes().empty() && calls().empty()) << "too late";
}

TEST_F(LentEntriesFlowTest, AfterABreakItIsSoughtAgain) {
  start(true);
  complete({held_elsewhere(1)});
  EXPECT_EQ(sought().size(), 1u);
  caf::anon_send(client, BudgetChanged{true, true, {}, {}});
  settle();
  EXPECT_EQ(sought(), std::vector{key_of(1)});
}

TEST_F(LentEntriesFlowTest, AnEntryThatNobodySoughtIsIgnored) {
  start(true);
  complete(1);
  found(key_of(1), entry_of(1));
  EXPECT_TRUE(outcomes().empty()) << "the call goes on";
  answer_claims(only_call());
  EXPECT_EQ(outcomes().size(), 1u);
}

TEST_F(LentEntriesFlowTest, EmbeddingsAreSoughtBeforeTheyArePaidFor) {
  start(true);
  complete({compared(1)});
  answer_claims(only_call(), "answer");
  EXPECT_EQ(sought(), (std::vector{embedding_of("reference"), embedding_of("answer")}));
  EXPECT_TRUE(calls().empty());
  found(embedding_of("reference"), vector_entry("reference"));
  EXPECT_TRUE(calls().empty());
  found(embedding_of("answer"), "");
  auto made = calls();
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(nlohmann::json::parse(made[0].request.body)["input"], (std::vector<std::string>{"answer"}));
  end_calls({embedded(made[0])});
  const auto done = only_outcome();
  EXPECT_EQ(*done.evidence.embedded.at("reference"), (std::vector<float>{2, 1}));
  EXPECT_EQ(*done.evidence.embedded.at("answer"), (std::vector<float>{1, 1}));
  EXPECT_TRUE(sought().empty());
  EXPECT_EQ(stored, (std::vector<wire::Stored>{{"run-1", {embedding_of("answer")}, {}}}));
}

TEST_F(LentEntriesFlowTest, AnEmbeddingIsSoughtOnceWhoeverWaits) {
  start(true);
  complete({compared(1), compared(2)});
  const auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  end_calls({answered_claims(made[0].id, "answer")});
  EXPECT_EQ(sought().size(), 2u);
  end_calls({answered_claims(made[1].id, "answer")});
  EXPECT_TRUE(sought().empty());
  found(embedding_of("reference"), vector_entry("reference"));
  found(embedding_of("answer"), vector_entry("answer"));
  EXPECT_EQ(outcomes().size(), 2u);
  EXPECT_TRUE(calls().empty() && stored.empty());
}

TEST_F(LentEntriesFlowTest, ADamagedEmbeddingIsPaidFor) {
  start(true);
  complete({compared(1)});
  answer_claims(only_call(), "answer");
  found(embedding_of("reference"), vector_entry("answer"));
  found(embedding_of("answer"), vector_entry("answer"));
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(LentEntriesFlowTest, WhatCannotBePaidForIsGivenUp) {
  start(true);
  complete({compared(1)});
  answer_claims(only_call(), "answer");
  sought();
  found(embedding_of("reference"), vector_entry("reference"));
  found(embedding_of("answer"), "");
  const auto made = calls();
  ASSERT_EQ(made.size(), 1u);
  answer(made[0].id, 400, R"({"error":{"message":"no"}})");
  EXPECT_EQ(outcomes().size(), 1u);
  sought();
  EXPECT_EQ(stored, (std::vector<wire::Stored>{{"run-1", {}, {embedding_of("answer")}}}));
}

TEST_F(LentEntriesFlowTest, WhatIsLeftToOneWhoseTimeIsOverIsGivenUp) {
  settings.case_timeout = 5s;
  start(true);
  complete({compared(1)});
  answer_claims(only_call(), "answer");
  sought();
  found(embedding_of("reference"), vector_entry("reference"));
  pass(6s);
  EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  found(embedding_of("answer"), "");
  EXPECT_TRUE(calls().empty());
  sought();
  EXPECT_EQ(stored, (std::vector<wire::Stored>{{"run-1", {}, {embedding_of("answer")}}}));
}

}  // namespace
}  // namespace sluice
