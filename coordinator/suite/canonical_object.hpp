#pragma once

#include "common/documents/canonical_json.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Canonical JSON piece by piece, for what fingerprints are made of. Pure.
namespace sluice {

/// An object at the end of a text, closed when it goes; members are added in the order of their keys.
class CanonicalObject {
 public:
  explicit CanonicalObject(std::string& text) : text_(text) { text_ += '{'; }
  ~CanonicalObject() { text_ += '}'; }
  CanonicalObject(const CanonicalObject&) = delete;
  CanonicalObject& operator=(const CanonicalObject&) = delete;

  /// Its value is what the caller appends.
  std::string& member(std::string_view key) {
    text_ += std::exchange(is_empty_, false) ? "\"" : ",\"";
    text_ += key;
    text_ += "\":";
    return text_;
  }
  CanonicalObject& add(std::string_view key, std::string_view json) {
    member(key) += json;
    return *this;
  }
  CanonicalObject& add_text(std::string_view key, std::string_view text) {
    append_json_string(member(key), text);
    return *this;
  }
  CanonicalObject& add_number(std::string_view key, double value) {
    append_canonical_number(member(key), value);
    return *this;
  }
  CanonicalObject& add_if(std::string_view key, const std::optional<double>& value) {
    return value ? add_number(key, *value) : *this;
  }

 private:
  std::string& text_;
  bool is_empty_ = true;
};

template <class Elements, class Append>
void append_array(std::string& out, const Elements& elements, const Append& append_one) {
  out += '[';
  for (bool is_first = true; const auto& element : elements) {
    if (!std::exchange(is_first, false)) out += ',';
    append_one(out, element);
  }
  out += ']';
}

/// Its order says nothing, so it is the elements' own.
template <class Elements, class Append>
void append_unordered(std::string& out, const Elements& elements, const Append& append_one) {
  if (std::size(elements) < 2) return append_array(out, elements, append_one);
  std::vector<std::string> texts;
  for (const auto& element : elements) append_one(texts.emplace_back(), element);
  std::ranges::sort(texts);
  append_array(out, texts, [](std::string& to, const std::string& text) { to += text; });
}

}  // namespace sluice
