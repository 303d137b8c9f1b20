// Caches that are read while another has them open for writing.
#include "tests/unit/cache/cassette_fixture.hpp"
#include "worker/cache/directory_lock.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace sluice::beside_owner_test {

namespace fs = std::filesystem;

fs::path directory_of(const CassetteHome& home) {
  return home.folder.path() / "cache" / "worker-0";
}

TEST(BesideOwner, WhatItHoldsAtThisMomentIsRead) {
  const CassetteHome home;
  auto owner = home.cache();
  ASSERT_TRUE(owner.put(test_key(1), test_answer("in a table")));
  ASSERT_TRUE(owner.compact());
  ASSERT_TRUE(owner.put(test_key(2), test_answer("in the log")));
  const auto reader = AnswerCache::open_beside_owner(directory_of(home));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->id(), owner.id());
  ASSERT_TRUE(owner.put(test_key(3), test_answer("later")));
  ASSERT_TRUE(owner.compact());
  EXPECT_EQ(reader->get(test_key(1)).value(), test_answer("in a table"));
  EXPECT_EQ(reader->get(test_key(2)).value(), test_answer("in the log"));
  EXPECT_EQ(reader->get(test_key(3)).value(), std::nullopt);
  EXPECT_FALSE(AnswerCache::open_beside_owner(home.folder.path() / "absent"));
}

// What the owner moves from its log to a table meanwhile was in neither.
TEST(BesideOwner, NothingIsMissedWhileTheOwnerWritesTables) {
  const CassetteHome home;
  auto owner = home.cache();
  std::atomic<int> stored = 0;
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    for (int i = 0; !is_over; ++i) {
      EXPECT_TRUE(owner.put(test_key(i), test_answer(std::to_string(i))));
      stored = i + 1;
      if (i % 200 == 0) EXPECT_TRUE(owner.compact());
    }
  });
  int opened = 0;
  for (int round = 0; round < 40; ++round) {
    const int before = stored;
    const auto reader = AnswerCache::open_beside_owner(directory_of(home));
    if (!reader) {
      EXPECT_EQ(reader.error().reason, Reason::cache_in_use) << reader.error().message;
      continue;
    }
    ++opened;
    int missed = 0;
    for (int i = std::max(0, before - 500); i < before; ++i)
      missed += reader->get(test_key(i)).value() ? 0 : 1;
    EXPECT_EQ(missed, 0) << "of " << before;
  }
  is_over = true;
  writer.join();
  EXPECT_GT(opened, 0);
}

TEST(BesideOwner, AReplayReadsThemAllAndALiveRunThoseThatNobodyHas) {
  const CassetteHome home;
  auto busy = home.cache("busy");
  ASSERT_TRUE(busy.put(test_key(1), test_answer("one")));
  { home.cache("free"); }
  // Its owner is making it.
  const fs::path begun = home.folder.path() / "cache" / "begun";
  fs::create_directories(begun);
  std::ofstream(begun / "ID") << busy.id();
  const auto lock = DirectoryLock::take(begun, DirectoryLock::Kind::exclusive);
  const auto all = open_others_read_only(home.folder.path(), {}, OwnedCaches::read_too);
  ASSERT_EQ(all.opened.size(), 2u);
  EXPECT_EQ(all.opened[0].get(test_key(1)).value(), test_answer("one"));
  EXPECT_EQ(all.in_use.size(), 2u);
  EXPECT_TRUE(all.problems.empty());
  const auto free = open_others_read_only(home.folder.path(), {});
  EXPECT_EQ(free.opened.size(), 1u);
  EXPECT_EQ(free.in_use.size(), 2u);
  EXPECT_TRUE(busy.put(test_key(2), test_answer("two"))) << "readers are in nobody's way";
}

TEST(BesideOwner, ACacheWithoutItsLockIsRead) {
  const CassetteHome home;
  ASSERT_TRUE(home.cache().put(test_key(1), test_answer("one")));
  ASSERT_TRUE(fs::remove(directory_of(home) / "LOCK.sluice"));
  const auto reader = AnswerCache::open_read_only(directory_of(home));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->get(test_key(1)).value(), test_answer("one"));
  EXPECT_FALSE(fs::exists(directory_of(home) / "LOCK.sluice"));
}

}  // namespace sluice::beside_owner_test
