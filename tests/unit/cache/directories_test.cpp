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
  std::vector<Error> problems;
  std::vector<std::filesystem::path> in_use;
  const auto others = open_others_read_only(home.path(), own->directory(), &problems, &in_use);
  ASSERT_EQ(others.size(), 2u);
  EXPECT_EQ(others[0].directory().filename(), "a");
  EXPECT_EQ(others[1].directory().filename(), "b");
  EXPECT_EQ(others[1].get(key).value(), completion);
  ASSERT_EQ(problems.size(), 1u) << "a folder that is no cache is reported, one in use is not";
  EXPECT_EQ(in_use, std::vector{home.path() / "cache" / "busy"});
  EXPECT_NE(problems[0].message.find("no-cache"), std::string::npos) << problems[0].message;
  EXPECT_TRUE(open_others_read_only(home.path() / "absent", own->directory()).empty());
}

}  // namespace
}  // namespace sluice
