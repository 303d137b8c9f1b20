#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

/// Whether what the coordinator sends is still young when it comes. No call starts on what was sent before a
/// silence that counts as a cut (CoordinatorLink), so that a worker whose messages take that long would wait
/// for ever, heartbeats and all. Pure; not thread-safe.
class LateGrants {
 public:
  /// GRANTS have come that answer what this worker sent `age` ago; more than `limit` is too late.
  void on_grants(BootTime age, BootTime limit, BootTime now);

  /// Why this worker cannot work for the coordinator: for `defaults::late_grants_patience` no GRANTS came in
  /// time. Nothing as long as that is not so.
  std::optional<Error> problem() const;

 private:
  std::uint32_t late_in_a_row_ = 0;
  BootTime first_late_{};
  BootTime last_late_{};
  BootTime age_{};
  BootTime limit_{};
};

}  // namespace sluice
