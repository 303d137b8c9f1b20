#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_providers.hpp"

#include <string>
#include <vector>

namespace sluice {

/// What tells a provider from others as a judge or an embedder: where it is asked, and with what.
std::string identity_of(const ImportedProvider& provider, const std::vector<ImportedServer>& servers);
/// The same of a provider that is not read yet; of one that cannot be, what is written.
std::string identity_of(const DocumentNode& provider, const ImportFile& from);
std::string identity_of_embedder(const DocumentNode& provider, const ImportFile& from);

}  // namespace sluice
