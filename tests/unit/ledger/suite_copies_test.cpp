// The ledger's copies of what the suites of runs were read from.
#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <memory>
#include <string>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace sluice::suite_copies_test {

class SuiteCopies : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "ledger.db"; }
  Ledger open() const {
    auto opened = Ledger::open(file());
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  static void record(Ledger& ledger, const std::string& run_id, const SuiteCopy& suite) {
    ASSERT_TRUE(ledger.begin_run({run_id, "suite", "live", "openai", "m", "1", 100, 1}));
    const auto noted = ledger.note_suite(run_id, suite);
    ASSERT_TRUE(noted) << noted.error().message;
  }
  int count() const {
    SQLite::Database db(file().string());
    return db.execAndGet("SELECT count(*) FROM suites").getInt();
  }

  const SuiteCopy first_{
      "/s/suite.yaml",
      {{"/s/empty", ""}, {"/s/suite.yaml", std::string("suite: \0s", 9)}},
      {{"/s", {}},
       {"/s/set", {{"a.toml", CopiedEntry::Kind::file}, {"l", CopiedEntry::Kind::linked_folder}}}}};
  const SuiteCopy second_{"/s/suite.yaml", {{"/s/suite.yaml", std::string(100'000, 'x')}}, {}};

 private:
  support::TemporaryFolder folder_;
};

TEST_F(SuiteCopies, AreThoseOfTheRunAndKeptOnce) {
  Ledger ledger = open();
  record(ledger, "run-1", first_);
  record(ledger, "run-2", second_);
  record(ledger, "run-3", first_);
  ASSERT_TRUE(ledger.begin_run({"run-4", "suite", "live", "openai", "m", "1", 100, 1}));
  EXPECT_EQ(**ledger.suite_of("run-1"), first_);
  EXPECT_EQ(**ledger.suite_of("run-2"), second_);
  EXPECT_EQ(**ledger.suite_of("run-3"), first_);
  for (const char* other : {"run-4", "a run that nobody knows"}) {
    const auto none = ledger.suite_of(other);
    ASSERT_TRUE(none) << none.error().message;
    EXPECT_FALSE(*none);
  }
  EXPECT_EQ(count(), 2);
}

TEST_F(SuiteCopies, GoWithTheLastRunOfThem) {
  Ledger ledger = open();
  record(ledger, "run-1", first_);
  record(ledger, "run-2", first_);
  ASSERT_TRUE(ledger.remove_run("run-1"));
  EXPECT_EQ(**ledger.suite_of("run-2"), first_);
  ASSERT_TRUE(ledger.remove_run("run-2"));
  EXPECT_EQ(count(), 0);
}

TEST_F(SuiteCopies, TheOldestGiveWayWhereThereAreTooMany) {
  Ledger ledger = open();
  record(ledger, "run-1", first_);
  record(ledger, "run-2", second_);
  ASSERT_TRUE(ledger.begin_run({"run-3", "suite", "live", "openai", "m", "1", 100, 1}));
  const SuiteCopy third{"/t", {{"/t", "another"}}, {}};
  ASSERT_TRUE(ledger.note_suite("run-3", third, 1));
  EXPECT_EQ(**ledger.suite_of("run-3"), third) << "that of the run that begins stays";
  EXPECT_FALSE(*ledger.suite_of("run-1"));
  EXPECT_FALSE(*ledger.suite_of("run-2"));
  record(ledger, "run-4", first_);
  EXPECT_EQ(**ledger.suite_of("run-1"), first_) << "it is there again";
}

TEST_F(SuiteCopies, ADamagedOneIsNamed) {
  Ledger ledger = open();
  record(ledger, "run-1", second_);
  {
    SQLite::Database db(file().string(), SQLite::OPEN_READWRITE);
    db.exec("UPDATE suites SET files = x'00'");
  }
  const auto damaged = ledger.suite_of("run-1");
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().message.find("its table suites is damaged"), std::string::npos)
      << damaged.error().message;
  record(ledger, "run-2", second_);
  EXPECT_EQ(**ledger.suite_of("run-1"), second_) << "the next run has the files at hand";
}

}  // namespace sluice::suite_copies_test
