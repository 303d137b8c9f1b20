#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

/// A text of a conversation.
struct ImportedMessage {
  std::string role;  ///< `user` or `assistant`.
  std::string content;
  std::uint32_t line = 1;  ///< In the chat's own text.
};

/// A prompt of a promptfoo configuration as a suite has it.
struct ImportedPrompt {
  std::string id;      ///< Of its own among the prompts.
  std::string label;   ///< As providers and tests name it.
  std::string file{};  ///< That it stands in; may be empty.
  std::string system;
  std::string prompt;
  std::set<std::string, std::less<>> variables{};
  std::set<std::string, std::less<>> json_variables{};  ///< As TranslatedTemplate::json_variables.
  std::uint32_t line = 1;
  std::optional<DocumentNode> response_format{};  ///< As ImportedProvider::response_format.
  std::vector<ImportedMessage> messages{};  ///< Behind `system`, of a conversation; `prompt` is empty then.
};

/// Reads `prompts`: texts, files, globs, chats. A conversation of several turns is the only prompt, as tests
/// have it: beside others it is left out. What a suite cannot say becomes notes.
std::vector<ImportedPrompt> import_prompts(const DocumentNode& prompts, const ImportFile& from);

}  // namespace sluice
