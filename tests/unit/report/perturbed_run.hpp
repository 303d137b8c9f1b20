#pragma once

#include "coordinator/merge/run_stability.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::sample {

/// What a trial answered: the expected claim, nothing, another claim, an answer that is none, or an error of
/// somebody else instead.
enum class Reply { it, nothing, other, refused, cut_off, error };

/// Two cases in two categories, each with 2 repeats; the first under the perturbation `crlf`, the second
/// under `crlf` and `blank-lines`. Trials in plan order: a (2), a crlf (2), b (2), b crlf (2), b blank-lines
/// (2).
class PerturbedRun {
 public:
  explicit PerturbedRun(const std::vector<Reply>& trials) {
    suite.name = "varied";
    suite.cases = {make_case("a-1", "one"), make_case("b-1", "two")};
    for (std::size_t i = 0; i < 2; ++i) suite.cases.held(i).must_contain = {expect("a/b", "c", true)};
    (void)table.add_case(0b01);
    (void)table.add_case(0b11);
    for (TrialId trial = 0; trial < trials.size(); ++trial)
      source.trials.push_back(answer(trial, trials[trial]));
    facts.resize(2);
    facts[0].name = "crlf";
    facts[0].version = "1";
    facts[0].changed = 2;
    facts[1].name = "blank-lines";
    facts[1].version = "1";
    facts[1].changed = 1;
    facts[1].skipped[{"make", "sluice does not know the comments and strings of \"make\""}] = 1;
    facts[1].failed = 2;
    facts[1].first_failure = "the perturbation command \"exit 3\" ended with exit code 3";
  }

  RunResults results() const {
    RunResults all = results_of(suite, source, gate);
    all.trials = table.trial_count();
    all.table = &table;
    return all;
  }

  RunStability stability() const {
    RunStabilityFold fold({facts, table.repeats(), {}});
    EXPECT_TRUE(visit_cases(results(), [&](const CaseResult& result) { fold.add(result); }));
    return fold.finish();
  }

  Suite suite;
  MemorySource source;
  Gate gate;
  TrialTable table{2};
  std::vector<PerturbationFacts> facts;

 private:
  static CommittedTrial answer(TrialId trial, Reply reply) {
    const FinalClaim right = claim("a/b", "c", true, 0.9, trial);
    switch (reply) {
      case Reply::it:
        return scored(trial, trial, {right}, {{{0, 0}}, {}, {}, {}}, {10, 1});
      case Reply::nothing:
        return scored(trial, trial, {}, {{}, {0}, {}, {}}, {10, 1});
      case Reply::other:
        return scored(trial, trial, {claim("a/b", "c", false, 0.8, trial)}, {{}, {0}, {0}, {}}, {10, 1});
      case Reply::refused:
        return errored(trial, trial, {Reason::refusal, "the model refused"});
      case Reply::cut_off:
        return errored(trial, trial, {Reason::truncated, "the answer was cut off"});
      case Reply::error:
        break;
    }
    return errored(trial, trial, {Reason::rate_limited, "too many"});
  }
};

}  // namespace sluice::sample
