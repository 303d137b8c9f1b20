#include "coordinator/cli/cache_ledger.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace sluice {
Result<Ledger*> CacheLedger::open() {
  if (!ledger_) {
    auto opened = Ledger::open(file_);
    if (!opened) return fail(opened.error());
    ledger_.emplace(std::move(*opened));
  }
  return &*ledger_;
}

Result<std::vector<std::optional<CachePin>>> CacheLedger::pins(std::span<const Digest> keys) {
  auto ledger = open();
  if (!ledger) return fail(ledger.error());
  const auto pins = (*ledger)->pins(keys);
  if (!pins) return fail(pins.error());
  std::vector<std::optional<CachePin>> found(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const auto& pin = (*pins)[i]) found[i] = CachePin{keys[i], pin->answer, pin->holder};
  }
  return found;
}

FindPins CacheLedger::find_pins_in_own() {
  return [this](std::span<const Digest> keys) { return pins(keys); };
}

FindPins CacheLedger::find_pins() {
  std::error_code none;
  if (std::filesystem::exists(file_, none)) return find_pins_in_own();
  return [](std::span<const Digest> keys) { return std::vector<std::optional<CachePin>>(keys.size()); };
}

MovePins CacheLedger::move_pins() {
  return [this](std::span<const CachePin> pins) -> Result<void> {
    auto ledger = open();
    if (!ledger) return fail(ledger.error());
    return (*ledger)->move_pins(pins);
  };
}

Result<std::vector<UsedAnswer>> CacheLedger::used_by_run(const std::string& id) {
  std::error_code none;
  if (!std::filesystem::exists(file_, none)) {
    return fail(Reason::usage_invalid, "there is no run ledger " + file_.string() +
                                           " that could know the run \"" + id + "\"; leave out --run");
  }
  auto ledger = open();
  if (!ledger) return fail(ledger.error());
  const auto found = (*ledger)->find_run(id);
  if (!found) return fail(found.error());
  const auto& run_id = found->run.run_id;
  std::vector<UsedAnswer> used;
  const auto visited = (*ledger)->results_of(run_id)->visit([&](const CommittedTrial& trial) {
    // Without an answer there was an error of the infrastructure, which no cache keeps.
    if (!is_zero(trial.unit.answer)) used.push_back({trial.unit.key, trial.unit.answer});
  });
  if (!visited) return fail(visited.error());
  if (used.empty()) {
    return fail(Reason::usage_invalid,
                "run " + run_id + " has no answers to export; name one that has, or leave out --run");
  }
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

}  // namespace sluice
