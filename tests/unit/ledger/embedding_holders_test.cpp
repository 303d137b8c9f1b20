#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Holders = std::vector<std::string>;

struct EmbeddingHoldersTest : testing::Test {
  Ledger open() const {
    auto ledger = Ledger::open(folder.path() / "ledger.db");
    EXPECT_TRUE(ledger) << ledger.error().message;
    return std::move(*ledger);
  }
  static void note(Ledger& ledger, const std::vector<EmbeddingHolder>& embeddings) {
    const auto noted = ledger.note_embeddings(embeddings);
    EXPECT_TRUE(noted) << noted.error().message;
  }
  static Holders holders(Ledger& ledger, const std::vector<Digest>& keys) {
    const auto found = ledger.embedding_holders(keys);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : Holders();
  }

  support::TemporaryFolder folder;
  Digest first = sha256("first");
  Digest second = sha256("second");
};

TEST_F(EmbeddingHoldersTest, WhatIsNotedIsFoundAgainInTheOrderOfTheKeys) {
  {
    auto ledger = open();
    note(ledger, {{first, "cache-a"}, {second, "cache-b"}});
  }
  auto ledger = open();
  EXPECT_EQ(holders(ledger, {second, sha256("third"), first, second}),
            (Holders{"cache-b", "", "cache-a", "cache-b"}));
  EXPECT_EQ(holders(ledger, {}), Holders{});
}

TEST_F(EmbeddingHoldersTest, TheLatestHolderCounts) {
  auto ledger = open();
  note(ledger, {{first, "cache-a"}});
  note(ledger, {{first, "cache-b"}, {first, "cache-c"}});
  EXPECT_EQ(holders(ledger, {first}), Holders{"cache-c"});
  note(ledger, {});
  EXPECT_EQ(holders(ledger, {first}), Holders{"cache-c"});
}

TEST_F(EmbeddingHoldersTest, EmbeddingsAreNoPins) {
  auto ledger = open();
  note(ledger, {{first, "cache-a"}});
  const auto pins = ledger.pins(std::vector{first});
  ASSERT_TRUE(pins);
  EXPECT_FALSE(pins->front());
}

TEST_F(EmbeddingHoldersTest, TwoLedgersOfOneFileSeeEachOthersNotes) {
  auto recorder = open();
  auto reader = open();
  note(recorder, {{first, "cache-a"}});
  EXPECT_EQ(holders(reader, {first}), Holders{"cache-a"});
}

}  // namespace
}  // namespace sluice
