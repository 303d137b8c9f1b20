#include "worker/units/embedding_queue.hpp"

#include "worker/defaults.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace embedding_queue_test {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

constexpr TimePoint soon = TimePoint{} + 10s;
constexpr TimePoint later = TimePoint{} + 60s;
const Spend one_call{1, 0, 0, false, {0, 0, 100}, 0};

/// The vector that stands for a text in these tests.
std::vector<float> vector_of(const std::string& text) {
  return {1.0f, static_cast<float>(text.size())};
}
std::vector<std::vector<float>> vectors_of(const EmbeddingBatch& batch) {
  std::vector<std::vector<float>> vectors;
  for (const auto& text : batch.texts) vectors.push_back(vector_of(text));
  return vectors;
}
std::vector<std::uint64_t> waiters_of(const std::vector<EmbeddingOutcome>& outcomes) {
  std::vector<std::uint64_t> waiters;
  for (const auto& outcome : outcomes) waiters.push_back(outcome.waiter);
  return waiters;
}

TEST(EmbeddingQueue, TheFirstBatchLeavesAtOnceAndTheNextGathersMeanwhile) {
  EmbeddingQueue queue;
  EXPECT_FALSE(queue.next());
  queue.add(1, {}, {"a", "b"}, soon);
  const auto first = queue.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->texts, (Texts{"a", "b"}));
  EXPECT_EQ(first->deadline, soon);
  queue.add(2, {}, {"c"}, later);
  queue.add(3, {}, {"d"}, soon);
  EXPECT_FALSE(queue.next()) << "one is under way, and this one is not full";
  EXPECT_EQ(waiters_of(queue.served(*first, vectors_of(*first), one_call)), (std::vector<std::uint64_t>{1}));
  const auto second = queue.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->texts, (Texts{"c", "d"}));
}

TEST(EmbeddingQueue, AFullBatchDoesNotWait) {
  EmbeddingQueue queue;
  queue.add(1, {}, {"first"}, soon);
  ASSERT_TRUE(queue.next());
  for (std::uint64_t i = 2; i < 2 + defaults::max_embedded_texts; ++i) {
    EXPECT_FALSE(queue.next());
    queue.add(i, {}, {"text " + std::to_string(i)}, soon);
  }
  EXPECT_EQ(queue.next().value().texts.size(), defaults::max_embedded_texts);
  queue.add(1000, {}, {std::string(60'000, 'x'), std::string(60'000, 'y')}, soon);
  EXPECT_EQ(queue.next().value().texts.size(), 1u) << "full by its bytes";
  EXPECT_FALSE(queue.next());
}

TEST(EmbeddingQueue, ATextLongerThanABatchGoesAlone) {
  EmbeddingQueue queue;
  queue.add(1, {}, {std::string(500'000, 'x'), "short"}, soon);
  EXPECT_EQ(queue.next().value().texts.size(), 1u);
}

TEST(EmbeddingQueue, EveryTextIsAskedForOnce) {
  EmbeddingQueue queue;
  queue.add(1, {}, {"reference", "answer 1"}, soon);
  const auto batch = queue.next().value();
  queue.add(2, {}, {"reference", "answer 2"}, soon);
  EXPECT_EQ(waiters_of(queue.served(batch, vectors_of(batch), one_call)), (std::vector<std::uint64_t>{1}));
  const auto next = queue.next().value();
  EXPECT_EQ(next.texts, (Texts{"answer 2"})) << "the reference was under way";
  const auto outcomes = queue.served(next, vectors_of(next), one_call);
  ASSERT_EQ(waiters_of(outcomes), (std::vector<std::uint64_t>{2}));
  const auto& texts = std::get<EmbeddedTexts>(outcomes[0].result);
  EXPECT_EQ(*texts.at("reference"), vector_of("reference"));
  EXPECT_EQ(*texts.at("answer 2"), vector_of("answer 2"));
  ASSERT_TRUE(queue.known("reference"));
  EXPECT_FALSE(queue.known("answer 3"));
}

TEST(EmbeddingQueue, WhatWasFoundIsHandedOutWithTheRest) {
  EmbeddingQueue queue;
  const auto found = std::make_shared<const std::vector<float>>(std::vector<float>{7.0f});
  queue.add(1, {{"found", found}}, {"missing"}, soon);
  const auto batch = queue.next().value();
  const auto outcomes = queue.served(batch, vectors_of(batch), one_call);
  EXPECT_EQ(std::get<EmbeddedTexts>(outcomes.at(0).result).at("found"), found);
}

TEST(EmbeddingQueue, CallsAndTokensArePaidOnce) {
  EmbeddingQueue queue;
  queue.add(1, {}, {"abc"}, soon);
  auto batch = queue.next().value();
  queue.add(2, {}, {"xxx"}, soon);
  queue.add(3, {}, {"yyyyyyy", "xxx"}, soon);
  queue.served(batch, vectors_of(batch), one_call);
  batch = queue.next().value();
  const auto outcomes = queue.served(batch, vectors_of(batch), Spend{3, 2, 1, false, {0, 0, 101}, 0});
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes[0].spend, (Spend{3, 2, 1, false, {0, 0, 30}, 0}));
  EXPECT_EQ(outcomes[1].spend, (Spend{0, 0, 0, false, {0, 0, 71}, 0}));
}

TEST(EmbeddingQueue, WhereNobodyKnowsTheTokensNoneOfThoseWhoPayDoes) {
  EmbeddingQueue queue;
  queue.add(1, {}, {"abc"}, soon);
  auto batch = queue.next().value();
  queue.add(2, {}, {"xxx"}, soon);
  queue.add(3, {}, {"yyy"}, soon);
  queue.served(batch, vectors_of(batch), one_call);
  batch = queue.next().value();
  Spend spend{1, 0, 0, false, {}, 0};
  spend.add_answer(CallKind::embedding, {});
  const auto outcomes = queue.served(batch, vectors_of(batch), spend);
  ASSERT_EQ(outcomes.size(), 2u);
  for (const auto& one : outcomes) EXPECT_TRUE(one.spend.is_unmetered(CallKind::embedding)) << one.waiter;
}

TEST(EmbeddingQueue, AFailureIsThatOfAllWhoWaitForTheBatch) {
  EmbeddingQueue queue;
  queue.add(1, {}, {"a", "b"}, soon);
  queue.add(2, {}, {"b", "c"}, soon);
  const auto batch = queue.next().value();
  queue.add(3, {}, {"d"}, soon);
  const auto outcomes = queue.failed(batch, Error{Reason::provider_failed, "down"}, one_call);
  EXPECT_EQ(waiters_of(outcomes), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(std::get<Error>(outcomes[0].result).reason, Reason::provider_failed);
  EXPECT_EQ(queue.next().value().texts, (Texts{"d"}));
  queue.add(4, {}, {"a"}, soon);
  EXPECT_FALSE(queue.next());
}

TEST(EmbeddingQueue, OneRefusedTextFailsNobodyElse) {
  EmbeddingQueue queue;
  for (std::uint64_t i = 0; i < 8; ++i)
    queue.add(i, {}, {i == 5 ? "too long" : "text " + std::to_string(i)}, soon);
  std::map<std::uint64_t, bool> ended;
  while (const auto batch = queue.next()) {
    const bool refused = std::ranges::find(batch->texts, "too long") != batch->texts.end();
    const auto outcomes = refused ? queue.failed(*batch, Error{Reason::request_refused, "too long"}, one_call)
                                  : queue.served(*batch, vectors_of(*batch), one_call);
    for (const auto& outcome : outcomes) {
      EXPECT_TRUE(
          ended.emplace(outcome.waiter, std::holds_alternative<EmbeddedTexts>(outcome.result)).second);
    }
  }
  ASSERT_EQ(ended.size(), 8u);
  for (const auto& [waiter, served] : ended) EXPECT_EQ(served, waiter != 5) << waiter;
}

TEST(EmbeddingQueue, AnExpiredBatchEndsOnlyThoseWhoseTimeItWas) {
  EmbeddingQueue queue;
  queue.add(1, {}, {"reference", "a"}, soon);
  queue.add(2, {}, {"reference", "b"}, later);
  const auto batch = queue.next().value();
  EXPECT_EQ(batch.deadline, soon);
  const auto outcomes = queue.expired(batch, Error{Reason::timed_out, "late"}, one_call);
  EXPECT_EQ(waiters_of(outcomes), (std::vector<std::uint64_t>{1}));
  const auto again = queue.next().value();
  EXPECT_EQ(again.texts, (Texts{"reference", "b"})) << "nobody wants \"a\" any more";
  EXPECT_EQ(again.deadline, later);
}

TEST(EmbeddingQueue, WhoeverLeavesIsNoLongerWaitedForAndItsCostsAreNotLost) {
  EmbeddingQueue queue;
  queue.add(1, {}, {"a"}, soon);
  const auto first = queue.next().value();
  queue.add(2, {}, {"b"}, later);
  queue.add(3, {}, {"c"}, soon);
  EXPECT_EQ(queue.leave(1), Spend{});
  EXPECT_EQ(queue.leave(3), Spend{});
  EXPECT_TRUE(queue.served(first, vectors_of(first), one_call).empty());
  const auto second = queue.next().value();
  EXPECT_EQ(second.texts, (Texts{"b"}));
  const auto outcomes = queue.served(second, vectors_of(second), one_call);
  ASSERT_EQ(waiters_of(outcomes), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(outcomes[0].spend, (Spend{2, 0, 0, false, {0, 0, 200}, 0})) << "also the call for \"a\"";
  EXPECT_TRUE(queue.known("a"));
}

TEST(EmbeddingQueue, RemembersOnlySoManyBytes) {
  EmbeddingQueue queue;
  const auto vector = std::make_shared<const std::vector<float>>(std::vector<float>{1.0f});
  const auto long_text = [](char c) { return std::string(defaults::max_recent_vector_bytes / 2, c); };
  queue.remember(long_text('a'), vector);
  queue.remember(long_text('a'), vector);
  EXPECT_TRUE(queue.known(long_text('a')));
  queue.remember(long_text('b'), vector);
  EXPECT_FALSE(queue.known(long_text('a')));
  EXPECT_TRUE(queue.known(long_text('b')));
  queue.remember(std::string(defaults::max_recent_vector_bytes, 'c'), vector);
  EXPECT_TRUE(queue.known(long_text('b'))) << "one that fits nowhere drives nothing out";
}

/// Whatever happens to the batches, everybody gets one outcome, and no text is under way twice.
RC_GTEST_PROP(EmbeddingQueue, EverybodyGetsOneOutcome, ()) {
  EmbeddingQueue queue;
  std::vector<EmbeddingBatch> under_way;
  std::map<std::uint64_t, Texts> asked;
  std::set<std::uint64_t> ended;
  const auto take = [&](const std::vector<EmbeddingOutcome>& outcomes) {
    for (const auto& outcome : outcomes) {
      RC_ASSERT(ended.insert(outcome.waiter).second);
      const auto* texts = std::get_if<EmbeddedTexts>(&outcome.result);
      if (!texts) continue;
      for (const auto& text : asked.at(outcome.waiter)) RC_ASSERT(*texts->at(text) == vector_of(text));
    }
  };
  const auto start = [&] {
    while (auto batch = queue.next()) {
      for (const auto& other : under_way) {
        for (const auto& text : batch->texts) {
          RC_ASSERT(std::ranges::find(other.texts, text) == other.texts.end());
        }
      }
      under_way.push_back(std::move(*batch));
    }
  };
  const auto end_one = [&](int how) {
    const auto batch = std::move(under_way.front());
    under_way.erase(under_way.begin());
    if (how == 0) take(queue.failed(batch, Error{Reason::provider_failed, ""}, one_call));
    if (how == 1) take(queue.failed(batch, Error{Reason::request_refused, ""}, one_call));
    if (how == 2) take(queue.expired(batch, Error{Reason::timed_out, ""}, one_call));
    if (how > 2) take(queue.served(batch, vectors_of(batch), one_call));
  };
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 12));
  std::uint64_t waiter = 0;
  for (const int step : steps) {
    if (step >= 6 || under_way.empty()) {
      const auto chosen = *rc::gen::inRange(1, 1 << 8);
      Texts texts;
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((chosen >> bit & 1) != 0) texts.emplace_back(bit < 5 ? bit + 1 : 40'000 + bit, 'x');
      }
      asked[++waiter] = texts;
      queue.add(waiter, {}, texts, step % 2 == 0 ? soon : later);
    } else {
      end_one(step);
    }
    start();
  }
  while (!under_way.empty()) {
    end_one(3);
    start();
  }
  RC_ASSERT(ended.size() == waiter);
}

}  // namespace embedding_queue_test
}  // namespace sluice
