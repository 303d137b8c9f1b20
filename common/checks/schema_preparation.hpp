#pragma once

#include "common/error.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

/// What has to be done to a JSON Schema before valijson may have it. Inside common/checks only.
namespace sluice {

/// The keywords that sluice assesses itself, under the names that a prepared schema has them by: valijson
/// would give `pattern` and `format` to std::regex, which overflows the stack on long strings and can take
/// for ever, compares `uniqueItems` each with each, numbers of `const` and `enum` as doubles, and divides by
/// a `multipleOf` of 0, or with the fraction cut off.
inline constexpr std::string_view own_pattern = "sluice pattern";
inline constexpr std::string_view own_format = "sluice format";
inline constexpr std::string_view own_const = "sluice const";
inline constexpr std::string_view own_enum = "sluice enum";
inline constexpr std::string_view own_unique_items = "sluice uniqueItems";
inline constexpr std::string_view own_multiple_of = "sluice multipleOf";
/// Any number without a fraction is an integer; valijson's have 64 bits.
inline constexpr std::string_view own_integer = "sluice integer";
/// Stands in every schema so that it is met before anything else of it: counts how often schemas are applied.
inline constexpr std::string_view own_step = "sluice step";

/// The validator's patterns are std::regex's.
inline constexpr std::string_view patterned_keyword = "patternProperties";

/// Of later drafts, by which a value can fail.
inline constexpr std::array<std::string_view, 13> later_keywords = {
    "prefixItems",    "dependentSchemas", "dependentRequired",     "minContains",
    "maxContains",    "unevaluatedItems", "unevaluatedProperties", "$dynamicRef",
    "$dynamicAnchor", "$recursiveRef",    "$recursiveAnchor",      "contentSchema",
    "$anchor"};

/// Numbers in the one form for each value that comparisons rest on: whole ones up to 2^53 as integers, those
/// beyond 63 bits as doubles.
void normalise_numbers(nlohmann::json& document);

/// Renames the own keywords, and refuses what valijson does not survive or would pass over in silence:
/// references that lead in a circle or out of the schema or are too many, patterns that do not compile,
/// `patternProperties`, keywords of later drafts, values that a keyword cannot have. Returns the formats that
/// it names. Error: fixture_invalid, with all that is wrong, or the first of it.
Result<std::set<std::string>> prepare_schema(nlohmann::json& schema);

/// `/a/0` with the escapes of RFC 6901; "the root" for the empty path.
std::string pointer_text(const std::vector<std::string>& path);

}  // namespace sluice
