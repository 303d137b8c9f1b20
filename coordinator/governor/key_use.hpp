#pragma once

#include "common/clock.hpp"
#include "common/wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace sluice {

/// A call may start: it counts against the limits from `opens` on, whether or not it does.
struct SlotTaken {
  std::uint64_t charge = 0;  ///< Names it among those of its run.
  BootTime opens{};
  wire::CallSize size;  ///< An upper bound; nothing where its run does not count tokens.
  friend bool operator==(const SlotTaken&, const SlotTaken&) = default;
};

/// What a call really took of the tokens.
struct ChargeSettled {
  std::uint64_t charge = 0;
  wire::CallSize used;
  friend bool operator==(const ChargeSettled&, const ChargeSettled&) = default;
};

/// The provider named a delay.
struct DelayNamed {
  BootTime until{};
  friend bool operator==(const DelayNamed&, const DelayNamed&) = default;
};

/// What calls of a run came to since it last said so, for the search of a rate that nobody named.
struct CallsSeen {
  std::uint32_t started = 0;
  std::uint32_t refused = 0;
  std::uint32_t refused_late = 0;  ///< Not for the rate at which calls start now: see RateSearch.
  bool delay_named = false;        ///< By a refusal,
  bool is_closed = false;          ///< of a provider that has answered nothing, and has no call of this run.
  bool was_answered = false;       ///< This run was, at any time.
  bool are_waiting = false;        ///< Calls are, for a permit.
  bool searches = false;           ///< The run does, since nobody named the rate.
  BootTime since{};
  BootTime at{};
  friend bool operator==(const CallsSeen&, const CallsSeen&) = default;
};

/// The rate that a run goes by in its search for all of them.
struct RateFound {
  double rate = 0;                 ///< Calls a second; above 0.
  std::optional<double> accepted;  ///< What the next run may begin with (RateSearch::handed_on).
  std::optional<double> burst;     ///< Calls at once, at least 1; nothing: not known.
  double level = 0;                ///< Of its bucket of that rate (Bucket::level_then).
  BootTime at{};
  friend bool operator==(const RateFound&, const RateFound&) = default;
};

/// What a run does with a key, as far as other runs with that key must count it (docs/budgets.md).
using KeyUse = std::variant<SlotTaken, ChargeSettled, DelayNamed, CallsSeen, RateFound>;

/// A run's calls in flight, where a key's are limited.
struct KeyPlaces {
  std::uint32_t taken = 0;   ///< Places that its workers have or may still use.
  std::uint32_t wanted = 0;  ///< Calls in flight and ready ones.
  friend bool operator==(const KeyPlaces&, const KeyPlaces&) = default;
};

/// Those of the other runs that are there, in an order that all of them know.
struct OtherPlaces {
  std::vector<KeyPlaces> places;
  std::size_t before = 0;             ///< How many of them come before this run; at most their number.
  std::vector<std::uint64_t> living;  ///< Runs that live, by number; the calls of dead ones may be under way.
  std::uint32_t left_behind = 0;      ///< Places of dead ones,
  BootTime left_until{};              ///< which count until then.
  friend bool operator==(const OtherPlaces&, const OtherPlaces&) = default;
};

/// What another run did: of itself it numbers its charges, and is told apart by `run`.
struct ForeignUse {
  std::uint64_t run = 0;
  KeyUse use;
  friend bool operator==(const ForeignUse&, const ForeignUse&) = default;
};

}  // namespace sluice
