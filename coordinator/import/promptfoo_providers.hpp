#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/foreign_sampling.hpp"
#include "coordinator/import/foreign_server.hpp"
#include "coordinator/import/import_source.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// A provider of a promptfoo configuration as a suite has it.
struct ImportedProvider {
  std::string name;  ///< Empty: that of the model.
  std::string provider;
  std::string model;
  std::optional<double> temperature{};
  std::optional<double> max_output_tokens{};
  std::optional<double> seed{};
  DocumentNode::Table params{};        ///< `params` of the arm.
  std::vector<std::string> prompts{};  ///< The labels of those that it is for; empty: all.
  std::uint32_t line = 1;
  std::string file{};  ///< That the line is of.
  /// What it is asked with where its config says nothing; of a server of another format that is no matter.
  std::optional<ForeignSampling> usual{};
  std::optional<DocumentNode> response_format{};  ///< As `input.response_format` of a test has it.
  std::optional<DocumentNode> tools{};            ///< As `input.tools`.
  std::optional<DocumentNode> transform{};        ///< Of its answers: `output.trim()`.
};

struct ImportedProviders {
  std::vector<ImportedProvider> providers;
  std::vector<ImportedServer> servers;  ///< Each once.
};

/// Adds servers; those who ask one that gets another name (add_server) are told it.
void add_servers(std::vector<ImportedServer>& to, std::vector<ImportedServer> servers,
                 std::span<ImportedProvider> users);

/// The one that embeds, for comparisons: `openai:embedding:text-embedding-3-small`.
ImportedProviders import_embedder(const DocumentNode& provider, const ImportFile& from);

/// Reads `providers` (or `targets`). Those that sluice cannot call become notes, and so does what their
/// `config` says beyond what an arm has: temperature, seed, the length of an answer, and params that sluice
/// has a name for. Values of keys are never repeated.
ImportedProviders import_providers(const DocumentNode& providers, const ImportFile& from);

}  // namespace sluice
