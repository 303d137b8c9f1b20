#pragma once

#include "common/wire/messages.hpp"
#include "coordinator/plan/plan.hpp"
#include "tests/fuzz/fuzzed_input.hpp"
#include "tests/fuzz/fuzzed_run.hpp"

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice::fuzz {

/// What workers may know and name.
struct HandedOut {
  std::map<std::pair<WorkerId, UnitId>, std::uint64_t> leases;  ///< Ever leased.
  std::vector<std::uint64_t> permits;
};

/// What workers say of a run, right or wrong.
class FuzzedMessages {
 public:
  FuzzedMessages(FuzzedInput& input, const Plan& plan, const HandedOut& handed_out)
      : input_(input), plan_(plan), handed_out_(handed_out) {}

  /// Whose leases the messages name that follow; 0: of a worker that nobody knows.
  void speak_as(WorkerId worker) { speaker_ = worker; }

  wire::Ready ready() {
    wire::Ready ready{run_id(), {}, input_.number32(), {}};
    if (input_.below(8) == 0) ready.problems.push_back({Reason::key_missing, "no key"});
    for (auto count = input_.below(6); count > 0; --count) {
      const UnitId unit = unit_of();
      ready.held.push_back({unit, lease_of(unit)});
    }
    return ready;
  }

  wire::Heartbeat heartbeat() {
    wire::Heartbeat heartbeat{run_id(), input_.number(), input_.number32(), {}, input_.number()};
    for (auto count = input_.below(3); count > 0; --count) heartbeat.demands.push_back(demand());
    return heartbeat;
  }

  wire::Report report() {
    wire::Report report{run_id(), input_.number32(), units(), {}, {}, {}};
    for (auto count = input_.below(4); count > 0; --count) report.results.push_back(result());
    if (input_.below(4) == 0) report.returned = units();
    if (input_.below(4) == 0) {
      for (const UnitId unit : units()) report.spent.push_back({unit, spend()});
    }
    return report;
  }

  wire::Stored stored() {
    wire::Stored stored{run_id(), {}, {}};
    for (const auto& key : keys()) {
      if (is_leased(key.kind)) (input_.flag() ? stored.stored : stored.given_up).push_back(key);
    }
    return stored;
  }

  wire::Seek seek() { return {run_id(), keys()}; }
  wire::Lent lent() { return {run_id(), entries()}; }

 private:
  /// A result, the worker's own trouble, or the end of the run.
  static constexpr Reason reasons[] = {
      Reason::timed_out,    Reason::refusal,        Reason::provider_unreachable,
      Reason::cache_failed, Reason::key_refused,    Reason::model_unknown,
      Reason::rate_limited, Reason::internal_error, Reason::unparsable_answer};

  wire::Demand demand() {
    const char* names[] = {"openai", "gemini", "openai", "elsewhere"};
    wire::Demand demand;
    demand.provider = names[input_.below(4)];
    demand.ready_calls = input_.number32();
    demand.in_flight = input_.number32();
    demand.backing_off = input_.number32();
    demand.reached = input_.flag();
    if (input_.below(8) == 0) demand.pause_ms = input_.number32();
    for (auto count = input_.below(8); count > 0; --count)
      demand.sizes.push_back({input_.number32(), input_.number32()});
    for (auto count = input_.below(6); count > 0; --count) demand.spent.push_back({permit(), input_.flag()});
    for (auto count = input_.below(6); count > 0; --count)
      demand.settled.push_back({permit(), {input_.number32(), input_.number32()}});
    if (input_.flag()) {
      demand.outcomes = {input_.number32(), input_.number32(), input_.number32(), input_.number32(),
                         input_.number32(), input_.number(),   input_.number32(), {}};
      if (input_.flag()) demand.outcomes.latency_deviation_us = input_.number();
    }
    if (input_.below(4) == 0)
      demand.announced = {input_.number(), input_.number(), input_.number(), input_.number()};
    if (input_.below(4) == 0)
      demand.doubted = {input_.number(), input_.number(), input_.number(), input_.number()};
    demand.variation_us = input_.number32();
    demand.uncertainty_us = input_.number32();
    demand.oldest_ms = input_.number32();
    return demand;
  }

  UnitResult result() {
    UnitResult result;
    result.unit = unit_of();
    result.lease = lease_of(result.unit);
    result.answer = sha256(std::to_string(input_.below(3)));
    result.spend = spend();
    if (result.unit < plan_.unit_count()) {
      result.key = plan_.key(result.unit);
      for (const auto trial : plan_.trials_of(result.unit)) result.scores.push_back({trial, {}, {}});
    }
    switch (input_.below(8)) {
      case 0:
        result.error = Error{reasons[input_.below(std::size(reasons))], "it failed"};
        result.scores.clear();
        break;
      case 1:
        result.error = Error{Reason::cache_miss, "not here"};
        result.scores.clear();
        break;
      case 2:
        result.key = sha256("another");
        break;
      case 3:
        result.scores.push_back({input_.number32(), {}, {}});
        break;
      default:
        break;
    }
    return result;
  }

  Spend spend() {
    Spend spend;
    spend.calls = input_.number32();
    spend.retries = input_.number32();
    spend.waited_pause_ms = input_.number32();
    for (auto& usage : spend.paid.by_kind) usage = {input_.number(), input_.number()};
    spend.unmetered = input_.byte();
    return spend;
  }

  std::string run_id() { return input_.below(16) == 15 ? "run-0" : the_run; }
  UnitId unit_of() {
    const auto unit = input_.byte();
    return unit < 240 ? unit % static_cast<UnitId>(plan_.unit_count()) : input_.number32();
  }
  std::vector<UnitId> units() {
    std::vector<UnitId> units;
    for (auto count = input_.below(5); count > 0; --count) units.push_back(unit_of());
    return units;
  }
  /// A number that the speaker may know: that of a lease of its own, else one of another's, or a guess.
  std::uint64_t lease_of(UnitId unit) {
    const auto guess = input_.byte();
    if (guess >= 250) return input_.number();
    if (const auto own = handed_out_.leases.find({speaker_, unit}); own != handed_out_.leases.end())
      return own->second;
    for (const auto& [holder, lease] : handed_out_.leases) {
      if (holder.second == unit) return lease;
    }
    return guess;
  }
  std::uint64_t permit() {
    return handed_out_.permits.empty() || input_.below(8) == 0
               ? input_.number()
               : handed_out_.permits[input_.byte() % handed_out_.permits.size()];
  }
  std::vector<EntryKey> keys() {
    const EntryKind kinds[] = {EntryKind::embedding, EntryKind::vote, EntryKind::answer, EntryKind::outcome};
    std::vector<EntryKey> keys;
    for (auto count = input_.below(5); count > 0; --count) {
      const auto kind = kinds[input_.below(3)];
      const auto number = input_.below(8);
      keys.push_back({kind, kind == EntryKind::answer ? plan_.key(number % plan_.unit_count())
                                                      : sha256(std::to_string(number))});
    }
    return keys;
  }
  std::vector<wire::LentEntry> entries() {
    std::vector<wire::LentEntry> entries;
    for (const auto& key : keys()) entries.push_back({key, input_.flag() ? "entry" : ""});
    return entries;
  }

  FuzzedInput& input_;
  const Plan& plan_;
  const HandedOut& handed_out_;
  WorkerId speaker_ = 0;
};

}  // namespace sluice::fuzz
