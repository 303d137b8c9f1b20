#include "worker/answer_store.hpp"

#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace sluice::answer_store_test {

Completion answer(std::string text, std::int64_t created_at_ms = 1000) {
  return {std::move(text), "stop", "m", {10, 5}, created_at_ms, std::nullopt};
}

Completion refusal(std::string text, std::int64_t created_at_ms = 1000) {
  auto completion = answer(std::move(text), created_at_ms);
  completion.non_answer = Error{Reason::refusal, "the model declined"};
  return completion;
}

const Digest key = sha256("key");
const Digest other_key = sha256("other key");

class AnswerStoreTest : public ::testing::Test {
 protected:
  AnswerCache open(const std::string& name) const {
    auto cache = AnswerCache::open(folder_.path() / name);
    EXPECT_TRUE(cache) << cache.error().message;
    return std::move(*cache);
  }

  /// A closed cache with these completions, opened for reading.
  AnswerCache lent(const std::string& name, const std::vector<Completion>& completions) const {
    {
      auto cache = open(name);
      for (const auto& completion : completions) EXPECT_TRUE(cache.put(key, completion));
    }
    auto cache = AnswerCache::open_read_only(folder_.path() / name);
    EXPECT_TRUE(cache) << cache.error().message;
    return std::move(*cache);
  }

  AnswerStore store_with(std::vector<Completion> own,
                         std::vector<std::vector<Completion>> others = {}) const {
    auto cache = open("own");
    for (const auto& completion : own) EXPECT_TRUE(cache.put(key, completion));
    std::vector<AnswerCache> lent_caches;
    for (std::size_t i = 0; i < others.size(); ++i) {
      lent_caches.push_back(lent("other-" + std::to_string(i), others[i]));
    }
    return AnswerStore(std::move(cache), std::move(lent_caches));
  }

  static std::string text_of(const Result<std::optional<Completion>>& found) {
    EXPECT_TRUE(found) << found.error().message;
    return found && *found ? (*found)->text : "(nothing)";
  }

  bool stored(AnswerStore& store, const Completion& completion) {
    const KeyedAnswer one{key, &completion};
    return store.store({&one, 1}).has_value();
  }

  support::TemporaryFolder folder_;
};

TEST_F(AnswerStoreTest, WithoutACacheNothingIsFoundAndNothingStored) {
  AnswerStore store(std::nullopt, {});
  EXPECT_EQ(store.id(), "");
  EXPECT_TRUE(stored(store, answer("a")));
  EXPECT_EQ(text_of(store.find_answer(key)), "(nothing)");
  EXPECT_EQ(text_of(store.find_replay(key, {})), "(nothing)");
  EXPECT_TRUE(store.forget_unless(key, sha256("x")));
  EXPECT_TRUE(store.store_vote(key, answer("{}")));
  EXPECT_EQ(text_of(store.find_vote(key)), "(nothing)");
}

// Renewed votes were undone: another cache was looked into first.
TEST_F(AnswerStoreTest, VotesAreTheNewestOfAllCaches) {
  {
    auto third = open("third");
    ASSERT_TRUE(third.put_vote(key, answer("borrowed")));
    ASSERT_TRUE(third.put_vote(other_key, answer("borrowed too")));
    ASSERT_TRUE(third.put(key, answer("an answer")));
  }
  std::vector<AnswerCache> others;
  others.push_back(AnswerCache::open_read_only(folder_.path() / "third").value());
  AnswerStore store(open("own"), std::move(others));
  EXPECT_EQ(text_of(store.find_vote(key)), "borrowed");
  ASSERT_TRUE(store.store_vote(key, answer("older", 999)));
  EXPECT_EQ(text_of(store.find_vote(key)), "borrowed");
  ASSERT_TRUE(store.store_vote(key, answer("own", 1001)));
  EXPECT_EQ(text_of(store.find_vote(key)), "own");
  EXPECT_EQ(text_of(store.find_vote(other_key)), "borrowed too");
  EXPECT_FALSE(store.store_vote(other_key, refusal("no")));
  EXPECT_TRUE(store.forget_unless(key, sha256("another answer won")));
  EXPECT_EQ(text_of(store.find_vote(key)), "own") << "a vote belongs to no unit";
}

TEST_F(AnswerStoreTest, EmbeddingsAreTheNewestOfAllCaches) {
  ASSERT_TRUE(open("own").put_embedding(key, {1.0f}, 1000));
  ASSERT_TRUE(open("second").put_embedding(key, {2.0f}, 3000));
  ASSERT_TRUE(open("third").put_embedding(key, {3.0f}, 2000));
  std::vector<AnswerCache> others;
  for (const char* name : {"second", "third"})
    others.push_back(AnswerCache::open_read_only(folder_.path() / name).value());
  const AnswerStore store(open("own"), std::move(others));
  EXPECT_EQ(store.find_embedding(key).value(), std::vector<float>{2.0f});
  EXPECT_EQ(store.find_embedding(other_key).value(), std::nullopt);
}

// A refresh that had gone into another cache was undone: the own one was looked into first.
TEST_F(AnswerStoreTest, ALiveRunTakesThePinnedAnswerWhicheverCacheHoldsIt) {
  const auto pinned = answer("pinned", 2);
  const auto store = store_with({answer("own", 3)}, {{answer("other", 4)}, {pinned}});
  EXPECT_EQ(text_of(store.find_answer(key, {.pinned = answer_digest(pinned)})), "pinned");
  EXPECT_EQ(text_of(store.find_answer(other_key, {.pinned = answer_digest(pinned)})), "(nothing)");
}

TEST_F(AnswerStoreTest, ALiveRunWithoutAPinTakesTheNewest) {
  EXPECT_EQ(text_of(store_with({answer("own", 1)}, {{answer("borrowed", 2)}}).find_answer(key)), "borrowed");
  EXPECT_EQ(text_of(store_with({answer("own", 3)}, {{answer("borrowed", 2)}}).find_answer(key)), "own");
}

TEST_F(AnswerStoreTest, OnlyIfThePinnedAnswerIsInNoCacheALiveRunTakesTheNewest) {
  auto store = store_with({answer("own", 1)}, {{answer("borrowed", 2)}});
  WantedAnswer wanted{.pinned = sha256("it is not here")};
  EXPECT_EQ(text_of(store.find_answer(key, wanted)), "borrowed");
  wanted.held_elsewhere = true;
  EXPECT_EQ(text_of(store.find_answer(key, wanted)), "(nothing)") << "it is asked for there";
  wanted.held_elsewhere = false;
  store.lacks_caches({Reason::cache_in_use, "another process has one"});
  EXPECT_EQ(text_of(store.find_answer(key, wanted)), "(nothing)") << "that one may hold it";
  EXPECT_EQ(text_of(store.find_answer(key)), "borrowed");
}

TEST_F(AnswerStoreTest, ALiveRunBorrowsFromOthers) {
  const auto store = store_with({}, {{}, {answer("borrowed")}});
  EXPECT_EQ(text_of(store.find_answer(key)), "borrowed");
}

TEST_F(AnswerStoreTest, ADurableRunBorrowsOnlyWhatCanBeWrittenToTheDisk) {
  auto store = store_with({}, {{answer("gone", 2000)}, {answer("borrowed")}});
  std::filesystem::remove_all(folder_.path() / "other-0");
  EXPECT_EQ(text_of(store.find_answer(key)), "gone") << "its open files can be read";
  store.outlive_power_loss();
  EXPECT_EQ(text_of(store.find_answer(key)), "borrowed");
  EXPECT_EQ(text_of(store.find_replay(key, {})), "borrowed");
}

TEST_F(AnswerStoreTest, ALiveRunAsksAgainAfterANonAnswer) {
  const auto store = store_with({refusal("no")}, {{refusal("neither")}});
  EXPECT_EQ(text_of(store.find_answer(key)), "(nothing)");
}

TEST_F(AnswerStoreTest, ALiveRunTakesTheRefusalThatIsAnAnswer) {
  const auto found = [this](std::vector<Completion> own, std::vector<std::vector<Completion>> others = {}) {
    return text_of(
        store_with(std::move(own), std::move(others)).find_answer(key, {.taken = {.refusals = true}}));
  };
  auto cut_off = answer("cut off", 3000);
  cut_off.non_answer = Error{Reason::truncated, "it was cut off"};
  EXPECT_EQ(found({refusal("no")}), "no");
  EXPECT_EQ(found({answer("yes", 1000), refusal("no", 2000)}), "no") << "the newest";
  EXPECT_EQ(found({refusal("no", 1000)}, {{answer("yes", 2000)}}), "yes");
  EXPECT_EQ(found({answer("yes", 1000), cut_off}), "(nothing)") << "it is asked for again";
}

// A gate passed by an answer that the model did not give any more.
TEST_F(AnswerStoreTest, ALiveRunTakesNoAnswerThatANonAnswerCameAfter) {
  const auto yes = answer("yes", 1000);
  const auto no = refusal("no", 2000);
  EXPECT_EQ(text_of(store_with({yes}, {{no}}).find_answer(key)), "(nothing)");
  const auto store = store_with({yes, no});
  EXPECT_EQ(text_of(store.find_answer(key)), "(nothing)");
  EXPECT_EQ(text_of(store.find_answer(key, {.pinned = answer_digest(no)})), "(nothing)");
  EXPECT_EQ(text_of(store.find_answer(key, {.pinned = answer_digest(yes)})), "yes")
      << "the non-answer is no result";
}

TEST_F(AnswerStoreTest, ALiveRunTakesTheAnswerThatCameAfterANonAnswer) {
  const auto no = refusal("no", 1000);
  const auto store = store_with({no, answer("yes", 2000)});
  EXPECT_EQ(text_of(store.find_answer(key)), "yes");
  EXPECT_EQ(text_of(store.find_answer(key, {.pinned = answer_digest(no)})), "yes")
      << "one that has no result yet is not paid for again";
}

TEST_F(AnswerStoreTest, ALiveRunAsksAgainAfterANonAnswerThatIsNoRefusal) {
  auto empty = refusal("", 1000);
  EXPECT_EQ(text_of(store_with({empty}).find_answer(key, {.taken = {.refusals = true}})), "(nothing)")
      << "nobody knows why";
}

// It was asked for again in each live run, and paid for, though it was the answer that the test expects.
TEST_F(AnswerStoreTest, ALiveRunTakesTheEmptyAnswerThatIsExpected) {
  const auto found = [this](Completion own) -> std::string {
    const auto one = store_with({std::move(own)}).find_answer(key, {.taken = {.empty_answers = true}});
    EXPECT_TRUE(one);
    return !one || !*one ? "nothing" : "\"" + (*one)->text + "\"";
  };
  EXPECT_EQ(found(refusal("", 1000)), "\"\"");
  EXPECT_EQ(found(refusal("no", 2000)), "nothing") << "another non-answer";
  auto cut_off = refusal("", 3000);
  cut_off.finish_reason = "length";
  EXPECT_EQ(found(cut_off), "nothing");
  EXPECT_EQ(text_of(store_with({answer("yes", 4000)}).find_answer(key, {.taken = {.empty_answers = true}})),
            "yes");
  EXPECT_EQ(text_of(store_with({refusal("", 5000)}).find_answer(key)), "(nothing)") << "none is taken";
}

TEST_F(AnswerStoreTest, AReplayHandsOutNonAnswers) {
  const auto store = store_with({refusal("no")});
  const auto found = store.find_replay(key, {});
  EXPECT_EQ(text_of(found), "no");
  EXPECT_EQ((*found)->non_answer->reason, Reason::refusal);
}

TEST_F(AnswerStoreTest, WithoutAPinTheLatestWins) {
  EXPECT_EQ(text_of(store_with({answer("own", 5), refusal("own no", 6)}, {{answer("b", 7)}, {answer("c", 4)}})
                        .find_replay(key, {})),
            "b");
}

TEST_F(AnswerStoreTest, ANonAnswerThatIsLaterWinsToo) {
  EXPECT_EQ(text_of(store_with({answer("own", 5), refusal("own no", 6)}).find_replay(key, {})), "own no");
}

TEST_F(AnswerStoreTest, OfEqualTimesTheGreatestDigestWinsWhoeverHoldsIt) {
  const auto a = answer("a", 5);
  const auto b = answer("b", 5);
  const auto greatest = answer_digest(a) > answer_digest(b) ? "a" : "b";
  EXPECT_EQ(text_of(store_with({a}, {{b}}).find_replay(key, {})), greatest);
  const support::TemporaryFolder another;
  auto swapped = AnswerCache::open(another.path() / "swapped");
  ASSERT_TRUE(swapped);
  ASSERT_TRUE(swapped->put(key, b));
  std::vector<AnswerCache> others;
  others.push_back(lent("lender", {a}));
  EXPECT_EQ(text_of(AnswerStore(std::move(*swapped), std::move(others)).find_replay(key, {})), greatest);
}

TEST_F(AnswerStoreTest, OnlyThePinnedAnswerCounts) {
  const auto pinned = answer("pinned", 1);
  const auto store = store_with({answer("newer", 9)}, {{answer("newest", 10)}, {pinned}});
  EXPECT_EQ(text_of(store.find_replay(key, answer_digest(pinned))), "pinned");
  EXPECT_EQ(text_of(store.find_replay(key, answer_digest(answer("lost")))), "(nothing)") << "that is a miss";
}

TEST_F(AnswerStoreTest, ANonAnswerCanBePinned) {
  const auto pinned = refusal("no", 1);
  EXPECT_EQ(text_of(store_with({answer("yes", 9), pinned}).find_replay(key, answer_digest(pinned))), "no");
}

TEST_F(AnswerStoreTest, StoresIntoTheOwnCacheAlone) {
  {
    auto store = store_with({}, {{answer("old")}});
    EXPECT_TRUE(stored(store, answer("new")));
    EXPECT_FALSE(store.id().empty());
  }
  EXPECT_EQ(text_of(open("own").get(key)), "new");
  EXPECT_EQ(text_of(open("other-0").get(key)), "old");
}

TEST_F(AnswerStoreTest, ReplacesNothingOfTheKindWhereItIsNotTo) {
  auto store = store_with({answer("a")}, {{answer("elsewhere", 500)}});
  const auto stored = [&store](const Digest& at, const Completion& one) {
    return store.store_if_none({at, &one}, {}).value();
  };
  EXPECT_FALSE(stored(key, answer("b", 2000)));
  EXPECT_EQ(text_of(store.find_answer(key)), "a");
  EXPECT_TRUE(stored(key, refusal("no", 2000))) << "it stands beside the answer";
  EXPECT_EQ(text_of(store.find_replay(key, answer_digest(answer("a")))), "a");
  EXPECT_FALSE(store.holds_any(other_key));
  EXPECT_TRUE(stored(other_key, answer("c")));
  EXPECT_TRUE(store.holds_any(other_key));
}

// A run that was stopped while its new answer waited for votes had not stored it, for the sake of one that
// nobody takes: it was paid for again.
TEST_F(AnswerStoreTest, ReplacesWhatANonAnswerCameAfterUnlessThatIsPinned) {
  const auto yes = answer("yes", 1000);
  const auto no = refusal("no", 2000);
  const auto again = answer("again", 3000);
  auto store = store_with({yes, no});
  EXPECT_FALSE(store.store_if_none({key, &again}, answer_digest(yes)).value());
  EXPECT_FALSE(store.store_if_none({key, &again}, {}).value()) << "nobody knows what is pinned";
  EXPECT_TRUE(store.store_if_none({key, &again}, answer_digest(no)).value());
  EXPECT_EQ(text_of(store.find_answer(key, {.pinned = answer_digest(no)})), "again");
  EXPECT_EQ(text_of(store.find_replay(key, answer_digest(no))), "no") << "until the new one has a result";
  const auto later = answer("later", 4000);
  EXPECT_FALSE(store.store_if_none({key, &later}, answer_digest(no)).value()) << "another worker's may win";
}

// A run stopped at the first one, and so did the one that went on with it.
TEST_F(AnswerStoreTest, ADamagedEntryIsAskedForAgainWhereThatIsPossible) {
  {
    auto cache = open("own");
    for (const auto kind : {EntryKind::answer, EntryKind::embedding, EntryKind::vote})
      ASSERT_TRUE(cache.put_entry(kind, key, "damaged"));
  }
  AnswerStore store(open("own"), {});
  std::vector<std::string> heard;
  store.watch_damage([&heard](const Error& error) { heard.push_back(error.message); });
  EXPECT_EQ(text_of(store.find_answer(key)), "(nothing)");
  EXPECT_EQ(text_of(store.find_answer(key, {.taken = {.refusals = true}})), "(nothing)");
  ASSERT_GE(heard.size(), 2u);
  EXPECT_NE(heard[0].find(to_hex(key)), std::string::npos) << heard[0];
  const auto replayed = store.find_replay(key, {});
  ASSERT_FALSE(replayed) << "nobody is asked";
  EXPECT_TRUE(is_damaged_entry(replayed.error()));
  EXPECT_TRUE(is_damaged_entry(store.find_vote(key).error()));
  EXPECT_TRUE(is_damaged_entry(store.find_embedding(key).error()));
  const auto again = answer("again");
  EXPECT_TRUE(store.store_if_none({key, &again}, {}).value());
  EXPECT_EQ(text_of(store.find_answer(key)), "again");
  EXPECT_EQ(text_of(store.find_replay(key, {})), "again");
}

TEST_F(AnswerStoreTest, WhatIsDamagedInOneCacheIsTakenFromAnother) {
  ASSERT_TRUE(open("own").put_entry(EntryKind::answer, key, "damaged"));
  ASSERT_TRUE(open("worse").put_entry(EntryKind::answer, key, "damaged"));
  std::vector<AnswerCache> others;
  others.push_back(std::move(*AnswerCache::open_read_only(folder_.path() / "worse")));
  others.push_back(lent("sound", {answer("sound")}));
  const AnswerStore store(open("own"), std::move(others));
  EXPECT_EQ(text_of(store.find_answer(key)), "sound");
  EXPECT_EQ(text_of(store.find_replay(key, {})), "sound");
  const auto pinned = answer_digest(answer("pinned"));
  const auto another = store.find_replay(key, pinned);
  ASSERT_FALSE(another) << "the damaged one may be it";
  EXPECT_TRUE(is_damaged_entry(another.error()));
  EXPECT_EQ(text_of(store.find_answer(key, {.pinned = pinned})), "(nothing)") << "it is asked for again";
}

// It advised to pay for what another run had open.
TEST_F(AnswerStoreTest, WhatMayBeInACacheThatIsNotReadIsNoMiss) {
  AnswerStore store(std::nullopt, {});
  EXPECT_EQ(store.missing("it is not there"), (Error{Reason::cache_miss, "it is not there"}));
  store.lacks_caches({Reason::cache_in_use, "another process has one open: run again"});
  EXPECT_EQ(store.missing("it is not there"),
            (Error{Reason::cache_in_use, "it is not there; another process has one open: run again"}));
}

TEST_F(AnswerStoreTest, ForgetsAnAnswerThatLost) {
  auto store = store_with({answer("ours")});
  EXPECT_TRUE(store.forget_unless(key, answer_digest(answer("theirs"))));
  EXPECT_EQ(text_of(store.find_answer(key)), "(nothing)");
}

TEST_F(AnswerStoreTest, KeepsTheWinnerThatAnotherWorkerOfThisProcessStored) {
  auto store = store_with({answer("winner")});
  EXPECT_TRUE(store.forget_unless(key, answer_digest(answer("winner"))));
  EXPECT_EQ(text_of(store.find_answer(key)), "winner");
}

}  // namespace sluice::answer_store_test
