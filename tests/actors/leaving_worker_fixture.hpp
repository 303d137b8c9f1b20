#pragma once

#include "tests/actors/worker_actor_fixture.hpp"

#include <utility>
#include <vector>

namespace sluice {

/// A worker with units of a run, which is told to stop.
class LeavingWorkerTest : public WorkerActorTest {
 protected:
  void begin_with(std::vector<UnitId> units) {
    drain_timeout = 25s;
    begin();
    lease(std::move(units));
    made = calls();
    said<wire::Report>();
  }
  void stop(bool at_once = false) {
    caf::anon_send(worker, StopWorker{"SIGTERM", at_once});
    settle();
  }
  void acknowledge(std::vector<UnitId> units) {
    wire::Ack ack{"run-1", {}};
    for (const auto id : units) ack.items.push_back({id, wire::AckCode::committed, unit(id).key, {}});
    hear(std::move(ack));
  }
  std::vector<UnitId> returned() {
    std::vector<UnitId> units;
    for (const auto& report : said<wire::Report>())
      units.insert(units.end(), report.returned.begin(), report.returned.end());
    return units;
  }

  bool stored(UnitId id) const {
    const auto found = store->find_answer(unit(id).key);
    return found && found->has_value();
  }

  std::vector<HttpCall> made;
};

}  // namespace sluice
