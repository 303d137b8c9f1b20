// Calibrations of judges stay until others with the same key take their place.
#include "coordinator/ledger/file_check.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_checks.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace sluice::calibrations_test {

JudgeCalibration sample_calibration() {
  JudgeCalibration one;
  one.key = {"suite", "relevancy", "tone", "v1", "sha256:11", "openai", "gpt-4o", 3};
  one.against = "labels";
  one.run_id = "run-1";
  one.calibrated_at_ms = 1000;
  one.criteria = 0xfedcba9876543210;
  one.answers = 50;
  one.cases = 40;
  one.agreement = 0.9;
  one.agreement_low = 0.8;
  one.agreement_high = 0.95;
  one.kappa = 0.7;
  one.kappa_low = 0.5;
  one.kappa_high = 0.85;
  return one;
}

/// What the ledger has with exactly this key.
std::optional<JudgeCalibration> calibration_of(const Ledger& ledger, const CalibrationKey& key) {
  const auto all = ledger.calibrations_of(key.suite);
  EXPECT_TRUE(all) << all.error().message;
  if (!all) return std::nullopt;
  EXPECT_LE(std::ranges::count(*all, key, &JudgeCalibration::key), 1);
  const auto found = std::ranges::find(*all, key, &JudgeCalibration::key);
  return found == all->end() ? std::nullopt : std::optional(*found);
}

TEST(Calibrations, TheLatestOfAKeyIsKept) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  const JudgeCalibration first = sample_calibration();
  {
    auto ledger = Ledger::open(file);
    ASSERT_TRUE(ledger);
    EXPECT_EQ(calibration_of(*ledger, first.key), std::nullopt);
    ASSERT_TRUE(ledger->note_calibrations(std::vector{first}));
  }
  auto ledger = Ledger::open(file);
  ASSERT_TRUE(ledger);
  EXPECT_EQ(calibration_of(*ledger, first.key), first);
  JudgeCalibration later = first;
  later.calibrated_at_ms = 2000;
  later.kappa.reset();
  later.criteria = 0;
  ASSERT_TRUE(ledger->note_calibrations(std::vector{later}));
  EXPECT_EQ(calibration_of(*ledger, first.key), later);
  auto reader = Ledger::open_read_only(file);
  ASSERT_TRUE(reader);
  EXPECT_EQ(calibration_of(*reader, first.key), later);
}

TEST(Calibrations, AnotherJudgeRubricOrNumberOfVotesIsNotCalibratedWithIt) {
  const support::TemporaryFolder folder;
  auto ledger = Ledger::open(folder.path() / "ledger.db");
  ASSERT_TRUE(ledger);
  const JudgeCalibration one = sample_calibration();
  ASSERT_TRUE(ledger->note_calibrations(std::vector{one}));
  const auto is_found_with = [&](const auto& change) {
    CalibrationKey key = one.key;
    change(key);
    return calibration_of(*ledger, key).has_value();
  };
  EXPECT_TRUE(is_found_with([](CalibrationKey&) {}));
  EXPECT_FALSE(is_found_with([](CalibrationKey& key) { key.suite = "other"; }));
  EXPECT_FALSE(is_found_with([](CalibrationKey& key) { key.metric = "rubric"; }));
  EXPECT_FALSE(is_found_with([](CalibrationKey& key) { key.rubric = "other"; }));
  EXPECT_FALSE(is_found_with([](CalibrationKey& key) { key.rubric_version = "v2"; }));
  EXPECT_FALSE(is_found_with([](CalibrationKey& key) { key.rubric_hash = "sha256:22"; }));
  EXPECT_FALSE(is_found_with([](CalibrationKey& key) { key.judge_provider = "gemini"; }));
  EXPECT_FALSE(is_found_with([](CalibrationKey& key) { key.judge_model = "gpt-5"; }));
  EXPECT_FALSE(is_found_with([](CalibrationKey& key) { key.samples = 5; }));
}

// A changed one counted for other criteria than those that it was made with.
TEST(Calibrations, TheirCriteriaAreUnderTheChecksum) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  const JudgeCalibration one = sample_calibration();
  ASSERT_TRUE(Ledger::open(file)->note_calibrations(std::vector{one}));
  EXPECT_EQ(check_ledger_file(file)->damage, std::vector<std::string>());
  const auto changed_to = [&](const char* criteria) {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE calibrations SET criteria = " + std::string(criteria));
    return Ledger::open(file)->calibrations_of("suite");
  };
  for (const char* criteria : {"1", "NULL"}) {
    const auto found = changed_to(criteria);
    ASSERT_FALSE(found) << criteria;
    EXPECT_NE(found.error().message.find("its table calibrations is damaged"), std::string::npos)
        << found.error().message;
    EXPECT_EQ(check_ledger_file(file)->damage.size(), 1u);
  }
  EXPECT_EQ(changed_to("-81985529216486896")->size(), 1u) << "as it was";
}

// They stay sound: what they were made of is not asked again.
TEST(Calibrations, ARowFromBeforeFitsWithoutItsCriteria) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  const JudgeCalibration one = sample_calibration();
  ASSERT_TRUE(Ledger::open(file)->note_calibrations(std::vector{one}));
  const auto& table = row_checks::ledger_table("calibrations");
  const auto as_before = [&](const std::string& change) {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    row_checks::add_functions(db);
    db.exec("UPDATE calibrations SET checksum = " + row_checks::sum(table, table.columns) + change);
  };
  as_before(
      "; ALTER TABLE runs DROP COLUMN known_failures; ALTER TABLE runs DROP COLUMN paid_cost; "
      "PRAGMA user_version = 13");
  EXPECT_EQ(check_ledger_file(file)->damage, std::vector<std::string>());
  auto ledger = Ledger::open(file);
  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_EQ(calibration_of(*ledger, one.key), one);
  // Nor does a file lack anything that has no such column.
  as_before("; ALTER TABLE calibrations DROP COLUMN criteria; PRAGMA user_version = 12");
  EXPECT_EQ(check_ledger_file(file)->damage, std::vector<std::string>());
  const auto restored = folder.path() / "restored.db";
  const auto done = restore_ledger_file(file, restored, [](const PastRun&) { return true; });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->left_out, std::vector<std::string>());
  JudgeCalibration before = one;
  before.criteria = 0;
  EXPECT_EQ(calibration_of(*Ledger::open(restored), one.key), before);
}

TEST(Calibrations, ThoseOfASuiteAreFoundTogether) {
  const support::TemporaryFolder folder;
  auto ledger = Ledger::open(folder.path() / "ledger.db");
  ASSERT_TRUE(ledger);
  std::vector<JudgeCalibration> all(3, sample_calibration());
  all[1].key.rubric_version = "v2";
  all[2].key.suite = "another";
  ASSERT_TRUE(ledger->note_calibrations(all));
  const auto found = ledger->calibrations_of("suite");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (std::vector{all[0], all[1]}));
}

}  // namespace sluice::calibrations_test
