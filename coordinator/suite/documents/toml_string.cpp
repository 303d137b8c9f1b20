#include "coordinator/suite/documents/toml_string.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace sluice {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

void append_escaped(std::string& out, char c) {
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (is_control(c)) {
    std::array<char, 8> escape{};
    std::snprintf(escape.data(), escape.size(), "\\u%04X",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += escape.data();
  } else {
    out += c;
  }
}

}  // namespace

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) append_escaped(out, c);
  return out + '"';
}

std::string toml_long_string(std::string_view text) {
  const auto stands_as_it_is = [](char c) { return c == '\n' || c == '\t' || !is_control(c); };
  // Quotes at the end would run into the closing ones.
  if (text.find("'''") == std::string_view::npos && !text.ends_with('\'') &&
      std::ranges::all_of(text, stands_as_it_is))
    return "'''\n" + std::string(text) + "'''";
  std::string out = "\"\"\"\n";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // A quote may stand alone.
    const bool is_lone_quote = c == '"' && i + 1 < text.size() && text[i + 1] != '"';
    if (c == '\n' || c == '\t' || is_lone_quote) {
      out += c;
    } else {
      append_escaped(out, c);
    }
  }
  return out + "\"\"\"";
}

std::string toml_number(double number) {
  const std::string text = shortest(number);
  return text + (text.find_first_of(".eE") == std::string::npos ? ".0" : "");
}

std::string toml_inline(const DocumentNode& node) {
  std::string text;
  const auto next = [&] { return text.size() == 1 ? " " : ", "; };
  if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    text = "{";
    for (const DocumentEntry& entry : *table)
      text += next() + toml_string(entry.key) + " = " + toml_inline(entry.value);
    return text + " }";
  }
  if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    text = "[";
    for (const DocumentNode& one : *list) text += next() + toml_inline(one);
    return text + " ]";
  }
  if (const auto* number = std::get_if<double>(&node.value)) return toml_number(*number);
  const auto* own = std::get_if<std::string>(&node.value);
  return own != nullptr ? toml_string(*own) : canonical_json(node);
}

}  // namespace sluice
