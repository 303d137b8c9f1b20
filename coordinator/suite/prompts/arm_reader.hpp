#pragma once

#include "common/documents/document.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/prompts/arm.hpp"

#include <vector>

namespace sluice {

/// Reads `arms:` of a suite (docs/suites.md): a list of mappings and of texts as `--arm` takes them, not yet
/// crossed with the prompts (arms_of). What is wrong becomes findings.
std::vector<Arm> read_arms(const DocumentEntry& arms, const std::vector<PromptVariant>& prompts,
                           const DocumentContext& context);

/// Reads `providers:` of a suite: as `arms:`, but a name may be left out, both of a mapping and of a text
/// (`PROVIDER:MODEL`). It is then made of the model's, and of the provider's before it where two are the
/// same.
std::vector<Arm> read_providers(const DocumentEntry& providers, const std::vector<PromptVariant>& prompts,
                                const DocumentContext& context);

}  // namespace sluice
