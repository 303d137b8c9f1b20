// What a restored ledger promises: it never says that a run has what it lost, whatever the damage.
#include "tests/unit/ledger/damaged_ledger.hpp"
#include "tests/unit/ledger/old_ledgers.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice::file_restore_test {

using namespace damaged_ledger;

constexpr std::size_t page_bytes = 4096;

/// A page of rows of a table, by its bytes.
struct LeafPage {
  LeafPage(std::string& file, std::size_t page) : file_(&file), at_(page * page_bytes) {}

  bool is_one() const { return (*file_)[at_] == 0x0d; }
  std::size_t rows() const { return number(at_ + 3); }
  /// Where the number of a row stands, behind its length.
  std::size_t key_at(std::size_t row) const {
    std::size_t at = at_ + number(at_ + 8 + 2 * row);
    while (is_continued(at)) ++at;
    return at + 1;
  }
  std::uint64_t key(std::size_t row) const {
    std::uint64_t value = 0;
    std::size_t at = key_at(row);
    for (; is_continued(at); ++at) value = (value << 7) | (byte(at) & 0x7f);
    return (value << 7) | byte(at);
  }
  void make_noise() const {
    for (std::size_t i = 0; i < page_bytes; ++i) (*file_)[at_ + i] = static_cast<char>(i * 7);
  }

 private:
  std::uint8_t byte(std::size_t at) const { return static_cast<std::uint8_t>((*file_)[at]); }
  bool is_continued(std::size_t at) const { return byte(at) >= 0x80; }
  std::size_t number(std::size_t at) const { return byte(at) * 256u + byte(at + 1); }

  std::string* file_;
  std::size_t at_;
};

class FileRestore : public DamagedLedger {
 protected:
  /// The pages that hold results of the first run and no others, in their order.
  static std::vector<LeafPage> pages_of_first_run(std::string& bytes) {
    std::vector<LeafPage> pages;
    for (std::size_t page = 1; page < bytes.size() / page_bytes; ++page) {
      const LeafPage leaf(bytes, page);
      if (leaf.is_one() && leaf.rows() > 0 && leaf.key(0) >> 32 == 1 && leaf.key(leaf.rows() - 1) >> 32 == 1)
        pages.push_back(leaf);
    }
    std::ranges::sort(pages, {}, [](const LeafPage& page) { return page.key(0); });
    return pages;
  }
  std::vector<std::string> ended() const {
    std::vector<std::string> ids;
    for (const char* run : {"run-1", "run-2"}) {
      const auto past = Ledger::open(restored())->find_run(run);
      if (past && past->summary) ids.emplace_back(run);
    }
    return ids;
  }
};

TEST_F(FileRestore, ARowThatBreaksARuleOfItsTableIsLostAloud) {
  make_ledger();
  change(
      "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'worker TEXT NOT NULL', "
      "'worker TEXT') WHERE name = 'results'");
  change("UPDATE results SET worker = NULL, checksum = NULL WHERE id = (2 << 32) + 9");
  const auto done = restore();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->left_out, std::vector<std::string>{"1 row of results that does not verify"});
  EXPECT_EQ(done->reopened, std::vector<std::string>{"run-2"});
}

TEST_F(FileRestore, ARowWhoseNumberIsAnotherRunsOpensItsOwn) {
  make_ledger();
  std::string bytes = text_of(file());
  const LeafPage page = pages_of_first_run(bytes)[1];
  bytes[page.key_at(2)] = '\xa0';  // Of run 1 one of run 2.
  ASSERT_EQ(page.key(2) >> 32, 2u);
  write(file(), bytes);
  const auto done = restore();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->reopened, std::vector<std::string>{"run-1"});
  EXPECT_EQ(ended(), std::vector<std::string>{"run-2"});
}

// A table's tree can lack a branch without anybody noticing who reads it from one end to the other.
TEST_F(FileRestore, WhatIsMissingWithoutATraceIsNoticedByItsCount) {
  make_ledger();
  change("DELETE FROM results WHERE id BETWEEN (1 << 32) + 50 AND (1 << 32) + 60");
  const auto done = restore();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->reopened, std::vector<std::string>{"run-1"});
  EXPECT_EQ(ended(), std::vector<std::string>{"run-2"});
}

TEST_F(FileRestore, WhatWasToOutliveALossOfPowerIsToGoOnDoingSo) {
  const auto mark = [](const std::filesystem::path& file) {
    return SQLite::Database(file.string()).execAndGet("PRAGMA application_id").getInt();
  };
  make_ledger();
  ASSERT_TRUE(restore());
  EXPECT_EQ(mark(restored()), 0);
  ASSERT_TRUE(Ledger::open(file(), Outlives::power));
  const int durable = mark(file());
  EXPECT_NE(durable, 0);
  change("UPDATE results SET answer = randomblob(32) WHERE id & 4294967295 = 7");
  ASSERT_TRUE(restore());
  EXPECT_EQ(mark(restored()), durable);
  write(file(), std::string(page_bytes, 'x'));
  ASSERT_TRUE(restore());
  EXPECT_EQ(mark(restored()), durable) << "it may have been one";
}

TEST_F(FileRestore, ARunThatLostACaseThatFailedDoesNotPass) {
  make_ledger();
  {
    auto ledger = Ledger::open(file());
    ASSERT_TRUE(ledger->note_cases("run-2", std::vector<CaseOutcome>{{4, "case-4", CaseStatus::fail},
                                                                     {5, "case-5", CaseStatus::error}}));
    RunSummary summary;
    summary.completed_at_ms = 2000;
    summary.verdict = "fail";
    summary.exit_code = 1;
    summary.statuses = {298, 0, 0, 1, 1};
    ASSERT_TRUE(ledger->finish_run("run-2", summary));
  }
  change("DELETE FROM cases WHERE case_id = 'case-4'");
  EXPECT_EQ(restore()->reopened, std::vector<std::string>{"run-2"});
}

TEST_F(FileRestore, ARunThatNobodyCanGoOnWithKeepsItsVerdict) {
  make_ledger();
  change("UPDATE results SET answer = randomblob(32) WHERE id & 4294967295 = 7");
  const auto done =
      restore_ledger_file(file(), restored(), [](const PastRun& past) { return past.run.run_id == "run-2"; });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->left_out, (std::vector<std::string>{"2 rows of results that do not verify",
                                                      "rows of run run-1, which cannot be gone on with"}));
  EXPECT_EQ(done->reopened, std::vector<std::string>{"run-2"});
  EXPECT_EQ(ended(), std::vector<std::string>{"run-1"});
}

TEST_F(FileRestore, ARunThatLostWhatItsCasesWereShownKeepsItsVerdict) {
  make_ledger();
  {
    RetrievalEvent event;
    event.plugin = "p";
    ASSERT_TRUE(Ledger::open(file())->note_retrievals("run-2", std::vector{event}));
  }
  change("UPDATE retrievals SET example = 'another'");
  change("UPDATE results SET answer = randomblob(32) WHERE id = (2 << 32) + 7");
  const auto done = restore();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->reopened.empty());
  EXPECT_EQ(done->left_out.back(), "rows of run run-2, which cannot be gone on with");
}

// A damaged number before a page that cannot be read sent the copy back, for ever.
TEST_F(FileRestore, AWalkThatIsSentBackEnds) {
  make_ledger();
  std::string bytes = text_of(file());
  const auto pages = pages_of_first_run(bytes);
  ASSERT_GT(pages.size(), 4u);
  const std::size_t last = pages[2].rows() - 1;
  bytes[pages[2].key_at(last)] = '\x80';
  ASSERT_EQ(pages[2].key(last) >> 32, 0u);
  const std::size_t lost = pages[3].rows() + 1;
  pages[3].make_noise();
  write(file(), bytes);
  const auto done = restore();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(results(restored(), "run-1")->size(), trials - lost);
  EXPECT_EQ(results(restored(), "run-2")->size(), trials);
  EXPECT_EQ(done->reopened, std::vector<std::string>{"run-1"});
}

class FileRestoreOfVersion : public FileRestore,
                             public ::testing::WithParamInterface<old_ledgers::OldLedger> {};

INSTANTIATE_TEST_SUITE_P(All, FileRestoreOfVersion, ::testing::ValuesIn(old_ledgers::all),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(FileRestoreOfVersion, KeepsItsRuns) {
  old_ledgers::make(GetParam(), file());
  const auto done = restore_ledger_file(file(), restored(), [](const PastRun&) { return false; });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->left_out, std::vector<std::string>());
  EXPECT_EQ(Ledger::open(restored())->list_runs(10)->size(), 2u);
}

}  // namespace sluice::file_restore_test
