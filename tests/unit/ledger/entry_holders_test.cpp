#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Holders = std::vector<std::string>;

struct EntryHoldersTest : testing::Test {
  Ledger open() const {
    auto ledger = Ledger::open(folder.path() / "ledger.db");
    EXPECT_TRUE(ledger) << ledger.error().message;
    return std::move(*ledger);
  }
  static void note(Ledger& ledger, const std::vector<EntryHolder>& entries) {
    const auto noted = ledger.note_holders(entries);
    EXPECT_TRUE(noted) << noted.error().message;
  }
  static Holders holders(Ledger& ledger, const std::vector<EntryKey>& keys) {
    const auto found = ledger.holders(keys);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : Holders();
  }

  support::TemporaryFolder folder;
  EntryKey first{EntryKind::embedding, sha256("first")};
  EntryKey second{EntryKind::embedding, sha256("second")};
  EntryKey vote{EntryKind::vote, sha256("vote")};
};

TEST_F(EntryHoldersTest, WhatIsNotedIsFoundAgainInTheOrderOfTheKeys) {
  {
    auto ledger = open();
    note(ledger, {{first, "cache-a"}, {vote, "cache-c"}, {second, "cache-b"}});
  }
  auto ledger = open();
  const EntryKey none{EntryKind::vote, sha256("none")};
  EXPECT_EQ(holders(ledger, {second, none, vote, first, second}),
            (Holders{"cache-b", "", "cache-c", "cache-a", "cache-b"}));
  EXPECT_EQ(holders(ledger, {}), Holders{});
}

TEST_F(EntryHoldersTest, TheLatestHolderCounts) {
  auto ledger = open();
  for (const auto& key : {first, vote}) {
    note(ledger, {{key, "cache-a"}});
    note(ledger, {{key, "cache-b"}, {key, "cache-c"}});
    EXPECT_EQ(holders(ledger, {key}), Holders{"cache-c"});
    note(ledger, {});
    EXPECT_EQ(holders(ledger, {key}), Holders{"cache-c"});
  }
}

TEST_F(EntryHoldersTest, AnEmbeddingAndAVoteOfOneDigestAreTwoEntries) {
  auto ledger = open();
  const EntryKey twin{EntryKind::vote, first.digest};
  note(ledger, {{first, "cache-a"}});
  EXPECT_EQ(holders(ledger, {twin, first}), (Holders{"", "cache-a"}));
  note(ledger, {{twin, "cache-b"}});
  EXPECT_EQ(holders(ledger, {twin, first}), (Holders{"cache-b", "cache-a"}));
}

TEST_F(EntryHoldersTest, TheyAreNoPins) {
  auto ledger = open();
  note(ledger, {{first, "cache-a"}, {vote, "cache-a"}});
  const auto pins = ledger.pins(std::vector{first.digest, vote.digest});
  ASSERT_TRUE(pins);
  EXPECT_FALSE(pins->front() || pins->back());
}

TEST_F(EntryHoldersTest, TwoLedgersOfOneFileSeeEachOthersNotes) {
  auto recorder = open();
  auto reader = open();
  note(recorder, {{first, "cache-a"}, {vote, "cache-b"}});
  EXPECT_EQ(holders(reader, {first, vote}), (Holders{"cache-a", "cache-b"}));
}

}  // namespace
}  // namespace sluice
