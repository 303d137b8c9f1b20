#pragma once

#include "common/checks/redactor.hpp"
#include "common/command/bounded_command.hpp"
#include "common/error.hpp"
#include "common/model/result.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/run/recording.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// What holds for all commands of a run that check answers (docs/metrics.md#commands).
struct CommandRules {
  std::string folder;                         ///< The suite's, where they run.
  std::vector<std::string> hidden_variables;  ///< With secrets.
  Redactor redactor;                          ///< For what they say of answers.
};

/// A program that is to be run, with what it reads.
struct CommandRun {
  BoundedCommand command;
  std::string input;
};

/// A result that lacks what commands say of its answer: which are to be run, and what comes of it. Pure; not
/// thread-safe. Rules and plan must outlive it.
class CheckedResult {
 public:
  /// A result that no command is asked about has no runs. An error: it is not of this plan's units, or a
  /// case's file cannot be read any more.
  static Result<CheckedResult> make(RecordResult record, const Plan& plan, const CommandRules& rules);

  /// As it came. REQUIRES: not finished.
  const RecordResult& record() const { return record_; }
  const std::vector<CommandRun>& runs() const { return runs_; }
  /// What the n-th of the runs reads, once: it has the whole answer.
  std::string take_input(std::size_t n) { return std::move(runs_[n].input); }
  /// How the n-th of the runs ended.
  void take(std::size_t n, const CommandEnd& end);
  bool is_done() const { return open_ == 0; }
  /// The result with the outcomes of all metrics, in the order of the suite. REQUIRES: is_done().
  RecordResult finish();

 private:
  /// A trial's case, and which of the runs each of its commands is, in their order.
  struct CheckedTrial {
    CaseRef test_case;
    std::vector<std::size_t> runs;
  };

  explicit CheckedResult(RecordResult record, const CommandRules& rules)
      : record_(std::move(record)), rules_(&rules) {}
  Result<void> ask(std::size_t score, const Plan& plan, UnitId unit);
  void merge(TrialScore& score, const CheckedTrial& trial) const;

  RecordResult record_;
  const CommandRules* rules_;
  std::vector<CommandRun> runs_;
  std::vector<CommandEnd> ends_;      ///< By run.
  std::vector<CheckedTrial> trials_;  ///< By score.
  std::size_t open_ = 0;
};

}  // namespace sluice
