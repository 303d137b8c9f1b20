// Calibrations of judges stay until others with the same key take their place.
#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <optional>
#include <vector>

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
