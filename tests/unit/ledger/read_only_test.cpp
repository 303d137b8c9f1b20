#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

/// A ledger in a folder whose name SQLite could take for something else.
class ReadOnlyLedger : public ::testing::Test {
 protected:
  ReadOnlyLedger() {
    auto ledger = Ledger::open(file());
    EXPECT_TRUE(ledger) << ledger.error().message;
    if (!ledger) return;
    RunRecord run;
    run.run_id = "run-1";
    run.suite = "s";
    run.mode = "live";
    run.provider = "openai";
    run.model = "m";
    run.prompt_version = "1";
    EXPECT_TRUE(ledger->begin_run(run));
    EXPECT_TRUE(ledger->move_pins(std::vector<CachePin>{{key_, answer_, "cache-a"}}));
    EXPECT_TRUE(ledger->note_holders(std::vector<EntryHolder>{{embedding_, "cache-b"}, {vote_, "cache-v"}}));
  }

  std::filesystem::path file() const { return folder_.path() / "home 100%41?x=1#y" / "ledger.db"; }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(file().parent_path())) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }
  std::optional<Pin> pin_in(Ledger& ledger) const {
    const auto pins = ledger.pins(std::vector<Digest>{key_});
    EXPECT_TRUE(pins) << pins.error().message;
    return pins ? pins->front() : std::nullopt;
  }

  support::TemporaryFolder folder_;
  Digest key_ = sha256("key");
  Digest answer_ = sha256("answer");
  EntryKey embedding_{EntryKind::embedding, key_};
  EntryKey vote_{EntryKind::vote, key_};
};

TEST_F(ReadOnlyLedger, ShowsRunsAndPinsAndLeavesNothingBeside) {
  ASSERT_EQ(names(), std::set<std::string>{"ledger.db"}) << "its log was taken in when it was closed";
  auto ledger = Ledger::open_read_only(file());
  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_EQ(ledger->list_runs(10)->size(), 1u);
  EXPECT_EQ(ledger->find_run("run-1")->run.model, "m");
  ASSERT_TRUE(pin_in(*ledger));
  EXPECT_EQ(pin_in(*ledger)->holder, "cache-a");
  EXPECT_EQ(names(), std::set<std::string>{"ledger.db"});
}

TEST_F(ReadOnlyLedger, TakesNoChange) {
  auto ledger = Ledger::open_read_only(file());
  ASSERT_TRUE(ledger);
  const auto moved = ledger->move_pins(std::vector<CachePin>{{key_, answer_, "cache-c"}});
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().reason, Reason::ledger_failed);
}

TEST_F(ReadOnlyLedger, ShowsWhatIsStillInTheLogOfAnotherProcess) {
  auto writer = Ledger::open(file());
  ASSERT_TRUE(writer->move_pins(std::vector<CachePin>{{key_, answer_, "cache-c"}}));
  auto ledger = Ledger::open_read_only(file());
  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_EQ(pin_in(*ledger)->holder, "cache-c");
}

TEST_F(ReadOnlyLedger, ShowsThePinsThatARunHasLeftUnsettled) {
  {
    auto writer = Ledger::open(file());
    UnitResult result;
    result.key = key_;
    result.answer = sha256("later");
    result.scores.resize(1);
    const std::vector<ResultToCommit> results{{result, {0}, "w", "cache-c"}};
    ASSERT_TRUE(writer->commit("run-1", results, true));
  }
  auto ledger = Ledger::open_read_only(file());
  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_EQ(pin_in(*ledger)->answer, sha256("later"));
  EXPECT_FALSE(ledger->move_pins(std::vector<CachePin>{{key_, answer_, "cache-d"}}));
  EXPECT_EQ(names(), std::set<std::string>{"ledger.db"});
}

TEST_F(ReadOnlyLedger, CountsPinsByTheirCaches) {
  {
    auto writer = Ledger::open(file());
    ASSERT_TRUE(writer->move_pins(
        std::vector<CachePin>{{sha256("one"), answer_, "cache-c"}, {sha256("two"), answer_, "cache-c"}}));
    UnitResult result;
    result.key = key_;
    result.answer = sha256("later");
    result.scores.resize(1);
    ASSERT_TRUE(writer->commit("run-1", std::vector<ResultToCommit>{{result, {0}, "w", "cache-d"}}, true));
  }
  const auto ledger = Ledger::open_read_only(file());
  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_EQ(*ledger->pins_by_cache(), (std::map<std::string, std::uint64_t>{{"cache-c", 2}, {"cache-d", 1}}))
      << "the pin of cache-a has moved";
}

TEST_F(ReadOnlyLedger, RefusesALaterVersionSayingWhatToDo) {
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  const auto ledger = Ledger::open_read_only(file());
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().reason, Reason::ledger_failed);
  EXPECT_NE(ledger.error().message.find("has version 99"), std::string::npos) << ledger.error().message;
  EXPECT_NE(ledger.error().message.find("a newer sluice wrote it"), std::string::npos)
      << ledger.error().message;
}

TEST_F(ReadOnlyLedger, GivesItsPinsToAnother) {
  auto other = Ledger::open(folder_.path() / "other.db");
  ASSERT_TRUE(other);
  const auto ledger = Ledger::open_read_only(file());
  ASSERT_TRUE(ledger) << ledger.error().message;
  const auto copied = other->copy_pins_from(*ledger);
  ASSERT_TRUE(copied) << copied.error().message;
  ASSERT_TRUE(pin_in(*other));
  EXPECT_EQ(pin_in(*other)->answer, answer_);
  EXPECT_EQ(*other->holders(std::vector{embedding_, vote_}),
            (std::vector<std::string>{"cache-b", "cache-v"}));
  EXPECT_TRUE(other->list_runs(10)->empty());
  EXPECT_EQ(names(), std::set<std::string>{"ledger.db"});
}

}  // namespace
}  // namespace sluice
