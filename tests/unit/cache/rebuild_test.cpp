// Damage of a cache: found, never served, and what can be saved.
#include "tests/unit/cache/cassette_fixture.hpp"

#include <algorithm>
#include <csignal>
#include <random>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace sluice::rebuild_test {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class CacheRebuilding : public ::testing::Test {
 protected:
  static constexpr int count = 200;

  fs::path home() const { return made_.folder.path(); }
  fs::path dir() const { return home() / "cache" / "worker-0"; }
  fs::path aside() const { return home() / "set-aside"; }

  static Completion answer(int number) {
    return test_answer("answer " + std::to_string(number) +
                       std::string(300, static_cast<char>('a' + number % 26)));
  }
  /// With half of its answers in a table and the others in the log.
  void fill() const {
    auto cache = made_.cache();
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(cache.put(test_key(i), answer(i)));
      if (i == count / 2) ASSERT_TRUE(cache.compact());
    }
    ASSERT_TRUE(cache.put_vote(test_key(1000), test_answer("{}")));
    ASSERT_TRUE(cache.put_embedding(test_key(1001), {1.0f, 2.0f}));
  }
  std::vector<std::string> damage() const {
    const auto checked = check_caches(home());
    EXPECT_TRUE(checked) << checked.error().message;
    std::vector<std::string> all;
    for (const auto& one : checked->damage) all.push_back(one.what);
    return all;
  }
  Result<RebuiltCache> rebuild() const {
    fs::create_directories(aside());
    fs::remove_all(aside() / "old");
    return rebuild_cache({dir(), aside() / "old"});
  }
  /// How many of the answers are there; fails the test over one that is another.
  int sound_answers() const {
    const auto cache = AnswerCache::open_read_only(dir());
    if (!cache) return -1;
    int found = 0;
    for (int i = 0; i < count; ++i) {
      const auto got = cache->get(test_key(i));
      if (!got || !*got) continue;
      EXPECT_EQ(**got, answer(i)) << i;
      ++found;
    }
    return found;
  }
  /// The files that hold entries or say where they are.
  std::vector<fs::path> files() const {
    std::vector<fs::path> all{dir() / "ID"};
    for (const auto& entry : fs::directory_iterator(dir() / "db")) {
      const auto name = entry.path().filename().string();
      if (name.ends_with(".sst") || name.ends_with(".log") || name.starts_with("MANIFEST") ||
          name == "CURRENT")
        if (fs::file_size(entry.path()) > 0) all.push_back(entry.path());
    }
    std::ranges::sort(all);
    return all;
  }

  CassetteHome made_;
};

TEST_F(CacheRebuilding, ASoundCacheHasNoDamage) {
  fill();
  EXPECT_EQ(damage(), std::vector<std::string>());
  EXPECT_EQ(check_caches(home())->entries, count + 2u);
  EXPECT_EQ(check_caches(home())->ids, std::vector<std::string>{AnswerCache::open_read_only(dir())->id()});
  EXPECT_EQ(check_caches(home() / "absent")->caches, 0u);
}

TEST_F(CacheRebuilding, DamagedEntriesAndForeignFilesAreNamed) {
  fill();
  ASSERT_TRUE(made_.cache().put_entry(EntryKind::answer, test_key(7), "damaged"));
  EXPECT_EQ(damage(), std::vector<std::string>{"1 entry whose checksum or form does not fit"});
  std::ofstream(home() / "cache" / "notes.txt") << "foreign";
  std::ofstream(dir() / "notes.txt") << "foreign";
  fs::create_directories(home() / "cache" / "other");
  EXPECT_EQ(damage().size(), 4u);
  const auto checked = check_caches(home());
  for (const auto& one : checked->damage) {
    EXPECT_EQ(one.is_foreign, one.what != "1 entry whose checksum or form does not fit") << one.what;
  }
}

TEST_F(CacheRebuilding, WhatVerifiesIsKeptUnderTheSameId) {
  fill();
  std::string id;
  {
    auto cache = made_.cache();
    id = cache.id();
    ASSERT_TRUE(cache.put_entry(EntryKind::answer, test_key(7), "damaged"));
  }
  const auto done = rebuild();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->left_out, 1u);
  EXPECT_EQ(done->kept, count + 1u);
  EXPECT_EQ(sound_answers(), count - 1);
  EXPECT_EQ(made_.cache().id(), id);
  EXPECT_TRUE(made_.cache().get_vote(test_key(1000)).value());
  EXPECT_TRUE(made_.cache().get_embedding(test_key(1001)).value());
  EXPECT_TRUE(fs::exists(aside() / "old" / "db")) << "the old one is kept";
  EXPECT_EQ(damage(), std::vector<std::string>());
}

TEST_F(CacheRebuilding, WhatIsInTheLogAloneIsKept) {
  const fs::path open = home() / "open";
  auto cache = AnswerCache::open(open);
  ASSERT_TRUE(cache);
  // Each kind but answers has one entry, at any place in the sequence of changes.
  Completion refused = answer(0);
  refused.non_answer = Error{Reason::refusal, "the model declined"};
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(cache->put(test_key(i), answer(i)));
    if (i == 1) ASSERT_TRUE(cache->put(test_key(1002), refused));
    if (i == 1) ASSERT_TRUE(cache->put_embedding(test_key(1001), {1.0f, 2.0f}));
    if (i == 1) ASSERT_TRUE(cache->put_vote(test_key(1000), test_answer("{}")));
  }
  // As a killed process leaves it.
  fs::create_directories(dir().parent_path());
  fs::copy(open, dir(), fs::copy_options::recursive);
  const auto done = rebuild();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->kept, count + 3u);
  EXPECT_EQ(done->places, 0u);
  EXPECT_EQ(sound_answers(), count);
}

TEST_F(CacheRebuilding, AMissingTableLeavesWhatIsInTheLog) {
  const fs::path open = home() / "open";
  auto cache = AnswerCache::open(open);
  ASSERT_TRUE(cache);
  ASSERT_TRUE(cache->put(test_key(0), answer(0)));
  ASSERT_TRUE(cache->compact());
  for (int i = 1; i < count; ++i) ASSERT_TRUE(cache->put(test_key(i), answer(i)));
  fs::create_directories(dir().parent_path());
  fs::copy(open, dir(), fs::copy_options::recursive);
  int removed = 0;
  for (const auto& file : files()) removed += file.extension() == ".sst" && fs::remove(file) ? 1 : 0;
  ASSERT_EQ(removed, 1);
  const auto done = rebuild();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(sound_answers(), count - 1);
}

TEST_F(CacheRebuilding, ALogForWhoseTableThereIsNoRoomIsNotGivenUp) {
  const fs::path open = home() / "open";
  auto cache = AnswerCache::open(open);
  ASSERT_TRUE(cache);
  std::mt19937 random(20261127);  // What does not pack.
  constexpr int few = 20;         // A table of them is larger than their log.
  for (int i = 0; i < few; ++i) {
    std::string text;
    for (int c = 0; c < 300; ++c) text += static_cast<char>('!' + random() % 90);
    ASSERT_TRUE(cache->put(test_key(i), test_answer(text)));
  }
  fs::create_directories(dir().parent_path());
  fs::copy(open, dir(), fs::copy_options::recursive);
  const auto all = files();
  const auto log = std::ranges::find_if(all, [](const auto& file) { return file.extension() == ".log"; });
  ASSERT_NE(log, all.end());
  const std::string before = text_of(*log);
  // Like a disk that has room for a copy of the log, and not for a table.
  rlimit normal{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &normal), 0);
  const rlimit tight{before.size() + 100, normal.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto done = rebuild();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &normal), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(done) << done->kept;
  EXPECT_EQ(text_of(*log), before) << "it stays as it was";
  const auto again = rebuild();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->kept, static_cast<std::size_t>(few));
}

TEST_F(CacheRebuilding, OneInUseIsLeftAlone) {
  fill();
  const auto busy = made_.cache();
  const auto done = rebuild();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, Reason::cache_in_use);
  EXPECT_EQ(check_caches(home())->in_use, std::vector<fs::path>{dir()});
}

TEST_F(CacheRebuilding, AFileThatCannotBeOpenedIsNoDamage) {
  fill();
  // Like a file without permission, for root too.
  const auto all = files();
  const auto table = std::ranges::find_if(all, [](const auto& file) { return file.extension() == ".sst"; });
  ASSERT_NE(table, all.end());
  const fs::path elsewhere = home() / "elsewhere";
  fs::rename(*table, elsewhere);
  fs::create_symlink(table->filename(), *table);  // To itself.
  const auto checked = check_caches(home());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().reason, Reason::file_unreadable);
  EXPECT_NE(checked.error().message.find("cannot look at " + table->string()), std::string::npos)
      << checked.error().message;
  const auto done = rebuild();
  ASSERT_FALSE(done) << "what is in that table would be lost";
  fs::remove(*table);
  fs::rename(elsewhere, *table);
  EXPECT_EQ(sound_answers(), count) << "it stays as it was";
}

TEST_F(CacheRebuilding, AMissingTableOrListOfTablesLeavesTheRest) {
  for (const std::string ending : {".sst", "CURRENT"}) {
    fs::remove_all(home() / "cache");
    fill();
    const auto all = files();
    const auto first =
        std::ranges::find_if(all, [&](const auto& file) { return file.string().ends_with(ending); });
    ASSERT_NE(first, all.end());
    fs::remove(*first);
    EXPECT_FALSE(damage().empty()) << ending;
    const auto done = rebuild();
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_GE(sound_answers(), count / 2 - 2) << ending;
    EXPECT_EQ(damage(), std::vector<std::string>());
  }
}

TEST_F(CacheRebuilding, NoMutationGivesAWrongAnswerAndARebuiltOneIsSound) {
  fill();
  const fs::path whole = home() / "whole";
  fs::copy(dir(), whole, fs::copy_options::recursive);
  std::mt19937 random(20261124);
  int found = 0;
  constexpr int mutations = 40;
  for (int i = 0; i < mutations; ++i) {
    fs::remove_all(dir());
    fs::copy(whole, dir(), fs::copy_options::recursive);
    const auto all = files();
    const fs::path file = all[static_cast<std::size_t>(i) % all.size()];
    std::string bytes = text_of(file);
    const std::size_t at = random() % bytes.size();
    if (random() % 8 == 0) {
      bytes.resize(at);
    } else {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
    }
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    const std::string where =
        std::to_string(i) + ": " + file.filename().string() + " at " + std::to_string(at);
    const bool is_found = !damage().empty();
    found += is_found ? 1 : 0;
    if (!is_found && !file.string().ends_with(".log")) {
      EXPECT_EQ(sound_answers(), count) << where;
    }
    sound_answers();
    const auto done = rebuild();
    ASSERT_TRUE(done) << where << ": " << done.error().message;
    EXPECT_EQ(damage(), std::vector<std::string>()) << where;
    EXPECT_GE(sound_answers(), 0) << where;
    EXPECT_TRUE(made_.cache().put(test_key(0), answer(0))) << where;
  }
  EXPECT_GT(found, mutations / 2);
}

}  // namespace sluice::rebuild_test
