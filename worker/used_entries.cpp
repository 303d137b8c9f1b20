#include "worker/used_entries.hpp"

#include "common/model/run_settings.hpp"
#include "worker/answer_store.hpp"
#include "worker/cache/cache_tools.hpp"
#include "worker/units/unit_flow.hpp"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace sluice {

namespace {

UnitFlowConfig replay_of(const RunSettings& settings, std::shared_ptr<AnswerStore> store) {
  UnitFlowConfig config;
  config.settings = settings;
  config.settings.mode = Mode::cached;
  config.settings.read_cache = true;
  config.settings.write_cache = false;
  config.settings.judge.refresh = false;
  config.store = std::move(store);
  config.max_concurrent = 1;
  return config;
}

}  // namespace

Result<UsedEntries> find_used_entries(const ReplayedUnits& replayed) {
  auto caches = open_to_export(replayed.home);
  if (!caches) return fail(std::move(caches.error()));
  const auto store = std::make_shared<AnswerStore>(std::nullopt, std::move(*caches));
  std::set<UsedAnswer> answers;
  std::set<EntryKey> leased;
  store->watch([&](const EntryKey& key, const Digest& answer) {
    if (is_leased(key.kind)) {
      leased.insert(key);
    } else {
      answers.insert({key.digest, answer});
    }
  });
  UnitFlow flow(replay_of(replayed.settings, store));
  std::uint64_t incomplete = 0;
  std::string first_missing;
  while (true) {
    auto unit = replayed.next();
    if (!unit) return fail(std::move(unit.error()));
    if (!*unit) break;
    flow.add({std::make_shared<const WorkUnit>(std::move(**unit))});
    // Caches alone are read, so that a unit is through in one turn.
    for (const CompletedUnit& one : flow.turn(Moment{}).completed) {
      const auto* error = std::get_if<Error>(&one.outcome);
      // Of answers themselves the export says which are missing.
      if (error == nullptr || error->reason != Reason::cache_miss || !one.answer) continue;
      if (incomplete++ == 0) first_missing = error->message;
    }
  }
  if (incomplete > 0) {
    return fail(Reason::cache_miss,
                std::to_string(incomplete) + " of the run's results were made of what no cache of " +
                    (replayed.home / "cache").string() + " holds any more (the first: " + first_missing +
                    "): it was replaced, removed, or is on another machine; name a later run, "
                    "export where it is, or leave out --run");
  }
  return UsedEntries{{answers.begin(), answers.end()}, {leased.begin(), leased.end()}};
}

}  // namespace sluice
