#pragma once

#include "common/error.hpp"
#include "common/model/claim.hpp"
#include "common/model/completion.hpp"
#include "common/model/grading.hpp"
#include "common/model/metrics.hpp"
#include "common/model/paid_tokens.hpp"
#include "common/model/trial.hpp"
#include "common/model/votes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A pair of positions: which expectation met which claim.
struct ClaimMatch {
  std::uint32_t expectation = 0;  ///< Index into must_contain or must_not_contain.
  std::uint32_t claim = 0;        ///< Index into UnitResult::claims.
  friend bool operator==(const ClaimMatch&, const ClaimMatch&) = default;
};

/// How the claims of an answer compare with what a case expects. Positions are ascending.
struct ClaimsScore {
  std::vector<ClaimMatch> matched;     ///< True positives: a maximum one-to-one matching.
  std::vector<std::uint32_t> missing;  ///< False negatives: indices into must_contain.
  std::vector<std::uint32_t>
      unexpected;                     ///< False positives: indices into claims, forbidden ones included once.
  std::vector<ClaimMatch> forbidden;  ///< Violations of must_not_contain.
  friend bool operator==(const ClaimsScore&, const ClaimsScore&) = default;
};

/// What the answer came to for one trial: the claims metrics by number, then those of the task's texts, then
/// its judge metrics, in their order.
struct TrialScore {
  TrialId trial = 0;
  std::vector<MetricOutcome> metrics;
  ClaimsScore claims;
  std::vector<JudgeScore> judged = {};  ///< What the outcomes of judge metrics are made of, in their order.
  friend bool operator==(const TrialScore&, const TrialScore&) = default;
};

/// What a unit cost in this run. Volatile: shown under `run` only (docs/delivery.md, "Byte identity").
struct Spend {
  std::uint32_t calls = 0;         ///< HTTP requests started.
  std::uint32_t retries = 0;       ///< Calls that repeat one, which failed or was no vote.
  std::uint32_t rate_limited = 0;  ///< Answers 429 or 529.
  bool cache_hit = false;
  PaidTokens paid;               ///< Of the calls made in this run; zero for a cache hit.
  std::uint32_t latency_ms = 0;  ///< Of the one request that brought the answer; 0: none did in this run.
  std::uint32_t waited_permit_ms = 0;  ///< Of all its calls: for a permit or a place,
  std::uint32_t waited_pause_ms = 0;   ///< for the end of a pause or an outage,
  std::uint32_t waited_retry_ms = 0;   ///< for the back-off before a retry.
  /// A bit for each CallKind: of some of its answers nobody knows what they took.
  std::uint8_t unmetered = 0;

  /// An answer that was paid for. One without usage is unmetered.
  void add_answer(CallKind kind, const Usage& usage) {
    paid.of(kind) += usage;
    if (usage == Usage{}) unmetered |= bit(kind);
  }
  bool is_unmetered(CallKind kind) const { return (unmetered & bit(kind)) != 0; }
  static constexpr std::uint8_t bit(CallKind kind) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind));
  }
  friend bool operator==(const Spend&, const Spend&) = default;
};

/// An answer whole, and what its call says of it, for the observations of a run that keeps them.
struct ObservedAnswer {
  std::string text;
  std::string finish_reason;
  std::string served_model;
  std::int64_t created_at_ms = 0;  ///< Unix time of the answer: for one out of a cache, then.
  friend bool operator==(const ObservedAnswer&, const ObservedAnswer&) = default;
};

/// What calls for a unit took that is in no result of it: the unit was given back, or had its result before
/// they ended.
struct UnitSpend {
  UnitId unit = 0;
  Spend spend;
  friend bool operator==(const UnitSpend&, const UnitSpend&) = default;
};

/// The result of a unit of work: all its trials or none. Either `error` is set or there is a score for each
/// task. A refusal of the provider's own is both: the error of the tasks that do not ask for one, and the
/// answer, with a score, of those that do (checks_refusal); and so is an empty answer (expects_empty).
struct UnitResult {
  UnitId unit = 0;
  Digest key{};
  Digest answer{};  ///< answer_digest of the completion; zero when no answer came.
  Usage usage;      ///< Of the answer, whether paid now or read from the cache.
  std::optional<Error> error;
  std::vector<ParsedClaim> parsed;
  std::vector<FinalClaim> claims;
  /// The answer's beginning (defaults::max_shown_bytes, at a character's end) when a metric assessed its
  /// text, or, as one line without control characters, when the answer itself is the error, or an error came
  /// after it; else empty: the claims say it all.
  std::string shown_text;
  std::vector<TrialScore> scores;
  Spend spend;
  std::optional<GradingResult> grade = {};  ///< In a run that grades, unless there is an error.
  /// Of the claims as they were where redaction has changed any of them, else zero: two that look alike now
  /// may have been different.
  Digest claims_identity = {};
  std::optional<ObservedAnswer> observed = {};  ///< In a run that saves observations, if an answer came.
  /// In a run that returns embeddings: that of the answer, as pack_embedding writes it; else empty.
  std::string embedding = {};
  std::uint64_t lease = 0;  ///< WorkUnit::lease; 0 in the ledger.
  /// In a run that grades, with or without a grade: answer_digest of a baseline's answer that was called for,
  /// and that the worker's cache holds now; zero: there is none. Zero in the ledger.
  Digest stored_baseline = {};

  /// Null if the trial was not assessed. REQUIRES: the scores are in the order of their trials.
  const TrialScore* score_of(TrialId trial) const {
    const auto found = std::ranges::lower_bound(scores, trial, {}, &TrialScore::trial);
    return found != scores.end() && found->trial == trial ? &*found : nullptr;
  }
  friend bool operator==(const UnitResult&, const UnitResult&) = default;
};

}  // namespace sluice
