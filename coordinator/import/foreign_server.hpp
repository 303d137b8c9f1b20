#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A `[providers.NAME]` that the settings file needs for an imported arm (docs/providers.md).
struct ImportedServer {
  std::string name;
  std::string base_url;
  std::string api_key_env{};    ///< Empty: it needs no key, or has it in a header.
  std::string kind = "openai";  ///< Or `openai-responses`, or `http`.
  DocumentNode::Table more{};   ///< `query`, `headers`, `body`, `answer` and `max_tokens_field`.
  /// The fields that it lacks, by name, each with the table that it belongs to.
  DocumentNode::Table unsaid{};
};

/// The `config` of a provider; an empty table if it has none.
const DocumentNode& config_of(const DocumentNode& provider);

/// A host's or deployment's name as a provider has it.
std::string server_name_of(std::string_view text);

/// A provider's id as a note may quote it: of a URL neither the user nor the query.
std::string without_secrets(std::string_view id);

/// Adds a server that is not there yet and returns its name: one like that of another server gets a number.
std::string add_server(std::vector<ImportedServer>& servers, ImportedServer server);

/// The sections as a settings file has them.
std::string settings_of(const std::vector<ImportedServer>& servers);

/// A server in OpenAI's format. Its key is read from the variable that `config` names. Where it names none,
/// that is `usual_key`, as in promptfoo, unless the server is on this machine; a note says so. A key that
/// `config` holds itself is never written; a note says what to do. REQUIRES: parse_base_url(base_url).
ImportedServer openai_server(std::string_view base_url, std::string_view usual_key,
                             const DocumentNode& provider, std::uint32_t line, const ImportFile& from);

/// A deployment of Azure OpenAI. A host or an API's version that `config` lacks is a note.
ImportedServer azure_server(std::string_view deployment, const DocumentNode& provider, std::uint32_t line,
                            const ImportFile& from);

/// A server of another format: promptfoo's `https` with a JSON body that the prompt alone fills, and a path
/// to the answer. `url` is where `config` names none. The error says what else it asks for.
tl::expected<ImportedServer, std::string> http_server(std::string_view url, const DocumentNode& provider,
                                                      const ImportFile& from);

/// True for the keys of `config` that these read.
bool is_of_openai_server(std::string_view key);
bool is_of_azure_server(std::string_view key);
bool is_of_http_server(std::string_view key);

}  // namespace sluice
