#include "coordinator/gate/json_value.hpp"

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

}  // namespace sluice
