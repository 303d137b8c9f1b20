#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/session/run_options.hpp"

#include <string>
#include <vector>

/// Which arms a run has, and whom each asks (docs/arms.md).
namespace sluice {

/// The arms that flags and suite name together. usage_invalid names the flag.
Result<std::vector<Arm>> run_arms(const RunFlags& flags, const Suite& suite);

/// A base URL that is named without a provider becomes that of the provider that all arms ask, and the run's
/// `max_in_flight` that of each provider that they ask. usage_invalid for such a base URL where they ask
/// several, and for a flag that no arm follows (docs/arms.md).
Result<void> fit_to_arms(Settings& settings, const std::vector<Arm>& arms);

/// The arms with the provider and the model of each. settings_invalid as make_run_options; it names the arm.
Result<std::vector<RunArm>> resolve_arms(const Settings& settings, std::vector<Arm> arms);

/// A provider that is to be asked and that the settings do not have.
struct UnknownProvider {
  std::string name;
  Finding
      finding;  ///< Where it is named, and the words of resolve_arms, or of make_run_options without arms.
};
/// Those of the arms, or the run's own where there are none.
std::vector<UnknownProvider> unknown_providers(const Settings& settings, const std::vector<Arm>& arms);

/// What a run refuses of the arms together, and of each one's provider and model, or of the run's own where
/// there are none. A provider that does not exist is left to unknown_providers; one without a model is none
/// of these, since a flag may name it.
std::vector<Finding> refused_arms(Settings settings, const std::vector<PromptVariant>& prompts,
                                  const std::vector<Arm>& arms);

/// The model of each arm, or the run's, with the place that names it: `"gpt-x" (suite.yaml:12, arm "mini")`,
/// `"gpt-x" (--model)`.
std::vector<std::string> places_of_models(const RunOptions& options);

}  // namespace sluice
