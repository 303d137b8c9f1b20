#pragma once

#include "common/documents/document.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A check as promptfoo names it: an assertion of its configurations, or a cell of its `__expected` columns.
struct ForeignCheck {
  std::string type;  ///< Without the `not-` before it.
  bool is_negated = false;
  std::vector<std::string> values;
  std::optional<double> threshold{};
  std::optional<DocumentNode>
      schema{};  ///< Of `is-json`, or what `equals` compares with, where it is no text.
  std::uint32_t line = 1;
  std::optional<std::string> context{};  ///< Of one that takes_foreign_context; nothing: input.context.
  std::string problem{};                 ///< A clause on its value that cannot be read; empty if all is well.
};

/// The texts of a list as `contains-any` and its like have it: commas between them, one in quotes may hold
/// commas, and quotes that are doubled. The error is a clause that says what is wrong with the quotes.
tl::expected<std::vector<std::string>, std::string> parse_foreign_list(std::string_view list);

/// A cell that is a number as a whole.
std::optional<double> foreign_number(std::string_view cell);

/// What a cell of a column `__metadata:KEY` says of its test; of `__metadata:KEY[]` the texts between commas,
/// where `\,` is a comma within one.
struct ForeignMetadata {
  std::string key;
  std::vector<std::string> values;  ///< None is empty.
};
/// Nothing for a column of another name.
std::optional<ForeignMetadata> parse_foreign_metadata(std::string_view column, std::string_view cell);

/// Whether a check of this type (without `not-`) compares with a list of texts.
bool takes_foreign_list(std::string_view type);

/// Whether a check of this type judges by the variable `context` of its test.
bool takes_foreign_context(std::string_view type);
/// That variable, as ForeignCheck::context has it.
inline constexpr std::string_view foreign_context = "{{context}}";

/// A pattern of one character that is white space to promptfoo, as JavaScript knows it.
inline constexpr std::string_view foreign_space = R"([\s\v\p{Z}\x{feff}])";

/// The check that a cell asks for (`contains: Paris`, `similar(0.8): ...`); a text that names no check is
/// what the answer must equal.
ForeignCheck parse_foreign_check(std::string_view cell, std::uint32_t line);

/// A cell that names no check, though the word before its colon is a slip of one that there is (`contain:`,
/// `Contains:`), or the whole of one that needs nothing behind it (`is-jason`, `contains_json`), or its
/// threshold no number (`latency(abc)`): a text that the answer must equal, and seldom meant so.
struct MisspeltCheck {
  std::string word;   ///< As written, without the colon.
  std::string meant;  ///< The check as a cell begins with it: `contains:`, `is-json`, `latency(NUMBER)`.
};
std::optional<MisspeltCheck> misspelt_check(std::string_view cell);

/// A clause that says why no check of this type can be taken over, whatever its value; empty where one can.
std::string_view why_not_taken(std::string_view type);

/// It as an entry of `expected` (docs/suites.md), with keys in the order in which people write them; or a
/// clause that says why there is none, such as `has no counterpart: ...`.
tl::expected<DocumentNode, std::string> expectation_of(const ForeignCheck& check);

/// The same with the keys of all its tables in order, as documents have them that are read.
DocumentNode in_order(DocumentNode node);

}  // namespace sluice
