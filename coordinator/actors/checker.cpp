#include "coordinator/actors/checker.hpp"

#include "common/command/command_pool.hpp"
#include "common/process/supervision.hpp"
#include "coordinator/actors/messages.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

namespace sluice {

namespace {

struct CheckerState {
  CheckerState() = default;
  static inline const char* name = "checker";

  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const CommandRules> rules;
  caf::actor coordinator;
  caf::actor recorder;
  std::map<UnitId, CheckedResult> results;
  std::map<UnitId, std::vector<RecordResult>> others;  ///< Of those units, that came meanwhile: duplicates.
  std::map<std::uint64_t, std::pair<UnitId, std::size_t>> runs;  ///< Which of the unit's runs each id is.
  std::uint64_t next_run = 1;
  std::size_t told = 0;             ///< How many results wait for commands, as the coordinator knows.
  bool drops_all = false;           ///< The run ends: no command is begun any more.
  std::optional<CommandPool> pool;  ///< Its threads end before all else is gone.
};

using Checker = caf::stateful_actor<CheckerState>;

unsigned processes_at_a_time() {
  return std::clamp(std::thread::hardware_concurrency(), defaults::least_check_processes,
                    defaults::most_check_processes);
}

/// With what came of its unit meanwhile behind it: only the first that is committed counts, and whoever sent
/// the others is to hear of it too.
void hand_on(Checker* self, RecordResult result) {
  RecordResults done;
  auto others = self->state.others.extract(result.item.result.unit);
  done.results.push_back(std::move(result));
  if (!others.empty()) {
    done.results.insert(done.results.end(), std::make_move_iterator(others.mapped().begin()),
                        std::make_move_iterator(others.mapped().end()));
  }
  self->send(self->state.recorder, std::move(done));
}

/// What was paid for and asks for no command is recorded also when all checks are dropped.
void check(Checker* self, RecordResult record, ResultsDropped& dropped) {
  auto& state = self->state;
  const UnitId unit = record.item.result.unit;
  if (state.results.contains(unit)) return state.others[unit].push_back(std::move(record));
  // The first of the unit may be among those that are dropped: then this one is not checked either.
  if (record.is_late && !state.drops_all) return hand_on(self, std::move(record));
  auto item = ResultsDropped::item_of(record.worker, record.item.result);
  auto checked = CheckedResult::make(std::move(record), *state.plan, *state.rules);
  if (!checked) {
    return self->send(state.coordinator, RecordingFailed{std::move(checked.error()), {{std::move(item)}}});
  }
  if (checked->is_done()) return hand_on(self, checked->finish());
  if (state.drops_all) return dropped.items.push_back(std::move(item));
  for (std::size_t i = 0; i < checked->runs().size(); ++i) {
    const std::uint64_t id = state.next_run++;
    state.runs.emplace(id, std::pair(unit, i));
    state.pool->submit(id, checked->runs()[i].command, checked->take_input(i));
  }
  state.results.emplace(unit, std::move(*checked));
}

void tell_under_way(Checker* self) {
  auto& state = self->state;
  const std::size_t before = std::exchange(state.told, state.results.size());
  if (state.told != before) self->send(state.coordinator, ChecksUnderWay{state.told});
}

void take(Checker* self, const CommandEnded& ended) {
  auto& state = self->state;
  const auto run = state.runs.extract(ended.id);
  if (run.empty()) return;  // Dropped meanwhile.
  const auto [unit, number] = run.mapped();
  const auto found = state.results.find(unit);
  found->second.take(number, ended.end);
  if (!found->second.is_done()) return;
  RecordResult result = found->second.finish();
  state.results.erase(found);
  hand_on(self, std::move(result));
}

void drop(Checker* self) {
  auto& state = self->state;
  state.drops_all = true;
  const auto runs = std::exchange(state.runs, {});
  for (const auto& [id, run] : runs) state.pool->cancel(id);
  ResultsDropped dropped;
  for (const auto& [unit, checked] : std::exchange(state.results, {})) dropped.add(checked.record());
  for (const auto& [unit, others] : std::exchange(state.others, {})) {
    for (const RecordResult& other : others) dropped.add(other);
  }
  if (!dropped.items.empty()) self->send(state.coordinator, std::move(dropped));
}

caf::behavior checker_behavior(Checker* self, std::shared_ptr<const Plan> plan,
                               std::shared_ptr<const CommandRules> rules, const caf::actor& coordinator,
                               const caf::actor& recorder) {
  auto& state = self->state;
  state.plan = std::move(plan);
  state.rules = std::move(rules);
  state.coordinator = coordinator;
  state.recorder = recorder;
  state.pool.emplace(processes_at_a_time(),
                     [to = caf::actor_cast<caf::actor>(self)](std::uint64_t id, CommandEnd end) {
                       caf::anon_send(to, CommandEnded{id, std::move(end)});
                     });
  end_on_exception(self);
  return {
      [self](RecordResults& more) {
        ResultsDropped dropped;
        for (RecordResult& record : more.results) check(self, std::move(record), dropped);
        if (!dropped.items.empty()) self->send(self->state.coordinator, std::move(dropped));
        tell_under_way(self);
      },
      [self](const CommandEnded& ended) {
        take(self, ended);
        tell_under_way(self);
      },
      [self](DropChecks) {
        drop(self);
        tell_under_way(self);
      },
  };
}

}  // namespace

std::size_t most_to_check() {
  return std::size_t{defaults::results_per_check_process} * processes_at_a_time();
}

caf::actor spawn_checker(caf::actor_system& system, std::shared_ptr<const Plan> plan,
                         std::shared_ptr<const CommandRules> rules, const caf::actor& coordinator,
                         const caf::actor& recorder) {
  return system.spawn(checker_behavior, std::move(plan), std::move(rules), coordinator, recorder);
}

}  // namespace sluice
