// Which cases of a run are visited, in which order, and when a visit ends.
#include "coordinator/defaults.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using sample::MemorySource;
using sample::SampleRun;
using sample::scored;

TEST(CaseResult, EachTrialIsVisitedOnceInOrderWithItsReason) {
  const SampleRun run;
  std::vector<std::string> seen;
  ASSERT_TRUE(visit_cases(run.results, [&](const CaseResult& result) {
    seen.push_back(result.fixture.id + " " + std::string(to_string(result.status)) + " " +
                   (result.error == nullptr ? "-" : std::string(to_string(result.error->reason))));
  }));
  EXPECT_EQ(seen, (std::vector<std::string>{"auth-001 pass -", "edge-006 fail -", "jwt-003 fail -",
                                            "negative-001 pass -", "secrets-001 error rate_limited",
                                            "tls-001 fail -", "tls-002 error worker_lost"}));
}

TEST(CaseResult, ASourceOutOfOrderOrOutOfReachIsRefused) {
  Suite suite;
  suite.cases = {sample::make_case("a-1", "one"), sample::make_case("a-2", "two")};
  const auto visit = [&](std::vector<CommittedTrial> trials) {
    MemorySource source;
    source.trials = std::move(trials);
    const Gate gate;
    const RunResults results = sample::results_of(suite, source, gate);
    return visit_cases(results, [](const CaseResult&) {});
  };
  EXPECT_TRUE(visit({scored(1, 0, {}, {}, {})}));
  EXPECT_EQ(visit({scored(1, 0, {}, {}, {}), scored(0, 1, {}, {}, {})}).error().reason,
            Reason::internal_error);
  EXPECT_EQ(visit({scored(0, 0, {}, {}, {}), scored(0, 0, {}, {}, {})}).error().reason,
            Reason::internal_error);
  EXPECT_EQ(visit({scored(2, 0, {}, {}, {})}).error().reason, Reason::internal_error);
}

TEST(CaseResult, AFailureOfTheSourceIsHandedOn) {
  SampleRun run;
  run.source.failure = Error{Reason::ledger_failed, "the ledger is gone"};
  const auto aggregates = aggregate(run.results, nullptr);
  ASSERT_FALSE(aggregates);
  EXPECT_EQ(aggregates.error(), *run.source.failure);
}

/// Cases that stay in their file, of which one cannot be read any more.
class LinesFile final : public CaseFile {
 public:
  explicit LinesFile(std::uint64_t gone) : gone_(gone) {}
  Result<std::shared_ptr<Case>> read(std::uint64_t offset, std::uint32_t, std::uint64_t) const override {
    if (offset == gone_) return fail(Reason::file_unreadable, "cases.jsonl was changed during the run");
    return std::make_shared<Case>(sample::make_case("line-" + std::to_string(offset), "one"));
  }

 private:
  std::uint64_t gone_;
};

Suite suite_in_a_file(std::uint64_t cases, std::uint64_t gone) {
  const auto file = std::make_shared<LinesFile>(gone);
  Suite suite;
  for (std::uint64_t i = 0; i < cases; ++i)
    suite.cases.push_back(file, {i, 5, 0}, "line-" + std::to_string(i), "tests");
  return suite;
}

TEST(VisitCases, ThoseThatStayInTheirFileAreVisitedOnceAndInOrder) {
  constexpr auto block = static_cast<std::uint64_t>(defaults::cases_read_at_once);
  for (const std::uint64_t cases : {block - 1, block, block + 1, 3 * block + 7}) {
    const Suite suite = suite_in_a_file(cases, cases);
    MemorySource source;
    for (TrialId trial = 0; trial < cases; trial += 3) source.trials.push_back(scored(trial, 0, {}, {}, {}));
    const Gate gate;
    RunResults results = sample::results_of(suite, source, gate);
    results.trials = cases;
    std::uint64_t visited = 0;
    const auto done = visit_cases(results, [&](const CaseResult& result) {
      EXPECT_EQ(result.fixture.id, "line-" + std::to_string(visited));
      EXPECT_EQ(result.unit != nullptr, visited % 3 == 0);
      ++visited;
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(visited, cases);
  }
}

TEST(VisitCases, AreThoseOfTheirNumbersInAnyOrder) {
  constexpr std::size_t cases = 3 * defaults::cases_read_at_once;
  const Suite suite = suite_in_a_file(cases, cases);
  const MemorySource nothing;
  const Gate gate;
  RunResults results = sample::results_of(suite, nothing, gate);
  results.trials = cases;
  results.case_of = [](TrialId trial) { return trial * 7 % cases; };
  std::size_t visited = 0;
  const auto done = visit_cases(results, [&](const CaseResult& result) {
    EXPECT_EQ(result.fixture.id, "line-" + std::to_string(visited++ * 7 % cases));
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(visited, cases);
}

TEST(VisitCases, EndWhereAFileCannotBeReadAnyMore) {
  constexpr std::uint64_t gone = defaults::cases_read_at_once + 10;
  const Suite suite = suite_in_a_file(3 * defaults::cases_read_at_once, gone);
  const MemorySource nothing;
  const Gate gate;
  RunResults results = sample::results_of(suite, nothing, gate);
  results.trials = suite.cases.size();
  std::uint64_t visited = 0;
  const auto done = visit_cases(results, [&](const CaseResult&) { ++visited; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, Reason::file_unreadable);
  EXPECT_EQ(visited, gone);
}

}  // namespace
}  // namespace sluice
