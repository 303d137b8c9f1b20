#pragma once

#include "coordinator/suite/case.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"

#include <string_view>

namespace sluice {

/// Reads what the `input` of a test has beside its prompt (docs/suites.md#requests): `params`, `messages`,
/// `tools`, `tool_choice` and `response_format`. A system prompt and the text that is asked become those of
/// the case. What is wrong becomes findings. Returns the texts of the messages, for who looks into them.
std::vector<std::string> read_request(TableReader& input, const TestSource& source,
                                      const DocumentContext& context, Case& test);

/// True for a name that all providers take for a tool or the form of an answer.
bool is_provider_name(std::string_view name);

/// The keys of `input` that do not go with claims metrics, whose request is the claims prompt.
std::span<const std::string_view> keys_of_text_requests();

}  // namespace sluice
