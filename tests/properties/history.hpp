#pragma once

#include "tests/properties/simulated_fleet.hpp"

#include <ostream>
#include <vector>

#include <rapidcheck.h>

namespace sluice::testing {

/// Something that happens to a fleet.
struct Happening {
  enum class Kind : std::uint8_t {
    kill,
    freeze,
    join,
    break_link,
    cut_link,
    stall_link,
    stop_coordinator,
    calls,
    drop_calls
  };
  Kind kind = Kind::kill;
  BootTime at{};  ///< From the beginning.
  std::uint32_t worker = 0;
  BootTime lasts{};
  std::uint32_t calls = 0;

  friend std::ostream& operator<<(std::ostream& out, const Happening& one) {
    static constexpr const char* names[] = {
        "kill",       "freeze",           "join",  "break link",   "cut link",
        "stall link", "stop coordinator", "calls", "drop calls of"};
    out << one.at.count() << " us: " << names[static_cast<std::size_t>(one.kind)];
    if (one.kind == Happening::Kind::calls) return out << " " << one.calls;
    return out << ", worker " << one.worker << ", for " << one.lasts.count() << " us";
  }
};

/// A fleet, and all that happens to it. The seed decides the rest: each delay, each loss.
struct History {
  FleetOptions options;
  std::vector<Happening> happenings;

  friend std::ostream& operator<<(std::ostream& out, const History& history) {
    const auto& fleet = history.options;
    const auto& network = fleet.network;
    out << "seed " << fleet.seed << ", " << fleet.workers << " workers of " << fleet.max_concurrent
        << " calls, network " << network.delay_min.count() << ".." << network.delay_max.count()
        << " us, lost " << network.lost << (network.reordered ? ", reordered" : "") << ", connect "
        << fleet.connect_time.count() << " us\n";
    for (const auto& one : history.happenings) out << "  " << one << "\n";
    return out;
  }
};

namespace any {

inline BootTime time(BootTime from, BootTime to) {
  return BootTime(*rc::gen::inRange(from.count(), to.count() + 1));
}

inline Happening happening(BootTime until) {
  using namespace std::chrono_literals;
  Happening one;
  one.kind = static_cast<Happening::Kind>(*rc::gen::inRange(0, 9));
  one.at = time(0us, until);
  one.worker = *rc::gen::inRange<std::uint32_t>(0, 8);
  // Around a permit's lifetime, around the time after which a worker is lost, or for good.
  one.lasts = *rc::gen::oneOf(rc::gen::just(time(1ms, 200ms)), rc::gen::just(time(200ms, 5s)),
                              rc::gen::just(BootTime(1h)));
  one.calls = *rc::gen::inRange<std::uint32_t>(1, 300);
  return one;
}

/// As hostile as it gets: what happens ends by `until`.
inline rc::Gen<History> history(BootTime until) {
  auto any_history = rc::gen::exec([until] {
    using namespace std::chrono_literals;
    History history;
    auto& options = history.options;
    options.seed = *rc::gen::arbitrary<std::uint64_t>();
    options.workers = *rc::gen::inRange<std::uint32_t>(1, 9);
    options.max_concurrent = *rc::gen::inRange<std::uint32_t>(1, 60);
    options.network.delay_min = *rc::gen::element<BootTime>(0ms, 1ms, 5ms, 30ms);
    options.network.delay_max =
        options.network.delay_min + *rc::gen::element<BootTime>(0ms, 2ms, 20ms, 100ms);
    options.network.lost = *rc::gen::element(0.0, 0.0, 0.05, 0.1);
    options.network.reordered = *rc::gen::arbitrary<bool>();
    options.connect_time = *rc::gen::element<BootTime>(0ms, 0ms, 5ms, 100ms);
    const auto count = *rc::gen::inRange(0, 14);
    for (int i = 0; i < count; ++i) history.happenings.push_back(happening(until));
    return history;
  });
  return rc::gen::resize(rc::kNominalSize, std::move(any_history));
}

}  // namespace any

inline void let_happen(Fleet& fleet, const Happening& one, const PlannedCall& call) {
  const auto worker = one.worker % fleet.worker_count();
  switch (one.kind) {
    case Happening::Kind::kill:
      return fleet.kill(worker);
    case Happening::Kind::freeze:
      fleet.freeze(worker);
      return fleet.events().after(one.lasts, [&fleet, worker] { fleet.thaw(worker); });
    case Happening::Kind::join:
      return fleet.add_worker();
    case Happening::Kind::break_link:
      return fleet.break_link(worker);
    case Happening::Kind::cut_link:
      return fleet.cut_link(worker);
    case Happening::Kind::stall_link:
      return fleet.stall_link(worker, one.lasts);
    case Happening::Kind::stop_coordinator:
      return fleet.stop_coordinator(std::min<BootTime>(one.lasts, std::chrono::seconds(5)));
    case Happening::Kind::calls:
      return fleet.add_calls(std::vector<PlannedCall>(one.calls, call));
    case Happening::Kind::drop_calls:
      return fleet.drop_calls(worker);
  }
}

/// All of it, each at its time; calls that come are like `call`.
inline void let_happen(Fleet& fleet, const History& history, const PlannedCall& call = {}) {
  for (const auto& one : history.happenings) {
    fleet.events().after(one.at, [&fleet, one, call] { let_happen(fleet, one, call); });
  }
}

}  // namespace sluice::testing
