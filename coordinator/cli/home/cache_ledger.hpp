#pragma once

#include "common/cache_tools.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace sluice {

/// The ledger's part in `sluice cache`: pins, and the answers of a run. It is opened when it is first needed;
/// reading makes no ledger where there is none. Not thread-safe.
class CacheLedger {
 public:
  explicit CacheLedger(const std::filesystem::path& home) : file_(home / "ledger.db") {}

  /// For the cache tools; this object must outlive them.
  FindPins find_pins();
  MovePins move_pins();
  /// For an import, which needs a ledger that works before it writes anything: also makes one.
  FindPins find_pins_in_own();

  /// The run that the words name, as Ledger::find_run. Errors: usage_invalid also where there is no ledger.
  Result<PastRun> find_run(const std::string& words);
  Result<Ledger*> open();

 private:
  Result<std::vector<std::optional<CachePin>>> pins(std::span<const Digest> keys);

  std::filesystem::path file_;
  std::optional<Ledger> ledger_;
};

}  // namespace sluice
