#include "worker/cache/directories.hpp"

#include "tests/support/temporary_folder.hpp"

#include <fstream>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(CacheDirectories, UnnamedWorkersTakeTheFirstFreeOne) {
  const support::TemporaryFolder home;
  auto first = open_worker_cache(home.path(), std::nullopt);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->directory(), home.path() / "cache" / "worker-0");
  auto second = open_worker_cache(home.path(), std::nullopt);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->directory(), home.path() / "cache" / "worker-1");
  { const auto given_back = std::move(*first); }
  EXPECT_EQ(open_worker_cache(home.path(), std::nullopt)->directory(), home.path() / "cache" / "worker-0");
}

// A worker's home is made with its cache.
TEST(CacheDirectories, ANewHomeIsItsOwnersAlone) {
  const support::TemporaryFolder folder;
  const auto home = folder.path() / "home";
  const auto make = [&] { EXPECT_TRUE(open_worker_cache(home, "node-7")); };
  EXPECT_EQ(support::left_to_others(home, make), std::filesystem::perms::none);
}

TEST(CacheDirectories, ANamedOneInUseIsAnError) {
  const support::TemporaryFolder home;
  const auto cache = open_worker_cache(home.path(), "node-7");
  ASSERT_TRUE(cache) << cache.error().message;
  EXPECT_EQ(cache->directory(), home.path() / "cache" / "node-7");
  const auto again = open_worker_cache(home.path(), "node-7");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::cache_in_use);
  EXPECT_TRUE(open_worker_cache(home.path(), "node-8"));
}

TEST(CacheDirectories, NamesThatLeaveTheFolderAreRefused) {
  const support::TemporaryFolder home;
  for (const std::string name : {"", ".", "..", "../x", "a/b", "/etc"}) {
    const auto cache = open_worker_cache(home.path(), name);
    ASSERT_FALSE(cache) << name;
    EXPECT_EQ(cache.error().reason, Reason::usage_invalid);
  }
}

TEST(CacheDirectories, AHomeThatCannotBeWrittenIsAnErrorAtOnce) {
  const auto cache = open_worker_cache("/proc/no-such-home", std::nullopt);
  ASSERT_FALSE(cache);
  EXPECT_EQ(cache.error().reason, Reason::cache_failed);
}

TEST(CacheDirectories, TheOthersAreThoseThatNobodyWrites) {
  const support::TemporaryFolder home;
  const auto key = sha256("k");
  const Completion completion{"text", "stop", "", {}, 1, {}};
  for (const std::string name : {"b", "a", "busy", "own"}) {
    ASSERT_TRUE(open_worker_cache(home.path(), name)->put(key, completion));
  }
  std::filesystem::create_directories(home.path() / "cache" / "no-cache");
  std::ofstream(home.path() / "cache" / "file") << "x";
  const auto busy = open_worker_cache(home.path(), "busy");
  const auto own = open_worker_cache(home.path(), "own");
  const auto others = open_others_read_only(home.path(), own->directory());
  ASSERT_EQ(others.opened.size(), 2u);
  EXPECT_EQ(others.opened[0].directory().filename(), "a");
  EXPECT_EQ(others.opened[1].directory().filename(), "b");
  EXPECT_EQ(others.opened[1].get(key).value(), completion);
  EXPECT_EQ(others.in_use, std::vector{home.path() / "cache" / "busy"});
  EXPECT_TRUE(others.problems.empty()) << "a folder that was never a cache holds nothing";
  const auto none = open_others_read_only(home.path() / "absent", own->directory());
  EXPECT_TRUE(none.opened.empty() && none.in_use.empty() && none.problems.empty());
}

TEST(CacheDirectories, AmongTheOthersOneWithoutAFileIsNamed) {
  for (const std::string lost : {"db/CURRENT", "ID"}) {
    const support::TemporaryFolder home;
    const auto dir = open_worker_cache(home.path(), "gpu-7")->directory();
    ASSERT_TRUE(std::filesystem::remove(dir / lost)) << lost;
    const auto others = open_others_read_only(home.path(), {});
    EXPECT_TRUE(others.opened.empty());
    ASSERT_EQ(others.problems.size(), 1u) << lost;
    EXPECT_EQ(others.problems[0].reason, Reason::cache_failed);
    EXPECT_NE(others.problems[0].message.find(dir.string()), std::string::npos) << others.problems[0].message;
  }
}

// It was replaced by another one, and the ledger did not find any more what the cache held.
TEST(CacheDirectories, AnIdThatCannotBeReadStays) {
  const support::TemporaryFolder home;
  const auto id = open_worker_cache(home.path(), "gpu-7")->directory() / "ID";
  std::filesystem::remove(id);
  std::filesystem::create_symlink("ID", id);  // Leads to itself: nobody, be it root, can read it.
  const auto cache = open_worker_cache(home.path(), "gpu-7");
  ASSERT_FALSE(cache);
  EXPECT_EQ(cache.error().reason, Reason::cache_failed);
  EXPECT_NE(cache.error().message.find(id.string()), std::string::npos) << cache.error().message;
  EXPECT_TRUE(std::filesystem::is_symlink(id));
}

TEST(CacheDirectories, AFolderOfCachesThatCannotBeReadIsAProblem) {
  const support::TemporaryFolder home;
  std::ofstream(home.path() / "cache") << "no folder";
  EXPECT_FALSE(list_caches(home.path()));
  const auto others = open_others_read_only(home.path(), {});
  ASSERT_EQ(others.problems.size(), 1u);
  EXPECT_NE(others.problems[0].message.find((home.path() / "cache").string()), std::string::npos);
}

}  // namespace
}  // namespace sluice
