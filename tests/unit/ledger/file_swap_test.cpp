// A restored file takes the damaged one's place whole or not at all, and nobody reads what is half replaced.
#include "coordinator/ledger/file_swap.hpp"

#include "coordinator/ledger/observation_store.hpp"
#include "tests/unit/ledger/damaged_ledger.hpp"

#include <filesystem>

namespace sluice::file_swap_test {

using namespace damaged_ledger;
namespace fs = std::filesystem;

class FileSwap : public DamagedLedger {
 protected:
  void SetUp() override {
    for (const char* ending : {"", "-wal", "-journal", "-shm"}) write(file().string() + ending, old(ending));
    write(draft_beside(file()), "new");
  }
  static std::string old(const std::string& ending) { return "old" + ending; }
  fs::path aside() const { return folder_.path() / "aside"; }
  void expect_replaced() const {
    EXPECT_EQ(text_of(file()), "new");
    for (const char* ending : {"-wal", "-journal", "-shm"})
      EXPECT_FALSE(fs::exists(file().string() + ending));
    for (const char* ending : {"", "-wal", "-journal"})
      EXPECT_EQ(text_of(aside().string() + ending), old(ending)) << ending;
    EXPECT_FALSE(is_half_replaced(file()));
    EXPECT_FALSE(fs::exists(draft_beside(file())));
  }
};

TEST_F(FileSwap, TheOldOneStaysWholeUnderAnotherName) {
  const auto done = replace_by_draft(file(), aside());
  ASSERT_TRUE(done) << done.error().message;
  expect_replaced();
}

TEST_F(FileSwap, WhatFailsLeavesTheFileAsItWas) {
  // The old log cannot be kept under its other name.
  fs::create_directories(aside().string() + "-wal/in the way");
  const auto done = replace_by_draft(file(), aside());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, Reason::output_failed);
  for (const char* ending : {"", "-wal", "-journal"})
    EXPECT_EQ(text_of(file().string() + ending), old(ending)) << ending;
  EXPECT_FALSE(is_half_replaced(file()));
}

// Killed with the log of commits gone and the file still the damaged one.
TEST_F(FileSwap, OneThatWasCutOffIsRefusedAndFinished) {
  fs::rename(draft_beside(file()), file().string() + ".restored");
  fs::remove(file().string() + "-wal");
  fs::remove(file().string() + "-journal");
  for (const auto& ledger : {Ledger::open(file()), Ledger::open_read_only(file())}) {
    ASSERT_FALSE(ledger);
    EXPECT_NE(ledger.error().message.find("`sluice doctor --repair` goes on with it"), std::string::npos);
  }
  EXPECT_FALSE(ObservationStore::open(file()));
  EXPECT_FALSE(ObservationStore::open_read_only(file()));
  for (const char* ending : {"-wal", "-journal"}) write(aside().string() + "-first" + ending, old(ending));
  ASSERT_TRUE(finish_replacing(file(), aside()));
  EXPECT_EQ(text_of(file()), "new");
  EXPECT_EQ(text_of(aside()), "old");
  EXPECT_FALSE(is_half_replaced(file()));
}

}  // namespace sluice::file_swap_test
