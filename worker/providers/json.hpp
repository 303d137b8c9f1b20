#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

/// Reading foreign JSON without exceptions: each accessor takes a null pointer and any type of node.
namespace sluice {

using Json = nlohmann::json;

/// Answers nest less than ten deep; a document tree far beyond that would be destroyed recursively.
inline constexpr std::size_t max_json_depth = 64;

/// Nothing if the text is not JSON in valid UTF-8, or nests deeper than max_json_depth.
std::optional<Json> parse_json(std::string_view text);

/// The member of an object; nullptr if the node is no object or has no such member.
Json* member(Json* node, const char* key);
/// The first element of an array that has one, else nullptr.
Json* first(Json* node);
/// The node's string, else nullptr.
std::string* text_of(Json* node);
/// Moves the node's string out; "" if it is none.
std::string take_text(Json* node);
/// The node as a count; 0 if it is no integer or negative.
std::uint64_t count_of(Json* node);

}  // namespace sluice
