#pragma once

#include "common/error.hpp"
#include "common/model/claim.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What an answer has to be read as, by the name of the schema that its request asked for
/// (ModelRequest::schema_name). Pure and thread-safe.
namespace sluice {

/// An answer as its schema has it.
struct ReadAnswer {
  std::optional<std::vector<ParsedClaim>> claims;  ///< Nothing in free text.
};

/// Reads an answer. An empty name: any text is an answer. Errors: unparsable_answer; internal_error for a
/// schema that nobody here reads.
Result<ReadAnswer> read_answer(std::string_view schema_name, std::string_view text);

/// An empty answer: no claims, or no text.
std::string mock_answer(std::string_view schema_name);

}  // namespace sluice
