#include "coordinator/merge/held_results.hpp"

#include "coordinator/cli/defaults.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "tests/unit/report/perturbed_run.hpp"
#include "tests/unit/report/report_texts.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using sample::Reply;

/// Counts what is read of another source.
class CountedSource final : public ResultSource {
 public:
  explicit CountedSource(const ResultSource& source) : source_(source) {}

  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override {
    ++visits;
    return source_.visit_from(first, [&](const CommittedTrial& trial) {
      ++trials;
      visit(trial);
    });
  }

  mutable std::size_t visits = 0;
  mutable std::size_t trials = 0;

 private:
  const ResultSource& source_;
};

/// Everything that a run makes of its results, in one text.
std::string all_of(const RunResults& results, const RunStability* stability) {
  const auto aggregates = aggregate(results, {});
  EXPECT_TRUE(aggregates);
  ReportInput input = sample::input_of(results, *aggregates);
  input.stability = stability;
  return table_of(input, {}) + json_of(input) + markdown_of(input) + junit_of(input) + github_of(input);
}

std::vector<CommittedTrial> visited(const ResultSource& source, TrialId first = 0) {
  std::vector<CommittedTrial> trials;
  EXPECT_TRUE(source.visit_from(first, [&](const CommittedTrial& trial) { trials.push_back(trial); }));
  return trials;
}

void expect_same(const std::vector<CommittedTrial>& found, const std::vector<CommittedTrial>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].trial, expected[i].trial);
    EXPECT_EQ(found[i].unit, expected[i].unit) << "trial " << found[i].trial;
  }
}

/// As a live run has them: digests that nothing packs, and claims.
CommittedTrial typical(TrialId trial) {
  const std::string number = std::to_string(trial);
  auto one =
      sample::scored(trial, trial,
                     {sample::claim("tls/cert_verification", "enabled", false, 0.9, trial % 200),
                      sample::claim("tls/min_version", "version", "1." + std::to_string(trial % 4), 0.8)},
                     {{{0, 0}}, {1}, {1}, {}}, {300 + trial % 50, 40 + trial % 20});
  one.unit.key = sha256("key " + number);
  one.unit.answer = sha256("answer " + number);
  one.unit.spend.latency_ms = 500 + trial % 1000;
  return one;
}

sample::MemorySource many(TrialId count) {
  sample::MemorySource source;
  for (TrialId trial = 0; trial < count; ++trial) source.trials.push_back(typical(2 * trial));
  return source;
}

constexpr std::size_t plenty = 1u << 30;

TEST(HeldResults, TheLedgerIsReadOnceHoweverManyReportsThereAre) {
  const sample::PerturbedRun run({Reply::it, Reply::it, Reply::nothing, Reply::other, Reply::it,
                                  Reply::refused, Reply::error, Reply::it, Reply::nothing, Reply::error});
  const RunStability stability = run.stability();
  const std::string expected = all_of(run.results(), &stability);

  const CountedSource ledger(run.source);
  const HeldResults held(ledger, plenty);
  const RunResults direct = run.results();
  const RunResults results{direct.suite,      held,        direct.trials, direct.case_of,
                           direct.unfinished, direct.gate, direct.table};
  EXPECT_EQ(all_of(results, &stability), expected);
  EXPECT_EQ(ledger.visits, 1u);
  EXPECT_EQ(ledger.trials, run.source.trials.size());
}

TEST(HeldResults, EveryVisitSeesTheSame) {
  const auto source = many(3000);
  const HeldResults held(source, plenty);
  expect_same(visited(held), source.trials);
  expect_same(visited(held), source.trials);
  expect_same(visited(held, 2501), {source.trials.begin() + 1251, source.trials.end()});
}

TEST(HeldResults, KeysThatTheCallerHasAreNotKeptTwice) {
  auto source = many(3000);
  source.trials[7].unit.key = sha256("another request");
  std::vector<Digest> keys(6000);
  for (const CommittedTrial& one : many(3000).trials) keys[one.trial] = one.unit.key;
  const auto key_of = [&](TrialId trial) { return trial < 5000 ? &keys[trial] : nullptr; };
  const HeldResults held(source, plenty, key_of);
  const HeldResults whole(source, plenty);
  visited(held);
  visited(whole);
  EXPECT_LT(held.held_bytes() + 2400 * sizeof(Digest), whole.held_bytes());
  expect_same(visited(held), source.trials);
}

TEST(HeldResults, TheFirstVisitMayBeginLate) {
  const auto source = many(3000);
  const CountedSource ledger(source);
  const HeldResults held(ledger, plenty);
  expect_same(visited(held, 5000), {source.trials.begin() + 2500, source.trials.end()});
  expect_same(visited(held), source.trials);
  EXPECT_EQ(ledger.visits, 1u);
}

TEST(HeldResults, BeyondTheBoundTheRestAloneIsReadAgain) {
  const auto source = many(10'000);
  const CountedSource ledger(source);
  const HeldResults held(ledger, 300'000);
  expect_same(visited(held), source.trials);
  EXPECT_LT(held.held_bytes(), 600'000u) << "a block more at most";
  EXPECT_EQ(ledger.trials, 10'000u);
  expect_same(visited(held), source.trials);
  const std::size_t again = ledger.trials - 10'000;
  EXPECT_GT(again, 0u);
  EXPECT_LT(again, 9'000u);
  expect_same(visited(held, 19'990), {source.trials.end() - 5, source.trials.end()});
  EXPECT_EQ(ledger.trials, 10'000 + again + 5);
}

TEST(HeldResults, WithoutRoomEachVisitReadsAll) {
  const auto source = many(10);
  const CountedSource ledger(source);
  const HeldResults held(ledger, 0);
  expect_same(visited(held), source.trials);
  expect_same(visited(held), source.trials);
  EXPECT_EQ(ledger.trials, 20u);
  EXPECT_EQ(held.held_bytes(), 0u);
}

TEST(HeldResults, AMillionTypicalResultsFitTheBound) {
  constexpr TrialId sample_size = 50'000;
  const auto source = many(sample_size);
  const HeldResults held(source, plenty);
  ASSERT_TRUE(held.visit([](const CommittedTrial&) {}));
  EXPECT_LT(held.held_bytes() / sample_size * 1'000'000, defaults::max_held_result_bytes)
      << held.held_bytes() / sample_size << " bytes a result";
}

TEST(HeldResults, AFirstVisitThatFailsKeepsNothing) {
  sample::MemorySource source = many(10);
  source.failure = Error{Reason::ledger_failed, "gone"};
  const HeldResults held(source, plenty);
  std::size_t seen = 0;
  const auto first = held.visit([&](const CommittedTrial&) { ++seen; });
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().message, "gone");
  EXPECT_EQ(seen, 0u);
  source.failure.reset();
  expect_same(visited(held), source.trials);
}

}  // namespace
}  // namespace sluice
