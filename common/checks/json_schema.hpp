#pragma once

#include "common/error.hpp"

#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace sluice {

/// What comparing a document with a schema found.
struct SchemaFinding {
  std::string problem{};  ///< In one line; empty: it is JSON that fits.
  bool gave_up = false;   ///< At a limit: for all that is known it may fit.
};

/// A compiled JSON Schema (draft 7; docs/metrics.md lists what is left out). `pattern` and
/// `format` are assessed by RE2. Immutable and thread-safe.
class JsonSchema {
 public:
  /// Error: fixture_invalid, naming the place in the schema as a JSON pointer.
  static Result<JsonSchema> compile(std::string_view schema_text);

  /// The formats that it names and that nothing assesses.
  const std::set<std::string>& other_formats() const;
  /// The same for parts of documents that fit the schema: what only whole ones can be held against, or sluice
  /// does not assess, is passed over (common/checks/partial_schema.hpp).
  static Result<JsonSchema> compile_partial(std::string_view schema_text);

  /// Error: internal_error, if the validator itself fails.
  Result<SchemaFinding> compare(std::string_view document_text) const;

 private:
  struct Compiled;
  static Result<JsonSchema> compile(std::string_view schema_text, bool is_partial);
  explicit JsonSchema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace sluice
