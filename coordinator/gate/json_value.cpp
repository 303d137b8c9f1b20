#include "coordinator/gate/json_value.hpp"

#include "common/text.hpp"
#include "coordinator/gate/quoted.hpp"

namespace sluice {

std::string_view to_string(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::null:
      return "null";
    case JsonValue::Kind::boolean:
      return "a boolean";
    case JsonValue::Kind::number:
      return "a number";
    case JsonValue::Kind::text:
      return "a text";
    case JsonValue::Kind::object:
      return "an object";
    case JsonValue::Kind::list:
      return "a list";
  }
  return "null";
}

std::string shown(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::boolean:
      return value.boolean ? "true" : "false";
    case JsonValue::Kind::number:
      return shortest(value.number);
    case JsonValue::Kind::text:
      return "the text " + quoted(value.text);
    default:
      return std::string(to_string(value.kind));
  }
}

}  // namespace sluice
