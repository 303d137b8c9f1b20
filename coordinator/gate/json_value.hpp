#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// A value as a JSON parser meets it; of objects and lists only that they begin.
struct JsonValue {
  enum class Kind : std::uint8_t { null, boolean, number, text, object, list };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0.0;
  std::optional<std::int64_t> negative{};  ///< A whole number below 0.
  std::optional<std::uint64_t> whole{};    ///< A whole number from 0.
  std::string_view text{};
};

/// True for the beginning of an object or a list.
inline bool opens(const JsonValue& value) {
  return value.kind == JsonValue::Kind::object || value.kind == JsonValue::Kind::list;
}

/// "a text", "a list", ...: for messages.
std::string_view to_string(JsonValue::Kind kind);
/// The value itself: "true", "0.5", "the text `x`", "an object", ...
std::string shown(const JsonValue& value);

}  // namespace sluice
