#pragma once

#include "common/hash.hpp"
#include "common/model/claim.hpp"
#include "common/model/expectation.hpp"
#include "common/model/judge.hpp"
#include "common/model/recorded_answer.hpp"
#include "common/model/request.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

/// Position of a trial in plan order. The plan is a pure function of suite and settings, so the same run has
/// the same ids on every machine.
using TrialId = std::uint32_t;
/// Position of a unit of work in the plan: all trials whose request has the same cache key
/// (docs/delivery.md).
using UnitId = std::uint32_t;

/// What a worker needs to score an answer for one trial.
struct ScoringTask {
  TrialId trial = 0;
  std::vector<ExpectedClaim> must_contain;
  std::vector<ExpectedClaim> must_not_contain;
  double min_confidence = 0.0;
  bool assesses_claims = true;  ///< The answer is read as claims; false leaves it to `texts` alone.
  std::vector<TextExpectation> texts;
  std::vector<JudgeExpectation> judged = {};
  JudgedQuestion question = {};  ///< Empty unless something is judged.
};

/// One provider call's worth of work and all the trials that its answer serves.
struct WorkUnit {
  UnitId unit = 0;
  Digest key{};              ///< common/model/cache_key.hpp
  Digest pinned_answer{};    ///< In cached mode the only answer that counts; zero if any does. In live mode
                             ///< the one that is looked for first, and that a lent entry must be.
  std::uint32_t repeat = 0;  ///< Repeat index, a part of the key.
  ModelRequest request;
  std::vector<ScoringTask> tasks;
  /// Another connected worker's cache holds the answer: it is asked for before it is paid for.
  bool held_elsewhere = false;
  std::optional<RecordedAnswer> recorded = {};  ///< The answer: it is neither called for nor looked for.
  std::uint64_t lease =
      0;  ///< Its result carries it back: by it the coordinator knows who was given the unit.
};

}  // namespace sluice
