#pragma once

#include "common/checks/redactor.hpp"
#include "common/model/result.hpp"
#include "coordinator/facts/committed_results.hpp"
#include "coordinator/facts/observation.hpp"
#include "coordinator/facts/observation_ids.hpp"
#include "coordinator/facts/paid_by_arm.hpp"
#include "coordinator/plan/plan.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What the observations of a run have in common.
struct ObservedRun {
  std::string run_id;
  std::string prompt_version;  ///< Of the prompt of its claims cases.
  std::string prompt_hash;     ///< `sha256:...`
  std::vector<std::string> arms;
  RunPrice price{};     ///< Null: costs are not known.
  Redactor redactor{};  ///< For prompts: results come redacted.
};

/// What an answer comes to by its metrics alone, before any threshold: `pass`, `fail` or `error`. `score` is
/// null for a trial that was not assessed.
std::string_view status_before_gate(const TrialScore* score);

/// Redacts what came of the answer, the prompts and the errors once more: what an observation was saved under
/// may have been less.
void redact(Observation& one, const Redactor& redactor);

/// Makes observations of a run's results. Pure but for reading the cases' files; not thread-safe.
class ObservationMaker {
 public:
  ObservationMaker(std::shared_ptr<const Plan> plan, ObservedRun run);

  using Take = std::function<void(Observation)>;
  /// Makes one for each trial of the unit. What its calls took is told at the first alone, so that sums are
  /// right. Fails if a case's file cannot be read any more.
  Result<void> make(const UnitResult& result, std::int64_t now_ms, const Take& take);
  /// One of a trial that was asked something else than the plan has now: without its prompt. `pays`: it is
  /// the first of those that its answer serves. Fails as `make`.
  Result<Observation> make_without_prompt(const CommittedTrial& one, bool pays, std::int64_t now_ms);

 private:
  Result<void> add_prompt(UnitId unit, Observation& to);
  /// `score` is null for a trial that was not assessed.
  /// `says_expected`: the case expects what it did when the answer was assessed.
  Result<void> add_trial(TrialId trial, const TrialScore* score, bool says_expected, Observation& to) const;
  /// Many are of the millisecond of the one before.
  struct TimeText {
    std::int64_t ms = -1;
    std::string text;
  };
  static const std::string& time_text(std::int64_t ms, TimeText& last);

  std::shared_ptr<const Plan> plan_;
  ObservedRun run_;
  ObservationIds ids_;
  SharedText system_;  ///< The last one, which most have.
  std::string sent_system_hash_;
  std::string system_hash_;
  SharedText shown_system_;  ///< As redacted.
  TimeText last_now_;
  TimeText last_answered_;
};

}  // namespace sluice
