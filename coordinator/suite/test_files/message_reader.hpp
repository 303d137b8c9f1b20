#pragma once

#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"

#include <string>
#include <vector>

namespace sluice {

/// The messages of a test.
struct ReadMessages {
  std::string system;  ///< Of the first message; empty: none.
  std::string asked;   ///< What PartKind::asked stands for.
  /// Without the system prompt; empty if the text that is asked is all there is.
  std::vector<ChatMessage> messages;
  std::vector<std::string> texts;  ///< All of them.
};

/// Reads `input.messages` of a test (docs/suites.md#messages). What is wrong becomes findings.
ReadMessages read_messages(const DocumentEntry& entry, const TestSource& source,
                           const DocumentContext& context);

/// Reads calls of tools: of an assistant's message, or what a check of calls expects. `id` may be empty.
std::vector<ToolCall> read_tool_calls(const DocumentNode::Array& calls, const std::string& name,
                                      const DocumentContext& context);

}  // namespace sluice
