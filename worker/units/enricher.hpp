#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/model/result.hpp"
#include "common/model/trial.hpp"
#include "worker/budget/call_budget.hpp"
#include "worker/calls/call_values.hpp"
#include "worker/scoring/evidence.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

/// A unit that waited has what it waited for, or will not get it.
struct Enriched {
  std::uint64_t unit = 0;
  std::variant<Evidence, Error> result;
  Spend spend;            ///< The unit's part of what the calls cost.
  bool given_up = false;  ///< Of an error: that of a call that was given up (CallEnded).
};

/// What a unit that waits has got of a baseline, whatever comes of it.
struct BaselineOfUnit {
  std::uint64_t unit = 0;
  PaidBaseline baseline;
};

/// A stage between a unit's answer and its score: gets what some metrics read beside the answer. Each kind of
/// call that such metrics need is one of these, in a file of its own, and a line in `every_enricher`. It
/// submits its calls to the CallEngine as `owner`, which it is given, and is handed their ends and the
/// entries that it sought. Units go by numbers of the flow's. Not thread-safe.
class Enricher {
 public:
  virtual ~Enricher() = default;

  /// Begins with a unit that has its answer, given without this worker's keys. Nothing: the unit waits, and
  /// comes with one of the outcomes.
  virtual std::optional<std::variant<Evidence, Error>> begin(std::uint64_t unit, const WorkUnit& work,
                                                             std::string_view answer, TimePoint deadline,
                                                             const Moment& moment) = 0;
  /// Submits the calls that can be made now: what came together may go together.
  virtual void start_calls(const Moment& moment) = 0;
  /// A call of this owner has ended.
  virtual void on_call_ended(const CallEnded& ended, const Moment& moment,
                             std::vector<Enriched>& outcomes) = 0;
  /// What another worker's cache holds of an entry that this owner sought; empty: nothing. Most seek none:
  /// the engine does, for their calls.
  virtual void on_entry(const EntryKey& /*key*/, std::string_view /*entry*/,
                        std::vector<Enriched>& /*outcomes*/) {}

  /// The baselines' answers that came since, of units that have not left.
  virtual std::vector<BaselineOfUnit> take_baselines() { return {}; }

  /// Until when the unit waits for calls of its own, after the outages up to now. REQUIRES: it waits here.
  virtual TimePoint deadline(std::uint64_t unit, TimePoint now) = 0;
  /// The unit waits no longer, and no outcome comes for it. Returns its part of the costs so far.
  virtual Spend leave(std::uint64_t unit) = 0;
  /// What was paid since for units that had left. A unit goes by the run's number.
  virtual std::vector<UnitSpend> take_late() { return {}; }
  /// Why a unit that was made to leave has no result.
  virtual Error late() const = 0;
  /// Drops everything.
  virtual void cancel() = 0;
};

}  // namespace sluice
