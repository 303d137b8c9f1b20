#pragma once

#include "common/settings/settings.hpp"
#include "coordinator/suite/suite.hpp"

#include <optional>
#include <string>

/// What tests need beside the model that answers, and nobody has named: a warning with what to do.
namespace sluice {

/// Nothing if no test has a judge metric, or somebody says who judges, be it nobody.
std::optional<std::string> unnamed_judge(const Settings& settings, const Suite& suite);
/// Nothing if nothing is embedded, or somebody says who embeds.
std::optional<std::string> unnamed_embedder(const Settings& settings, const Suite& suite);

}  // namespace sluice
