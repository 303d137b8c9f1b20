// Statistics and pruning.

#include "tests/unit/cache/cassette_fixture.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(CacheStats, ListEachCacheByName) {
  CassetteHome home;
  {
    auto cache = home.cache("b");
    ASSERT_TRUE(cache.put(test_key(1), test_answer("one", 100)));
    ASSERT_TRUE(cache.put(test_key(2), test_answer("two", 300)));
    ASSERT_TRUE(cache.put(test_key(3), test_refusal("no", 50)));
    ASSERT_TRUE(cache.put_embedding(test_key(4), {1.0f}, 200));
    ASSERT_TRUE(cache.put_vote(test_key(6), test_answer("{}", 400)));
    ASSERT_TRUE(cache.put_entry(EntryKind::answer, test_key(5), "damaged"));
  }
  { home.cache("c"); }
  std::filesystem::create_directories(home.folder.path() / "cache" / "no-cache");
  std::filesystem::create_directories(home.folder.path() / "cache" / "d");
  std::ofstream(home.folder.path() / "cache" / "d" / "ID") << "cut";
  const auto busy = home.cache("a");
  const auto stats = cache_stats(home.folder.path());
  ASSERT_TRUE(stats) << stats.error().message;
  ASSERT_EQ(stats->size(), 4u) << "a folder that was never a cache is none";
  EXPECT_EQ((*stats)[0].directory.filename(), "a");
  EXPECT_TRUE((*stats)[0].in_use);
  EXPECT_GT((*stats)[0].bytes, 0u);
  const auto& full = (*stats)[1];
  EXPECT_FALSE(full.in_use || full.problem);
  EXPECT_EQ(full.answers, 2u);
  EXPECT_EQ(full.outcomes, 1u);
  EXPECT_EQ(full.embeddings, 1u);
  EXPECT_EQ(full.votes, 1u);
  EXPECT_EQ(full.damaged, 1u);
  EXPECT_EQ(full.oldest_ms, 50);
  EXPECT_EQ(full.newest_ms, 400);
  EXPECT_EQ((*stats)[2].answers, 0u);
  EXPECT_EQ((*stats)[2].oldest_ms, std::nullopt);
  EXPECT_TRUE((*stats)[3].problem);
  EXPECT_TRUE(cache_stats(home.folder.path() / "absent")->empty());
}

// It counted an answer that a live run asks for again, so that the estimate was no upper bound.
TEST(FindAnswers, CountsWhatARunWouldTake) {
  CassetteHome home;
  {
    auto one = home.cache("a");
    ASSERT_TRUE(one.put(test_key(1), test_answer("yes", 10)));
    ASSERT_TRUE(one.put(test_key(2), test_answer("yes", 10)));
    ASSERT_TRUE(one.put(test_key(3), test_refusal("no", 10)));
    ASSERT_TRUE(one.put_entry(EntryKind::answer, test_key(4), "damaged"));
    auto two = home.cache("b");
    ASSERT_TRUE(two.put(test_key(2), test_refusal("no", 20)));
    ASSERT_TRUE(two.put(test_key(3), test_answer("yes", 20)));
  }
  const std::vector<Digest> keys{test_key(1), test_key(2), test_key(3), test_key(4), test_key(5)};
  const auto held = [&](bool with_outcomes) {
    return find_answers({home.folder.path(), keys, with_outcomes}).value().held;
  };
  EXPECT_EQ(held(false), (std::vector<bool>{true, false, true, false, false}));
  EXPECT_EQ(held(true), (std::vector<bool>{true, true, true, false, false}));
}

class CachePruning : public ::testing::Test {
 protected:
  void SetUp() override {
    auto one = home_.cache("a");
    ASSERT_TRUE(one.put(test_key(1), test_answer("old", 10)));
    ASSERT_TRUE(one.put(test_key(2), test_answer("old and pinned", 10)));
    ASSERT_TRUE(one.put(test_key(3), test_answer("new", 20)));
    ASSERT_TRUE(one.put_entry(EntryKind::outcome, test_key(4), "damaged"));
    auto two = home_.cache("b");
    ASSERT_TRUE(two.put(test_key(2), test_answer("old, and pinned is another", 10)));
    ASSERT_TRUE(two.put(test_key(5), test_refusal("old", 10)));
    ASSERT_TRUE(two.put_embedding(test_key(6), {1.0f}, 10));
    ASSERT_TRUE(two.put_vote(test_key(7), test_answer("{}", 10)));
    home_.ledger.pins[test_key(2)] = {test_key(2), answer_digest(test_answer("old and pinned")), "a"};
  }

  PrunedCaches prune(bool dry_run, bool pinned_too) {
    const auto done = prune_caches({.home = home_.folder.path(),
                                    .created_before_ms = 20,
                                    .dry_run = dry_run,
                                    .pinned_too = pinned_too,
                                    .pins = home_.ledger.find()});
    EXPECT_TRUE(done) << done.error().message;
    return done.value_or(PrunedCaches{});
  }

  CassetteHome home_;
};

TEST_F(CachePruning, RemovesWhatIsOldAndDamagedButNotWhatIsPinned) {
  const auto all = std::pair(home_.content("a"), home_.content("b"));
  const auto dry = prune(true, false);
  EXPECT_EQ(std::pair(home_.content("a"), home_.content("b")), all) << "a dry run removes nothing";
  const auto done = prune(false, false);
  for (const auto& report : {dry, done}) {
    EXPECT_EQ(report.caches, 2u);
    EXPECT_EQ(report.answers, 2u);
    EXPECT_EQ(report.outcomes, 1u);
    EXPECT_EQ(report.embeddings, 0u) << "the pinned answer may be compared by it";
    EXPECT_EQ(report.votes, 0u) << "the pinned answer may be judged by it";
    EXPECT_EQ(report.damaged, 1u);
    EXPECT_EQ(report.spared, 3u);
  }
  const auto left = home_.content("a");
  EXPECT_EQ(left.size(), 2u);
  EXPECT_TRUE(left.contains({EntryKind::answer, test_key(2)}));
  EXPECT_TRUE(left.contains({EntryKind::answer, test_key(3)}));
  EXPECT_EQ(home_.content("b").size(), 2u);
  EXPECT_EQ(prune(false, false).answers, 0u);
}

TEST_F(CachePruning, EmbeddingsAndVotesStayForAPinnedAnswerOfAnyAge) {
  home_.ledger.pins = {{test_key(3), {test_key(3), answer_digest(test_answer("new")), "a"}}};
  const auto kept = prune(false, false);
  EXPECT_EQ(kept.embeddings + kept.votes, 0u);
  home_.ledger.pins = {{test_key(3), {test_key(3), answer_digest(test_answer("another")), "a"}}};
  const auto removed = prune(false, false);
  EXPECT_EQ(removed.embeddings, 1u) << "nothing that is here is pinned";
  EXPECT_EQ(removed.votes, 1u);
  EXPECT_TRUE(home_.content("b").empty());
}

TEST_F(CachePruning, PinnedOnesGoWhenThatIsAskedFor) {
  const auto done = prune(false, true);
  EXPECT_EQ(done.answers, 3u);
  EXPECT_EQ(done.embeddings, 1u);
  EXPECT_EQ(done.votes, 1u);
  EXPECT_EQ(home_.content("a").size(), 1u);
}

TEST_F(CachePruning, GivesTheSpaceBack) {
  {
    auto cache = home_.cache("a");
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919);
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(cache.put(test_key(100 + i), test_answer(std::to_string(i) + text, 1)));
    }
  }
  const auto done = prune(false, false);
  EXPECT_EQ(done.answers, 102u);
  EXPECT_LT(done.bytes_after, done.bytes_before / 4);
}

TEST_F(CachePruning, OneInUseIsReportedBeforeAnythingIsRemoved) {
  const auto before = home_.content("a");
  {
    const auto busy = home_.cache("b");
    const auto done = prune_caches({.home = home_.folder.path(),
                                    .created_before_ms = 20,
                                    .dry_run = false,
                                    .pinned_too = false,
                                    .pins = home_.ledger.find()});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().reason, Reason::cache_in_use);
    EXPECT_NE(done.error().message.find(busy.directory().string()), std::string::npos);
  }
  EXPECT_EQ(home_.content("a"), before);
}

}  // namespace
}  // namespace sluice
