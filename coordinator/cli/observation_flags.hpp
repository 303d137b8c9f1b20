#pragma once

#include "common/error.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/ledger/observation_store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace sluice {

/// The flags that say which observations are wanted.
struct ObservationFlags {
  std::optional<std::string> run;
  std::optional<std::string> case_id;
  std::optional<std::string> status;
  std::optional<std::string> model;
  std::optional<std::string> since;
  std::optional<std::string> before;

  void add_to(CLI::App& command);
  /// What they come to. A run is named as Ledger::find_run has it; one that the ledger does not have any more
  /// by the first digits of its id. Where nothing is stored none is looked for. Errors: usage_invalid.
  Result<ObservationFilter> filter(const Settings& settings, const std::optional<ObservationStore>& store,
                                   std::int64_t now_ms) const;
};

/// A moment as a flag names it, as a timestamp: a date, a time of RFC 3339, or an age (`7d`, `12h`).
Result<std::string> moment_of(std::string_view flag, std::string_view text, std::int64_t now_ms);

}  // namespace sluice
