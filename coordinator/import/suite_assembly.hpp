#pragma once

#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_config.hpp"
#include "coordinator/import/promptfoo_prompts.hpp"
#include "coordinator/import/promptfoo_providers.hpp"
#include "coordinator/import/promptfoo_tests.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A provider that judges answers or embeds texts, with the servers that it needs.
struct Grader {
  ImportedProvider provider;
  std::vector<ImportedServer> servers;
};

/// What was read of a configuration.
struct SuiteParts {
  std::string name;
  std::vector<ImportedPrompt> prompts{};
  std::vector<ImportedProvider> providers{};
  std::vector<ImportedServer> servers{};
  std::optional<Grader> judge{};
  std::optional<Grader> embedder{};
  bool names_embedder = false;  ///< Perhaps one that could not be taken over.
  ImportedTest default_test{};
  std::vector<ImportedTest> tests{};
  std::optional<double> repeat{};
  std::optional<double> timeout_seconds{};
  bool has_prompts = false;  ///< It has `prompts`, whether or not any could be taken over.
};

/// A suite that loads, of parts that may lack what a suite needs: prompts, values of variables, checks. What
/// stands in for it is a note.
ImportedSuite assemble(SuiteParts parts, const ImportFile& from);

}  // namespace sluice
