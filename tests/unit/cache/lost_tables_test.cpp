// Caches whose lists of tables are gone or cut off: refused, and nothing of them removed.
#include "worker/cache/lost_tables.hpp"

#include "tests/unit/cache/cassette_fixture.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace sluice::lost_tables_test {

namespace fs = std::filesystem;

constexpr int count = 40;
constexpr std::array<std::string_view, 4> families{"answers", "outcomes", "embeddings", "votes"};

class LostTables : public ::testing::Test {
 protected:
  fs::path home() const { return made_.folder.path(); }
  fs::path dir() const { return home() / "cache" / "worker-0"; }
  fs::path database() const { return dir() / "db"; }
  fs::path manifest() const {
    for (const auto& entry : fs::directory_iterator(database()))
      if (entry.path().filename().string().starts_with("MANIFEST")) return entry.path();
    return {};
  }
  static std::string bytes_of(const fs::path& file) {
    std::ostringstream bytes;
    bytes << std::ifstream(file, std::ios::binary).rdbuf();
    return bytes.str();
  }
  fs::path first_table() const {
    const auto tables = list_entry_files(database()).tables;
    return tables.empty() ? fs::path() : tables.front().path;
  }

  /// The first half of the answers in a table, if one is wanted; all others in the log.
  void fill(bool with_table = true) const {
    auto cache = made_.cache();
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(cache.put(test_key(i), test_answer(std::to_string(i))));
      if (with_table && i == count / 2) ASSERT_TRUE(cache.compact());
    }
    ASSERT_TRUE(cache.put_vote(test_key(1000), test_answer("{}")));
  }
  /// As a killed process leaves it: nothing is written when it ends.
  void fill_and_kill(bool with_table) const {
    const CassetteHome other;
    auto cache = other.cache();
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(cache.put(test_key(i), test_answer(std::to_string(i))));
      if (with_table && i == count / 2) ASSERT_TRUE(cache.compact());
    }
    ASSERT_TRUE(cache.put_vote(test_key(1000), test_answer("{}")));
    fs::create_directories(home() / "cache");
    fs::copy(other.folder.path() / "cache" / "worker-0", dir(), fs::copy_options::recursive);
  }
  static int answers_in(const AnswerCache& cache) {
    int found = 0;
    for (int i = 0; i < count; ++i) found += cache.get(test_key(i)).value() ? 1 : 0;
    return found;
  }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(database())) all.insert(entry.path().filename());
    return all;
  }
  void expect_refused(const std::string& words) const {
    const auto before = names();
    for (const auto& opened :
         {AnswerCache::open(dir()), AnswerCache::open(dir()), AnswerCache::open_read_only(dir())}) {
      ASSERT_FALSE(opened) << words;
      EXPECT_EQ(opened.error().reason, Reason::cache_failed);
      EXPECT_NE(opened.error().message.find(words), std::string::npos) << opened.error().message;
      EXPECT_NE(opened.error().message.find("`sluice doctor --repair`"), std::string::npos)
          << opened.error().message;
    }
    EXPECT_EQ(names(), before) << "nothing was touched";
  }
  void repair() const {
    fs::create_directories(home() / "set-aside");
    const auto done = rebuild_cache({dir(), home() / "set-aside" / "old"});
    ASSERT_TRUE(done) << done.error().message;
  }

  CassetteHome made_;
};

// The second opening made a new database, and removed the tables of the old one.
TEST_F(LostTables, ADatabaseWithoutCurrentIsRefusedAndStaysAsItIs) {
  fill();
  ASSERT_TRUE(fs::exists(first_table()));
  fs::rename(database() / "CURRENT", home() / "CURRENT");
  expect_refused("CURRENT");
  EXPECT_FALSE(open_worker_cache(home(), std::nullopt));
  fs::rename(home() / "CURRENT", database() / "CURRENT");
  EXPECT_EQ(answers_in(made_.cache()), count);
  fs::remove(database() / "CURRENT");
  repair();
  EXPECT_EQ(answers_in(made_.cache()), count);
}

// `doctor` called it sound, and the next run removed the table.
TEST_F(LostTables, ACutManifestIsRefusedAndFound) {
  fill();
  const std::string table = first_table().filename();
  std::string bytes = bytes_of(manifest());
  // The edit that names the table, and all behind it; families were added before.
  const auto votes = bytes.find("votes");
  ASSERT_NE(votes, std::string::npos);
  bytes.resize(votes + 5);
  std::ofstream(manifest(), std::ios::binary | std::ios::trunc) << bytes;
  expect_refused(table);
  const auto checked = check_caches(home());
  ASSERT_TRUE(checked) << checked.error().message;
  ASSERT_EQ(checked->damage.size(), 1u);
  EXPECT_NE(checked->damage[0].what.find(table), std::string::npos) << checked->damage[0].what;
  EXPECT_EQ(checked->damage[0].what.find(dir().string()), std::string::npos) << checked->damage[0].what;
  repair();
  EXPECT_EQ(answers_in(made_.cache()), count);
  EXPECT_TRUE(check_caches(home())->damage.empty());
}

TEST_F(LostTables, NoCutLosesAnAnswer) {
  for (const bool with_table : {true, false}) {
    fs::remove_all(home() / "cache");
    fill_and_kill(with_table);
    const fs::path whole = home() / "whole";
    fs::remove_all(whole);
    fs::copy(dir(), whole, fs::copy_options::recursive);
    const std::string bytes = bytes_of(manifest());
    int refused = 0;
    for (std::size_t size = 0; size < bytes.size(); size += 11) {
      SCOPED_TRACE(std::to_string(size) + (with_table ? " with a table" : ""));
      fs::remove_all(dir());
      fs::copy(whole, dir(), fs::copy_options::recursive);
      std::ofstream(manifest(), std::ios::binary | std::ios::trunc) << bytes.substr(0, size);
      const auto before = names();
      const auto opened = AnswerCache::open(dir());
      if (opened) {
        EXPECT_EQ(answers_in(*opened), count);
        EXPECT_TRUE(opened->get_vote(test_key(1000)).value());
        continue;
      }
      ++refused;
      EXPECT_EQ(names(), before);
    }
    EXPECT_GT(refused, 5);
  }
}

TEST_F(LostTables, WhatADeadWriterLeftIsInNobodysWay) {
  fill();
  const std::string table = bytes_of(first_table());
  const fs::path half = database() / "000901.sst";
  const fs::path twice = database() / "000902.sst";
  std::ofstream(half, std::ios::binary) << table.substr(0, table.size() / 2);
  std::ofstream(twice, std::ios::binary) << table;
  std::ofstream(database() / "000903.sst") << "";
  EXPECT_TRUE(check_caches(home())->damage.empty());
  EXPECT_TRUE(AnswerCache::open_read_only(dir()));
  EXPECT_EQ(answers_in(made_.cache()), count);
  EXPECT_FALSE(fs::exists(half) || fs::exists(twice)) << "RocksDB removes them";
}

// A cache was refused after a kill, since a table that was left held what a prune had erased.
TEST_F(LostTables, WhatWasErasedSinceIsNotLost) {
  fill();
  const std::string table = bytes_of(first_table());
  const fs::path replaced = first_table();
  {
    auto cache = made_.cache();
    for (int i = 0; i < count; ++i) ASSERT_TRUE(cache.erase_entry(EntryKind::answer, test_key(i)));
  }
  std::ofstream(database() / "000901.sst", std::ios::binary) << table;
  EXPECT_TRUE(check_caches(home())->damage.empty()) << "each key has a mark that it was erased";
  {
    auto cache = made_.cache();
    ASSERT_TRUE(cache.compact());
  }
  ASSERT_FALSE(fs::exists(replaced));
  std::ofstream(replaced, std::ios::binary) << table;
  EXPECT_TRUE(check_caches(home())->damage.empty()) << "the list names it, and what replaced it";
  EXPECT_TRUE(AnswerCache::open_read_only(dir()));
  EXPECT_EQ(answers_in(made_.cache()), 0);
}

TEST_F(LostTables, AGlanceAtTheManifestSeesAllThatIsThere) {
  for (int round = 0; round < 3; ++round) {
    fill();
    const auto tables = list_entry_files(database()).tables;
    ASSERT_FALSE(tables.empty());
    EXPECT_TRUE(is_all_in_manifest(database(), tables, families)) << "else each start takes longer";
    EXPECT_FALSE(is_all_in_manifest(database(), tables, std::array<std::string_view, 1>{"others"}));
    TableFile other = tables.front();
    ++other.bytes;
    EXPECT_FALSE(is_all_in_manifest(database(), {&other, 1}, families));
  }
  const auto tables = list_entry_files(database()).tables;
  EXPECT_TRUE(has_whole_manifest(database()));
  // RocksDB takes both for the end, and what comes before for all there is.
  std::string bytes = bytes_of(manifest());
  std::ofstream(manifest(), std::ios::binary | std::ios::app) << std::string(7, '\0');
  EXPECT_FALSE(has_whole_manifest(database()));
  std::ofstream(manifest(), std::ios::binary | std::ios::trunc) << bytes.substr(0, bytes.size() - 1);
  EXPECT_FALSE(is_all_in_manifest(database(), tables, families));
  fs::remove(manifest());
  EXPECT_FALSE(has_whole_manifest(database()));
}

TEST_F(LostTables, OneThatWasKilledAsItWasMadeOpens) {
  fs::create_directories(database());
  { made_.cache(); }
  EXPECT_FALSE(made_.cache().has_lost_database());
  fs::remove_all(database());
  EXPECT_TRUE(AnswerCache::open(dir())->has_lost_database()) << "it may have held answers";
  EXPECT_FALSE(made_.cache("new").has_lost_database());
}

}  // namespace sluice::lost_tables_test
