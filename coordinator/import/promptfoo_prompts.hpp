#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A prompt of a promptfoo configuration as a suite has it.
struct ImportedPrompt {
  std::string id;     ///< Of its own among the prompts.
  std::string label;  ///< As providers and tests name it.
  std::string system;
  std::string prompt;
  std::set<std::string, std::less<>> variables{};
  std::uint32_t line = 1;
};

/// Reads `prompts`: texts, files, globs, chats of a system and a user message. Those that a suite cannot say
/// become notes.
std::vector<ImportedPrompt> import_prompts(const DocumentNode& prompts, const ImportFile& from);

}  // namespace sluice
