#include "worker/sync_groups.hpp"

#include "common/defaults.hpp"
#include "worker/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice::sync_groups_test {

constexpr TimePoint start{};
constexpr auto group_time = defaults::sync_group_time;

StoredNews returned(UnitId unit) {
  return {{}, {unit}, {}, {}};
}
StoredNews completed(UnitOutcome outcome) {
  StoredNews news;
  news.completed.push_back({nullptr, std::move(outcome), {}});
  return news;
}
const Result<void> refused = fail(Reason::cache_failed, "the disk is gone");

TEST(SyncGroups, NothingWaitsWhereAllIsOnTheDisk) {
  SyncGroups groups;
  groups.add(returned(1), false, start);
  EXPECT_EQ(groups.take().returned, std::vector<UnitId>{1});
  EXPECT_FALSE(groups.begin_sync(start + group_time));
  EXPECT_FALSE(groups.wake());
}

TEST(SyncGroups, WhatCameWithinAGroupsTimeIsSaidAfterOneSync) {
  SyncGroups groups;
  groups.add(returned(1), true, start);
  groups.add(returned(2), true, start + group_time / 2);
  EXPECT_TRUE(groups.take().returned.empty());
  EXPECT_FALSE(groups.begin_sync(start + group_time / 2));
  EXPECT_EQ(groups.wake(), start + group_time);
  EXPECT_TRUE(groups.begin_sync(start + group_time));
  EXPECT_TRUE(groups.take().returned.empty()) << "the disk has not answered yet";
  groups.on_synced({});
  EXPECT_EQ(groups.take().returned, (std::vector<UnitId>{1, 2}));
}

TEST(SyncGroups, WhatComesDuringASyncWaitsForTheNextOne) {
  SyncGroups groups;
  groups.add(returned(1), true, start);
  ASSERT_TRUE(groups.begin_sync(start + group_time));
  // The store may be synced again, and nobody has said so yet: one goes after the other all the same.
  groups.add(returned(2), false, start + group_time);
  EXPECT_FALSE(groups.begin_sync(start + 3 * group_time)) << "one at a time";
  EXPECT_FALSE(groups.wake());
  groups.on_synced({});
  EXPECT_EQ(groups.take().returned, std::vector<UnitId>{1});
  ASSERT_TRUE(groups.begin_sync(start + 3 * group_time));
  groups.on_synced({});
  EXPECT_EQ(groups.take().returned, std::vector<UnitId>{2});
}

TEST(SyncGroups, AnAnswerThatWaitsForItsVotesIsSyncedThoughNothingIsSaidOfIt) {
  SyncGroups groups;
  groups.add({}, true, start);
  EXPECT_EQ(groups.wake(), start + group_time);
  EXPECT_TRUE(groups.begin_sync(start + group_time));
}

TEST(SyncGroups, AFullGroupDoesNotWaitForItsTime) {
  SyncGroups groups;
  for (std::size_t i = 0; i < defaults::sync_group_units; ++i) {
    EXPECT_FALSE(groups.begin_sync(start));
    groups.add(completed(Completion{}), true, start);
  }
  EXPECT_TRUE(groups.begin_sync(start));
}

TEST(SyncGroups, NothingThatTheDiskRefusedIsSaidToBeStored) {
  SyncGroups groups;
  StoredNews news = completed(Completion{});
  news.append(completed(Error{Reason::timed_out, "it hung"}));
  const EntryKey key{EntryKind::vote, {}};
  news.entries.emplace_back(wire::Stored{"run", {key}, {}});
  news.entries.emplace_back(wire::Seek{"run", {key}});
  groups.add(std::move(news), true, start);
  ASSERT_TRUE(groups.begin_sync(start + group_time));
  groups.on_synced(refused);
  const auto said = groups.take();
  ASSERT_EQ(said.completed.size(), 2u);
  EXPECT_EQ(std::get<Error>(said.completed[0].outcome).reason, Reason::cache_failed);
  EXPECT_EQ(std::get<Error>(said.completed[1].outcome).reason, Reason::timed_out) << "no answer was lost";
  ASSERT_EQ(said.entries.size(), 2u);
  EXPECT_EQ(std::get<wire::Stored>(said.entries[0]), (wire::Stored{"run", {}, {key}})) << "others may pay";
  EXPECT_TRUE(std::holds_alternative<wire::Seek>(said.entries[1]));
}

TEST(SyncGroups, ADiskThatHasRefusedIsAskedOnlyForWhatIsToBeSaid) {
  SyncGroups groups;
  groups.add(returned(1), true, start);
  ASSERT_TRUE(groups.begin_sync(start + group_time));
  groups.on_synced(refused);
  groups.add({}, true, start + group_time);
  EXPECT_FALSE(groups.wake());
  groups.add(completed(Completion{}), true, start + group_time);
  EXPECT_EQ(groups.wake(), start + 2 * group_time);
}

TEST(SyncGroups, NothingIsSaidOfARunThatIsOver) {
  SyncGroups groups;
  groups.add(returned(1), true, start);
  ASSERT_TRUE(groups.begin_sync(start + group_time));
  groups.add(returned(2), true, start + group_time);
  groups.clear();
  groups.on_synced({});
  EXPECT_TRUE(groups.take().returned.empty());
}

}  // namespace sluice::sync_groups_test
