#pragma once

#include "common/documents/document.hpp"
#include "common/text/template.hpp"
#include "coordinator/import/import_source.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sluice {

/// What a configuration sets of the environment by its `env`. The environment itself is not read.
struct ForeignEnvironment {
  Variables values{};                                         ///< Without what is most likely a secret.
  std::map<std::string, std::uint32_t, std::less<>> lines{};  ///< Of all of them.
  std::set<std::string, std::less<>> used{};  ///< Those that something of the suite was made of.
};

/// Reads `env` of a configuration.
ForeignEnvironment read_environment(const DocumentNode& env, const ImportFile& from);

/// Fills in `{{ env.NAME }}` in all texts of a document, by the configuration's `env` or by the template's
/// own default, which is a note. Headers stay as they are: they may show secrets.
void fill_environment(DocumentNode& node, const ImportFile& from);
/// The same of a file's text.
std::string with_environment(std::string_view text, const ImportFile& from);

/// The address of a server, and the variable that says so.
struct ForeignAddress {
  std::string variable;
  std::string url;
};
/// Where promptfoo asks this kind of provider by `env` of the provider or of the configuration; nothing where
/// they do not say.
std::optional<ForeignAddress> address_of(std::string_view kind, const DocumentNode& provider,
                                         const ImportFile& from);

/// Notes of what the variables in `env` of a configuration would do that were not used; and of all in a
/// provider's own.
void note_environment(const ImportFile& from);
void note_own_environment(const DocumentNode& env, const ImportFile& from);

}  // namespace sluice
