#pragma once

#include "common/clock.hpp"
#include "coordinator/facts/worker_id.hpp"
#include "coordinator/governor/key_use.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace sluice {

/// How many of a key's places a run may have beside others: its fair share of what all want (the smaller ones
/// whole; what is left over goes round), as far as the others have left it.
std::uint32_t places_of_run(std::uint32_t total, const KeyPlaces& own, const OtherPlaces& others,
                            BootTime now);

/// Splits a number of calls in flight over the workers, by what they want. A fixed number is never exceeded:
/// a place is given to a worker only when it is certainly free, since a worker may use what it was sent last
/// until it has taken in less, and the places of a lost one stay taken until its calls must have ended; who
/// wants none has none. A number that was found by search may be exceeded for such a moment. Pure; not
/// thread-safe.
class Places {
 public:
  enum class Bound : std::uint8_t { fixed, searched };

  explicit Places(Bound bound) : bound_(bound) {}

  /// `most`: the greatest number for this worker alone; 0: it cannot call. Again for one that was known: it
  /// begins without places.
  void join(WorkerId worker, std::uint32_t most, BootTime now);
  /// Its calls may go on until `free_at` (now, if it sent GOODBYE).
  void leave(WorkerId worker, BootTime free_at);
  /// `wanted`: calls in flight and ready ones; `newest_grants`: when the
  /// newest places that it has taken in were sent.
  void on_demand(WorkerId worker, std::uint64_t wanted, std::uint32_t in_flight, BootTime newest_grants);

  /// Gives each worker its places anew, together never more than `total`; of a fixed number what may still be
  /// in use elsewhere is counted. What changed is to be sent at this very `now`.
  void allot(std::uint32_t total, BootTime now);
  std::uint32_t of(WorkerId worker) const;
  /// Places that are given or may still be in use.
  std::uint64_t taken(BootTime now) const;
  /// Calls in flight and ready ones.
  std::uint64_t wanted() const;
  /// When another allotment may come out differently though no message came; nothing if not at all.
  std::optional<BootTime> next_change(BootTime now) const;

 private:
  struct Sent {
    BootTime at{};
    std::uint32_t places = 0;
  };
  struct Holder {
    std::uint32_t most = 1;
    BootTime joined{};
    std::uint32_t places = 0;
    std::uint32_t in_flight = 0;
    std::uint64_t wanted = 0;
    bool caught_up = false;  ///< Since it joined it has taken in what it was sent.
    std::deque<Sent> sent;   ///< From the newest that it has certainly taken in.

    std::uint32_t taken() const;
    void give(std::uint32_t now_places, BootTime now);
  };
  struct Lost {
    std::uint32_t places = 0;
    BootTime free_at{};
  };

  std::vector<std::uint32_t> fair_shares(std::uint32_t total, BootTime now) const;
  void forget_ended(BootTime now);
  std::uint32_t total_of_living(std::uint32_t total, BootTime now);
  bool is_settled(std::uint32_t total) const;

  Bound bound_;
  std::map<WorkerId, Holder> holders_;
  std::multimap<WorkerId, Lost> lost_;
  bool rotating_ = false;
};

}  // namespace sluice
