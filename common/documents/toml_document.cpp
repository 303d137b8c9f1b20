#include "common/documents/toml_document.hpp"

// The parser asserts, before it checks, some of what malformed text makes false (a header or an array element
// that starts with a wrong character). Its checks are sound; its assertions would end the program in a debug
// build, and with some compilers be taken for true in a release build. So this file, the only one that
// includes it, has none.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
// std::from_chars has known floating point since g++ 11; by itself the parser makes a stream for each number.
#define TOML_FLOAT_CHARCONV 1

#include "common/documents/toml_prescan.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>

#include <toml++/toml.h>

namespace sluice {
namespace {

std::uint32_t line_at(std::string_view text, std::size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
  return 1 + static_cast<std::uint32_t>(std::count(text.begin(), end, '\n'));
}

template <class Value>
std::string date_text(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::uint32_t line_of(const toml::source_region& source) {
  return std::max<std::uint32_t>(1, source.begin.line);
}

TomlNode convert(toml::node& node, const TomlPrescan& prescan);

TomlNode::Table convert_table(toml::table& table, const TomlPrescan& prescan) {
  TomlNode::Table entries;
  entries.reserve(table.size());
  for (auto&& [key, value] : table) {
    entries.push_back({std::string(key.str()), line_of(key.source()), convert(value, prescan)});
  }
  return entries;
}

TomlNode::Array convert_array(toml::array& array, const TomlPrescan& prescan) {
  TomlNode::Array values;
  values.reserve(array.size());
  for (toml::node& value : array) values.push_back(convert(value, prescan));
  return values;
}

TomlNode convert(toml::node& node, const TomlPrescan& prescan) {
  TomlNode result;
  result.line = line_of(node.source());
  if (auto* table = node.as_table()) {
    result.value = convert_table(*table, prescan);
  } else if (auto* array = node.as_array()) {
    result.value = convert_array(*array, prescan);
  } else if (auto* text = node.as_string()) {
    const auto& place = node.source().begin;
    const TomlLongString* long_string = prescan.find(place.line, place.column);
    result.value = long_string != nullptr ? std::string(long_string->body) : std::move(text->get());
  } else if (auto* integer = node.as_integer()) {
    result.value = integer->get();
  } else if (auto* number = node.as_floating_point()) {
    result.value = number->get();
  } else if (auto* boolean = node.as_boolean()) {
    result.value = boolean->get();
  } else if (auto* date = node.as_date()) {
    result.value = TomlDate{date_text(date->get())};
  } else if (auto* time = node.as_time()) {
    result.value = TomlDate{date_text(time->get())};
  } else if (auto* date_time = node.as_date_time()) {
    result.value = TomlDate{date_text(date_time->get())};
  }
  return result;
}

}  // namespace

tl::expected<TomlNode, TomlError> parse_toml(std::string_view text) {
  if (const auto bad = invalid_utf8_at(text)) {
    return tl::unexpected(TomlError{line_at(text, *bad), "not valid UTF-8"});
  }
  const TomlPrescan prescan = prescan_toml(text);
  if (prescan.refused_line) {
    return tl::unexpected(TomlError{*prescan.refused_line, "not valid TOML: " + prescan.refused_because});
  }
  auto parsed = toml::parse(prescan.shortened.empty() ? text : std::string_view(prescan.shortened));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return tl::unexpected(
        TomlError{line_of(error.source()), "not valid TOML: " + to_valid_utf8(error.description())});
  }
  TomlNode root = convert(parsed.table(), prescan);
  root.line = 1;
  return root;
}

}  // namespace sluice
