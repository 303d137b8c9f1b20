#include "coordinator/cli/home/cache_ledger.hpp"

#include "coordinator/cli/past_runs/past_runs.hpp"

#include <system_error>
#include <utility>

namespace sluice {
Result<Ledger*> CacheLedger::open() {
  if (!ledger_) {
    auto opened = open_ledger(file_);
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

Result<PastRun> CacheLedger::find_run(const std::string& words) {
  std::error_code none;
  if (!std::filesystem::exists(file_, none)) {
    return fail(Reason::usage_invalid, "there is no run ledger " + file_.string() +
                                           " that could know the run \"" + words + "\"; leave out --run");
  }
  auto ledger = open();
  if (!ledger) return fail(ledger.error());
  return (*ledger)->find_run(words);
}

}  // namespace sluice
