// Texts that wait for another worker's cache before they are embedded.
#include "worker/units/embedding_queue.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice {
namespace held_texts_test {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

constexpr TimePoint soon = TimePoint{} + 10s;
const Spend one_call{1, 0, 0, false, {0, 0, 100}, 0};

SharedVector vector_of(const std::string& text) {
  return std::make_shared<const std::vector<float>>(1, static_cast<float>(text.size()));
}

struct HeldTexts : testing::Test {
  EmbeddingQueue queue;

  Texts next_texts() {
    const auto batch = queue.next();
    return batch ? batch->texts : Texts{};
  }
  static Texts texts_of(const EmbeddingOutcome& outcome) {
    Texts texts;
    if (const auto* embedded = std::get_if<EmbeddedTexts>(&outcome.result)) {
      for (const auto& [text, vector] : *embedded) texts.push_back(text);
    }
    std::ranges::sort(texts);
    return texts;
  }
};

TEST_F(HeldTexts, AreNotCalledForUntilTheyAreReleased) {
  EXPECT_EQ(queue.add_held(1, {}, {"a", "b"}, soon), (Texts{"a", "b"}));
  EXPECT_EQ(next_texts(), Texts{});
  queue.release("b");
  queue.release("a");
  EXPECT_EQ(next_texts(), (Texts{"b", "a"}));
}

TEST_F(HeldTexts, AreHeldOnceWhoeverWaits) {
  EXPECT_EQ(queue.add_held(1, {}, {"a"}, soon), Texts{"a"});
  EXPECT_EQ(queue.add_held(2, {}, {"a", "b"}, soon), Texts{"b"});
  EXPECT_TRUE(queue.arrived("b", vector_of("b")).empty());
  const auto outcomes = queue.arrived("a", vector_of("a"));
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes[0].waiter, 1u);
  EXPECT_EQ(texts_of(outcomes[0]), Texts{"a"});
  EXPECT_EQ(texts_of(outcomes[1]), (Texts{"a", "b"}));
  EXPECT_EQ(outcomes[1].spend, Spend{}) << "nobody paid";
  EXPECT_TRUE(queue.known("b")) << "remembered like any other";
}

TEST_F(HeldTexts, SomeArriveAndSomeArePaidFor) {
  queue.add_held(1, {}, {"a", "b"}, soon);
  queue.release("a");
  const auto batch = queue.next();
  ASSERT_TRUE(batch);
  EXPECT_TRUE(queue.arrived("b", vector_of("b")).empty());
  const auto outcomes = queue.served(*batch, {*vector_of("a")}, one_call);
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(texts_of(outcomes[0]), (Texts{"a", "b"}));
  EXPECT_EQ(outcomes[0].spend, one_call);
  EXPECT_TRUE(queue.take_dropped().empty());
}

TEST_F(HeldTexts, WhatNobodyWaitsForAnyMoreIsDropped) {
  queue.add_held(1, {}, {"a", "b"}, soon);
  queue.release("a");
  queue.leave(1);
  EXPECT_EQ(next_texts(), Texts{});
  queue.release("b");
  EXPECT_EQ(queue.take_dropped(), (Texts{"a", "b"}));
  EXPECT_TRUE(queue.take_dropped().empty());
  EXPECT_EQ(queue.add_held(2, {}, {"a"}, soon), Texts{"a"}) << "asked for anew";
}

TEST_F(HeldTexts, WhatCannotBeHadIsDropped) {
  queue.add_held(1, {}, {"a", "b"}, soon);
  for (const auto* text : {"a", "b"}) queue.release(text);
  const auto batch = queue.next();
  ASSERT_TRUE(batch);
  EXPECT_TRUE(queue.failed(*batch, {Reason::request_refused, "no"}, one_call).empty());
  EXPECT_TRUE(queue.take_dropped().empty()) << "it is halved first";
  const auto half = queue.next();
  ASSERT_TRUE(half);
  EXPECT_EQ(queue.failed(*half, {Reason::request_refused, "no"}, one_call).size(), 1u);
  EXPECT_EQ(queue.take_dropped(), half->texts);
}

TEST_F(HeldTexts, WhatArrivesForNobodyIsRememberedAllTheSame) {
  EXPECT_TRUE(queue.arrived("a", vector_of("a")).empty());
  EXPECT_TRUE(queue.known("a"));
}

TEST_F(HeldTexts, TextsThatAreNotHeldGoOutAsEver) {
  queue.add(1, {}, {"a"}, soon);
  EXPECT_EQ(queue.add_held(2, {}, {"a", "b"}, soon), Texts{"b"});
  EXPECT_EQ(next_texts(), Texts{"a"});
}

}  // namespace held_texts_test
}  // namespace sluice
