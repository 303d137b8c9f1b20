// A table with a damaged block: what stands in it is lost, and nothing else.
#include "tests/unit/cache/cassette_fixture.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace sluice::damaged_blocks_test {

namespace fs = std::filesystem;

constexpr int count = 60;

class DamagedBlocks : public ::testing::Test {
 protected:
  fs::path home() const { return made_.folder.path(); }
  fs::path dir() const { return home() / "cache" / "worker-0"; }

  /// Of answers that do not pack, so that a block holds a few of them.
  void SetUp() override {
    std::mt19937 random(20261129);
    {
      auto cache = made_.cache();
      for (int i = 0; i < count; ++i) {
        std::string text;
        for (int c = 0; c < 900; ++c) text += static_cast<char>('!' + random() % 90);
        answers_.push_back(test_answer(text));
        ASSERT_TRUE(cache.put(test_key(i), answers_.back()));
      }
      ASSERT_TRUE(cache.compact());
    }
    for (const auto& entry : fs::directory_iterator(dir() / "db"))
      if (entry.path().extension() == ".sst") table_ = entry.path();
    ASSERT_FALSE(table_.empty());
    std::fstream file(table_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(1000);
    file << std::string(30, '\x5a');
  }

  std::set<int> readable(const AnswerCache& cache) const {
    std::set<int> found;
    for (int i = 0; i < count; ++i) {
      const auto got = cache.get(test_key(i));
      if (got) {
        EXPECT_EQ(*got, answers_[static_cast<std::size_t>(i)]);
        found.insert(i);
        continue;
      }
      EXPECT_TRUE(is_damaged_entry(got.error())) << got.error().message;
      EXPECT_NE(got.error().message.find(to_hex(test_key(i))), std::string::npos) << got.error().message;
      EXPECT_NE(got.error().message.find("`sluice doctor --repair`"), std::string::npos)
          << got.error().message;
    }
    return found;
  }

  CassetteHome made_;
  std::vector<Completion> answers_;
  fs::path table_;
};

TEST_F(DamagedBlocks, OnlyWhatStandsThereCannotBeReadUntilItIsStoredAnew) {
  const auto whole = readable(*AnswerCache::open_read_only(dir()));
  EXPECT_GT(whole.size(), 30u);
  ASSERT_LT(whole.size(), static_cast<std::size_t>(count));
  auto cache = made_.cache();
  EXPECT_EQ(readable(cache), whole);
  for (int i = 0; i < count; ++i) {
    if (!whole.contains(i)) ASSERT_TRUE(cache.put(test_key(i), answers_[static_cast<std::size_t>(i)]));
  }
  EXPECT_EQ(readable(cache).size(), static_cast<std::size_t>(count));
}

// The same was said twice, each time with the path three times.
TEST_F(DamagedBlocks, TheyAreNamedOnce) {
  const auto checked = check_caches(home());
  ASSERT_TRUE(checked) << checked.error().message;
  ASSERT_EQ(checked->damage.size(), 1u);
  const std::string& what = checked->damage[0].what;
  EXPECT_NE(what.find("block checksum mismatch"), std::string::npos) << what;
  EXPECT_NE(what.find("db/" + table_.filename().string()), std::string::npos) << what;
  EXPECT_EQ(what.find(home().string()), std::string::npos) << what;
}

// RocksDB gives up the table as a whole.
TEST_F(DamagedBlocks, ARepairKeepsTheOtherBlocksOfTheTable) {
  const auto whole = readable(*AnswerCache::open_read_only(dir()));
  fs::create_directories(home() / "set-aside");
  const auto done = rebuild_cache({dir(), home() / "set-aside" / "old"});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_GE(done->kept + 4, whole.size()) << "but for what stands next to the damage";
  EXPECT_LE(done->kept, whole.size());
  EXPECT_EQ(done->left_out, 0u);
  EXPECT_GE(done->places, 1u) << "what was lost is said";
  const auto cache = made_.cache();
  std::size_t kept = 0;
  for (int i = 0; i < count; ++i) {
    const bool is_there = cache.get(test_key(i)).value().has_value();
    EXPECT_LE(is_there, whole.contains(i)) << i;
    kept += is_there ? 1 : 0;
  }
  EXPECT_EQ(kept, done->kept);
  EXPECT_TRUE(check_caches(home())->damage.empty());
}

TEST_F(DamagedBlocks, APruneRemovesNothingAndSaysWhatToDo) {
  ASSERT_TRUE(made_.cache("a").put(test_key(1), test_answer("old", 1)));
  const auto before = made_.content("a");
  for (const bool dry_run : {true, false}) {
    const auto done = prune_caches({.home = home(),
                                    .created_before_ms = 10,
                                    .dry_run = dry_run,
                                    .pinned_too = true,
                                    .pins = made_.ledger.find()});
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("`sluice doctor --repair`"), std::string::npos)
        << done.error().message;
  }
  EXPECT_EQ(made_.content("a"), before);
}

}  // namespace sluice::damaged_blocks_test
