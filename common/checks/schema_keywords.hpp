#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

/// The keywords of JSON Schema's draft 7. Inside common/checks only.
namespace sluice {

/// What stands under a keyword: a value of some kind, or schemas.
enum class SchemaHolds : std::uint8_t {
  any,
  text,
  texts,
  types,
  values,
  number,
  count,
  divisor,
  boolean,
  schema,
  list,
  schema_or_list,
  by_name
};

struct SchemaKeyword {
  std::string_view name;
  SchemaHolds holds = SchemaHolds::any;
  bool in_place = false;  ///< Its schemas assess the same value, not one below it.
};

/// One by which a value can fail; null if the name is none.
const SchemaKeyword* schema_keyword(std::string_view name);

/// The assertion that a keyword was meant for: the validator passes over words that it does not know, as over
/// a title. The first letter is right: other tools have keywords of their own.
std::optional<std::string_view> meant_assertion(std::string_view keyword);

/// What is wrong with a keyword's value; empty: nothing. Schemas below it are looked at one by one.
std::string problem_with_value(SchemaHolds holds, const nlohmann::json& value);

}  // namespace sluice
