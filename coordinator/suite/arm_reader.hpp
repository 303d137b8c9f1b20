#pragma once

#include "common/documents/document.hpp"
#include "coordinator/suite/arm.hpp"
#include "coordinator/suite/document_context.hpp"

#include <vector>

namespace sluice {

/// Reads `arms:` of a suite (docs/suites.md): a list of mappings and of texts as `--arm` takes them, not yet
/// crossed with the prompts (arms_of). What is wrong becomes findings.
std::vector<Arm> read_arms(const DocumentEntry& arms, const std::vector<PromptVariant>& prompts,
                           const DocumentContext& context);

}  // namespace sluice
