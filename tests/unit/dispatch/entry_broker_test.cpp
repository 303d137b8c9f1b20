#include "coordinator/dispatch/entry_broker.hpp"

#include <gtest/gtest.h>

namespace sluice::entry_broker_test {

using namespace std::chrono_literals;

constexpr auto beat = 1000ms;
constexpr auto lease_time = 60s;

Digest digest(std::uint8_t first) {
  Digest result{};
  result[0] = first;
  return result;
}
EntryKey answer(std::uint8_t first) {
  return {EntryKind::answer, digest(first)};
}
EntryKey embedding(std::uint8_t first) {
  return {EntryKind::embedding, digest(first)};
}
EntryKey vote(std::uint8_t first) {
  return {EntryKind::vote, digest(first)};
}

/// A broker, and what it wants sent since the last look, in short words.
struct EntryBrokerTest : testing::Test {
  EntryBroker broker{{beat, 2 * beat, lease_time, 64, 64}};
  TimePoint now{};

  static std::string name(const EntryKey& key) {
    const auto* kind = key.kind == EntryKind::answer ? "a" : key.kind == EntryKind::vote ? "v" : "e";
    return kind + std::to_string(key.digest[0]);
  }
  /// E.g. "1 pays e7", "2 gets e7: bytes", "ask 3 for e7", "look up e7".
  std::vector<std::string> in_words(EntryBroker::Actions actions) {
    std::vector<std::string> words;
    for (const auto& answer : actions.answers) {
      const auto who = std::to_string(answer.seeker);
      words.push_back(answer.entry ? who + " gets " + name(answer.key) + ": " + *answer.entry
                                   : who + " pays " + name(answer.key));
    }
    for (const auto& loan : actions.loans)
      words.push_back("ask " + std::to_string(loan.lender) + " for " + name(loan.key));
    for (const auto& key : actions.look_ups) words.push_back("look up " + name(key));
    return words;
  }
  template <class Act>
  std::vector<std::string> after(Act act) {
    EntryBroker::Actions actions;
    act(actions);
    return in_words(std::move(actions));
  }

  std::vector<std::string> seek(WorkerId who, EntryKey key) {
    return after([&](auto& actions) { broker.seek(who, key, now, actions); });
  }
  std::vector<std::string> looked_up(EntryKey key, const std::string& cache) {
    return after([&](auto& actions) { broker.looked_up(key, cache, now, actions); });
  }
  std::vector<std::string> lent(WorkerId who, EntryKey key, const char* bytes) {
    auto entry = bytes ? std::make_shared<const std::string>(bytes) : nullptr;
    return after([&](auto& actions) { broker.lent(who, key, entry, now, actions); });
  }
  std::vector<std::string> stored(WorkerId who, EntryKey key) {
    return after([&](auto& actions) { broker.stored(who, key, now, actions); });
  }
  std::vector<std::string> given_up(WorkerId who, EntryKey key) {
    return after([&](auto& actions) { broker.given_up(who, key, now, actions); });
  }
  std::vector<std::string> leave(WorkerId who) {
    return after([&](auto& actions) { broker.leave(who, now, actions); });
  }
  /// Heartbeats until this much time has passed.
  std::vector<std::string> pass(std::chrono::milliseconds time) {
    return after([&](auto& actions) {
      for (const auto end = now + time; now < end;) broker.tick(now += beat, actions);
    });
  }
  void join_three() {
    broker.join(1, "one", now);
    broker.join(2, "two", now);
    broker.join(3, "three", now);
  }
  /// Worker 1 is left to pay for the entry.
  void lease_to_first(EntryKey key) {
    ASSERT_EQ(seek(1, key), Words{"look up " + name(key)});
    ASSERT_EQ(looked_up(key, ""), Words{"1 pays " + name(key)});
  }
  using Words = std::vector<std::string>;
};

TEST_F(EntryBrokerTest, AnAnswerIsLentByItsHolder) {
  join_three();
  EXPECT_EQ(broker.lender("one", 2), 1u);
  EXPECT_EQ(broker.lender("one", 1), std::nullopt);
  EXPECT_EQ(broker.lender("four", 2), std::nullopt);
  EXPECT_EQ(broker.lender("", 2), std::nullopt);
  broker.expect_answer(digest(7), 1);
  EXPECT_EQ(seek(2, answer(7)), Words{"ask 1 for a7"});
  EXPECT_EQ(lent(1, answer(7), "bytes"), Words{"2 gets a7: bytes"});
  EXPECT_EQ(broker.open_count(), 0u);
}

TEST_F(EntryBrokerTest, WhoSharesACacheHasNothingToLend) {
  broker.join(1, "one", now);
  broker.join(2, "one", now);
  EXPECT_EQ(broker.lender("one", 2), std::nullopt);
  broker.join(3, "three", now);
  EXPECT_EQ(broker.lender("one", 3), 1u);
}

TEST_F(EntryBrokerTest, AnAnswerThatNobodyIsKnownToHoldIsPaidForAtOnce) {
  join_three();
  EXPECT_EQ(seek(2, answer(7)), Words{"2 pays a7"});
  broker.expect_answer(digest(7), 1);
  broker.forget_answer(digest(7));
  EXPECT_EQ(seek(2, answer(7)), Words{"2 pays a7"});
}

TEST_F(EntryBrokerTest, AHolderWithoutTheAnswerIsNotAskedAgain) {
  join_three();
  broker.expect_answer(digest(7), 1);
  seek(2, answer(7));
  EXPECT_EQ(lent(1, answer(7), nullptr), Words{"2 pays a7"});
  EXPECT_EQ(seek(3, answer(7)), Words{"3 pays a7"});
}

TEST_F(EntryBrokerTest, TwoWhoSeekAnAnswerShareTheLoan) {
  join_three();
  broker.expect_answer(digest(7), 1);
  EXPECT_EQ(seek(2, answer(7)), Words{"ask 1 for a7"});
  EXPECT_EQ(seek(3, answer(7)), Words{});
  EXPECT_EQ(seek(3, answer(7)), Words{}) << "sent twice";
  EXPECT_EQ(lent(1, answer(7), "bytes"), (Words{"2 gets a7: bytes", "3 gets a7: bytes"}));
}

TEST_F(EntryBrokerTest, ALenderThatDoesNotAnswerInTimeOrLeavesIsNotWaitedFor) {
  join_three();
  broker.expect_answer(digest(7), 1);
  broker.expect_answer(digest(8), 1);
  seek(2, answer(7));
  EXPECT_EQ(pass(2 * beat), Words{});
  EXPECT_EQ(pass(beat), Words{"2 pays a7"});
  EXPECT_EQ(lent(1, answer(7), "late"), Words{});
  seek(2, answer(8));
  EXPECT_EQ(leave(1), Words{"2 pays a8"});
  EXPECT_EQ(lent(1, answer(8), "late"), Words{});
}

TEST_F(EntryBrokerTest, OnlyTheEntryOfTheRequestedLenderCounts) {
  join_three();
  broker.expect_answer(digest(7), 1);
  EXPECT_EQ(lent(1, answer(7), "unasked"), Words{});
  seek(2, answer(7));
  EXPECT_EQ(lent(3, answer(7), "not asked"), Words{});
  EXPECT_EQ(lent(2, answer(7), nullptr), Words{});
  EXPECT_EQ(lent(1, answer(7), "bytes"), Words{"2 gets a7: bytes"});
  EXPECT_EQ(lent(1, answer(7), "twice"), Words{});
}

TEST_F(EntryBrokerTest, ALoneWorkerPaysForItsEmbeddingsAtOnce) {
  broker.join(1, "one", now);
  EXPECT_EQ(seek(1, embedding(7)), Words{"1 pays e7"});
  broker.join(2, "one", now);  // Shares its cache: the ledger could name no other.
  EXPECT_EQ(seek(1, embedding(8)), Words{"1 pays e8"});
  broker.join(3, "", now);
  EXPECT_EQ(seek(1, embedding(9)), Words{"1 pays e9"});
}

TEST_F(EntryBrokerTest, TheLedgerNamesTheHolderOfAnEmbedding) {
  join_three();
  EXPECT_EQ(seek(1, embedding(7)), Words{"look up e7"});
  EXPECT_EQ(seek(2, embedding(7)), Words{});
  EXPECT_EQ(looked_up(embedding(7), "three"), Words{"ask 3 for e7"});
  EXPECT_EQ(looked_up(embedding(7), "three"), Words{}) << "sent twice";
  EXPECT_EQ(lent(3, embedding(7), "vector"), (Words{"1 gets e7: vector", "2 gets e7: vector"}));
  EXPECT_EQ(seek(1, embedding(7)), Words{"ask 3 for e7"}) << "remembered for the run";
}

TEST_F(EntryBrokerTest, AnEmbeddingOfACacheThatIsNotThereIsPaidFor) {
  join_three();
  seek(1, embedding(7));
  EXPECT_EQ(looked_up(embedding(7), "elsewhere"), Words{"1 pays e7"});
  seek(1, embedding(8));
  EXPECT_EQ(looked_up(embedding(8), "one"), Words{"1 pays e8"}) << "its own cache has lost it";
}

TEST_F(EntryBrokerTest, ALedgerThatDoesNotAnswerIsNotWaitedFor) {
  join_three();
  seek(1, embedding(7));
  EXPECT_EQ(pass(3 * beat), Words{"1 pays e7"});
  EXPECT_EQ(looked_up(embedding(7), "three"), Words{});
}

TEST_F(EntryBrokerTest, OnePaysForAnEmbeddingAndTheOthersGetIt) {
  join_three();
  lease_to_first(embedding(7));
  EXPECT_EQ(seek(2, embedding(7)), Words{});
  EXPECT_EQ(seek(3, embedding(7)), Words{});
  EXPECT_EQ(stored(1, embedding(7)), Words{"ask 1 for e7"});
  EXPECT_EQ(lent(1, embedding(7), "vector"), (Words{"2 gets e7: vector", "3 gets e7: vector"}));
  EXPECT_EQ(broker.open_count(), 0u);
}

TEST_F(EntryBrokerTest, AVoteIsLeasedAndLentLikeAnEmbeddingAndApartFromIt) {
  join_three();
  lease_to_first(vote(7));
  EXPECT_EQ(seek(2, vote(7)), Words{});
  EXPECT_EQ(seek(2, embedding(7)), Words{"look up e7"}) << "the digest alone is no key";
  EXPECT_EQ(looked_up(embedding(7), "three"), Words{"ask 3 for e7"});
  EXPECT_EQ(stored(1, embedding(7)), Words{}) << "not its lease";
  EXPECT_EQ(given_up(2, vote(7)), Words{}) << "not its lease";
  EXPECT_EQ(stored(1, vote(7)), Words{"ask 1 for v7"});
  EXPECT_EQ(lent(1, vote(7), "vote"), Words{"2 gets v7: vote"});
  EXPECT_EQ(lent(3, embedding(7), "vector"), Words{"2 gets e7: vector"});
  EXPECT_EQ(seek(3, vote(7)), Words{"ask 1 for v7"}) << "remembered for the run";
}

TEST_F(EntryBrokerTest, WhoMustPayAndSeeksAgainIsAnsweredAgain) {
  join_three();
  lease_to_first(embedding(7));
  EXPECT_EQ(seek(1, embedding(7)), Words{"1 pays e7"});
  EXPECT_EQ(seek(2, embedding(7)), Words{});
}

TEST_F(EntryBrokerTest, TheLeaseGoesToTheNextInLine) {
  join_three();
  lease_to_first(embedding(7));
  seek(2, embedding(7));
  seek(3, embedding(7));
  EXPECT_EQ(given_up(3, embedding(7)), Words{}) << "not its lease";
  EXPECT_EQ(given_up(1, embedding(7)), Words{"2 pays e7"});
  EXPECT_EQ(leave(2), Words{"3 pays e7"});
  EXPECT_EQ(given_up(3, embedding(7)), Words{});
  EXPECT_EQ(broker.open_count(), 0u);
}

// Others waited for what it had given up until their own time was over: it was told on a dead connection.
TEST_F(EntryBrokerTest, WhoComesBackIsLeftToPayForWhatItSeeksAnew) {
  join_three();
  for (const auto key : {embedding(7), embedding(8)}) {
    lease_to_first(key);
    seek(2, key);
  }
  EXPECT_EQ(pass(beat), Words{});
  broker.join(1, "one", now);
  EXPECT_EQ(seek(1, embedding(7)), Words{"1 pays e7"});
  EXPECT_EQ(pass(2 * beat), Words{});
  EXPECT_EQ(pass(beat), Words{"2 pays e8"});
  EXPECT_EQ(pass(lease_time - 4 * beat), Words{}) << "it has no more time for the other one than it had";
  EXPECT_EQ(pass(beat), Words{"2 pays e7"});
}

TEST_F(EntryBrokerTest, ALeaseEndsWithItsTime) {
  join_three();
  lease_to_first(embedding(7));
  seek(2, embedding(7));
  EXPECT_EQ(pass(lease_time), Words{});
  EXPECT_EQ(pass(beat), Words{"2 pays e7"});
  EXPECT_EQ(stored(1, embedding(7)), Words{}) << "late: it is another's";
  EXPECT_EQ(seek(3, embedding(7)), Words{});
  EXPECT_EQ(stored(2, embedding(7)), Words{"ask 2 for e7"});
}

TEST_F(EntryBrokerTest, WhatAWorkerWithoutACachePaidForIsNobodysToLend) {
  broker.join(1, "", now);
  broker.join(2, "two", now);
  broker.join(3, "three", now);
  lease_to_first(embedding(7));
  seek(2, embedding(7));
  EXPECT_EQ(stored(1, embedding(7)), Words{"2 pays e7"});
}

TEST_F(EntryBrokerTest, OneThatLeavesWaitsForNothing) {
  join_three();
  lease_to_first(embedding(7));
  seek(2, embedding(7));
  broker.expect_answer(digest(8), 3);
  seek(2, answer(8));
  EXPECT_EQ(leave(2), Words{});
  EXPECT_EQ(lent(3, answer(8), "bytes"), Words{});
  EXPECT_EQ(stored(1, embedding(7)), Words{});
  EXPECT_EQ(broker.open_count(), 0u);
}

TEST_F(EntryBrokerTest, StrangersAreIgnored) {
  broker.join(1, "one", now);
  EXPECT_EQ(seek(9, embedding(7)), Words{});
  EXPECT_EQ(stored(9, embedding(7)), Words{});
  EXPECT_EQ(given_up(9, embedding(7)), Words{});
  EXPECT_EQ(lent(9, embedding(7), "x"), Words{});
  EXPECT_EQ(leave(9), Words{});
  EXPECT_EQ(looked_up(embedding(7), "one"), Words{});
  EXPECT_EQ(broker.open_count() + broker.known_count(), 0u);
}

TEST_F(EntryBrokerTest, ACoordinatorThatWasAwayBlamesNobody) {
  join_three();
  lease_to_first(embedding(7));
  seek(2, embedding(7));
  pass(beat);
  EXPECT_EQ(after([&](auto& actions) { broker.tick(now += 10 * lease_time, actions); }), Words{});
  EXPECT_EQ(pass(lease_time - beat), Words{});
  EXPECT_EQ(pass(beat), Words{"2 pays e7"});
}

TEST_F(EntryBrokerTest, WhatIsOpenIsBounded) {
  join_three();
  for (int key = 0; key < 200; ++key) seek(1, embedding(static_cast<std::uint8_t>(key)));
  EXPECT_EQ(broker.open_count(), 64u);
  EXPECT_EQ(seek(2, embedding(201)), Words{"2 pays e201"}) << "without a lease";
  EXPECT_EQ(seek(3, embedding(201)), Words{"3 pays e201"});
}

TEST_F(EntryBrokerTest, WhatIsKnownIsBounded) {
  join_three();
  for (int i = 0; i < 200; ++i) {
    const auto key = embedding(static_cast<std::uint8_t>(i));
    seek(3, key);
    looked_up(key, "");
    stored(3, key);
  }
  EXPECT_LE(broker.known_count(), 64u);
  EXPECT_EQ(seek(1, embedding(199)), Words{"ask 3 for e199"}) << "it is the oldest that are forgotten";
}

// Any key that a worker called stored was noted as its own, in the ledger too, whoever held it.
TEST_F(EntryBrokerTest, OnlyWhoWasLeftToPayForAnEntryHasStoredIt) {
  join_three();
  stored(2, embedding(7));
  EXPECT_EQ(broker.known_count(), 0u) << "it sought nothing";
  lease_to_first(embedding(7));
  stored(2, embedding(7));
  EXPECT_EQ(stored(1, embedding(7)), Words{});
  stored(2, embedding(7));
  EXPECT_EQ(seek(3, embedding(7)), Words{"ask 1 for e7"}) << "the one who has it";
}

// One message of a lender had the coordinator send it on to a thousand that waited for it.
TEST_F(EntryBrokerTest, WhatIsLentAtOnceIsBounded) {
  broker.join(1, "one", now);
  for (WorkerId seeker = 2; seeker <= 101; ++seeker) broker.join(seeker, std::to_string(seeker), now);
  for (const std::uint8_t key : {7, 8}) {
    lease_to_first(embedding(key));
    for (WorkerId seeker = 2; seeker <= 101; ++seeker) seek(seeker, embedding(key));
    EXPECT_EQ(stored(1, embedding(key)), Words{"ask 1 for e" + std::to_string(key)});
  }
  const auto entry = std::make_shared<const std::string>(4u << 20, 'x');
  std::size_t served = 0;
  for (int loans = 0; broker.open_count() > 0; ++loans) {
    ASSERT_LT(loans, 100) << "each serves some";
    EntryBroker::Actions actions;
    for (const std::uint8_t key : {7, 8}) broker.lent(1, embedding(key), entry, now, actions);
    EXPECT_LE(actions.answers.size(), 16u) << "64 MiB, of both";
    EXPECT_EQ(actions.loans.size(), broker.open_count()) << "the rest is asked for again";
    served += actions.answers.size();
  }
  EXPECT_EQ(served, 200u);
}

TEST_F(EntryBrokerTest, AnEntryThatIsLargerThanTheBoundIsLentAllTheSame) {
  join_three();
  broker.expect_answer(digest(7), 1);
  seek(2, answer(7));
  EntryBroker::Actions actions;
  broker.lent(1, answer(7), std::make_shared<const std::string>(65u << 20, 'x'), now, actions);
  EXPECT_EQ(actions.answers.size(), 1u);
}

// Two workers renewed one vote each: none sought what another might be renewing.
TEST_F(EntryBrokerTest, AVoteThatIsRenewedIsPaidOnceAndLentToTheOthers) {
  broker = EntryBroker({beat, 2 * beat, lease_time, 64, 64, true});
  join_three();
  EXPECT_EQ(seek(1, vote(7)), Words{"1 pays v7"}) << "what the ledger knows of is what is renewed";
  EXPECT_EQ(seek(2, vote(7)), Words{});
  EXPECT_EQ(stored(1, vote(7)), Words{"ask 1 for v7"});
  EXPECT_EQ(lent(1, vote(7), "new"), Words{"2 gets v7: new"});
  EXPECT_EQ(seek(3, vote(7)), Words{"ask 1 for v7"});
  EXPECT_EQ(seek(1, embedding(7)), Words{"look up e7"}) << "embeddings are not renewed by it";
}

}  // namespace sluice::entry_broker_test
