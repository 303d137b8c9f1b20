#pragma once

#include "coordinator/perturb/perturbation.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// The text that a perturbation makes of another, "=" for none, or "?" and the reason why it is skipped.
inline std::string outcome(std::string_view name, std::string_view language, std::string_view text) {
  const auto perturbed = perturb(**perturbation_named(name), language, text);
  switch (perturbed.outcome) {
    case PerturbationOutcome::changed:
      return perturbed.text;
    case PerturbationOutcome::unchanged:
      return "=";
    case PerturbationOutcome::skipped:
      return "?" + perturbed.reason;
  }
  return "";
}

}  // namespace sluice
