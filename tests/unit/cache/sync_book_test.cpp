// What a cache takes for being on the disk.
#include "worker/cache/sync_book.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct SyncBookTest : testing::Test {
  Result<void> sync() {
    return book.sync([this]() -> Result<void> { return ++earlier, comes_to; },
                     [this]() -> Result<void> { return ++now, comes_to; });
  }
  SyncBook book;
  Result<void> comes_to;
  int earlier = 0;
  int now = 0;
};

TEST_F(SyncBookTest, WhatEarlierProcessesWroteIsSyncedOnce) {
  EXPECT_TRUE(book.has_unsynced());
  EXPECT_TRUE(sync());
  EXPECT_FALSE(book.has_unsynced());
  EXPECT_TRUE(sync());
  EXPECT_EQ(earlier, 1);
  EXPECT_EQ(now, 1) << "nothing was written since";
  book.write_begins();
  book.write_ended();
  EXPECT_TRUE(sync());
  EXPECT_EQ(earlier, 1);
  EXPECT_EQ(now, 2);
}

TEST_F(SyncBookTest, AWriteThatHasNotEndedIsLeftToTheNextSync) {
  book.write_begins();
  EXPECT_TRUE(sync());
  EXPECT_TRUE(book.has_unsynced());
  book.write_ended();
  EXPECT_TRUE(sync());
  EXPECT_FALSE(book.has_unsynced());
}

TEST_F(SyncBookTest, AWriteDuringASyncIsLeftToTheNext) {
  const auto nothing = []() -> Result<void> { return {}; };
  EXPECT_TRUE(book.sync(nothing, [this]() -> Result<void> {
    book.write_begins();
    book.write_ended();
    return {};
  }));
  EXPECT_TRUE(book.has_unsynced());
}

TEST_F(SyncBookTest, WhatADiskHasRefusedStaysRefused) {
  EXPECT_TRUE(sync());
  book.write_begins();
  book.write_ended();
  comes_to = fail(Reason::cache_failed, "no space");
  EXPECT_FALSE(sync());
  comes_to = {};
  const auto later = sync();
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().message, "no space");
  EXPECT_TRUE(book.has_unsynced());
  EXPECT_EQ(now, 2) << "it is not tried again";
}

}  // namespace
}  // namespace sluice
