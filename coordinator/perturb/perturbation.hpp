#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A change of a text, of code or of prose, that keeps its meaning. What each does is in
/// docs/perturbations.md.
struct Perturbation {
  std::string_view name;      ///< Stable: stands in flags, reports, baselines and cache keys.
  std::uint32_t version = 0;  ///< Goes up whenever the same text would come out otherwise.
  std::string_view doc;       ///< One clause.
  bool of_prose = false;  ///< It changes prose alone; the others change code, and any text's last line end.
};

/// All of them, in the order in which they run and are reported.
std::span<const Perturbation> perturbations();
/// Unknown names are `usage_invalid`, with the nearest one that exists.
Result<const Perturbation*> perturbation_named(std::string_view name);
/// "all", or names joined by commas, in the catalogue's order whatever the list's; a name that stands twice
/// counts once. An empty list and an unknown name are `usage_invalid`.
Result<std::vector<const Perturbation*>> perturbations_named(std::string_view list);

enum class PerturbationOutcome : std::uint8_t {
  changed,
  unchanged,  ///< Nothing in the text is there to be changed: there is nothing to send.
  skipped,    ///< It cannot be done with certainty that the meaning stays.
};

/// What a perturbation made of a text.
struct Perturbed {
  PerturbationOutcome outcome = PerturbationOutcome::unchanged;
  std::string text;    ///< If changed.
  std::string reason;  ///< If skipped: a clause, e.g. `line 12: a string is not closed`.
  friend bool operator==(const Perturbed&, const Perturbed&) = default;
};

/// Applies a perturbation of the catalogue to a text of the language that a case names. Any bytes are
/// accepted. Deterministic and pure, so it may be called from any thread; linear in the text's size.
Perturbed perturb(const Perturbation& perturbation, std::string_view language, std::string_view text);

}  // namespace sluice
