#pragma once

#include "coordinator/gate/json_value.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice {

/// What nlohmann's parser calls (its SAX interface), in the words of a reader with the functions `key`,
/// `value`, `close` and `broken`, each of which but the last says whether to go on. A template, so that the
/// parser's header stays out of this one.
template <class Reader>
class JsonEvents {
 public:
  explicit JsonEvents(Reader& reader) : reader_(reader) {}

  bool null() { return reader_.value(JsonValue{.kind = JsonValue::Kind::null}); }
  bool boolean(bool given) {
    return reader_.value(JsonValue{.kind = JsonValue::Kind::boolean, .boolean = given});
  }
  bool number_integer(std::int64_t number) {
    JsonValue value{.kind = JsonValue::Kind::number, .number = static_cast<double>(number)};
    if (number < 0) {
      value.negative = number;
    } else {
      value.whole = static_cast<std::uint64_t>(number);
    }
    return reader_.value(value);
  }
  bool number_unsigned(std::uint64_t number) {
    return reader_.value(
        JsonValue{.kind = JsonValue::Kind::number, .number = static_cast<double>(number), .whole = number});
  }
  bool number_float(double number, const std::string&) {
    return reader_.value(JsonValue{.kind = JsonValue::Kind::number, .number = number});
  }
  bool string(const std::string& text) {
    return reader_.value(JsonValue{.kind = JsonValue::Kind::text, .text = text});
  }
  bool binary(const auto&) { return false; }
  bool start_object(std::size_t) { return reader_.value(JsonValue{.kind = JsonValue::Kind::object}); }
  bool start_array(std::size_t) { return reader_.value(JsonValue{.kind = JsonValue::Kind::list}); }
  bool key(const std::string& name) { return reader_.key(name); }
  bool end_object() { return reader_.close(); }
  bool end_array() { return reader_.close(); }
  bool parse_error(std::size_t, const std::string& token, const auto& error) {
    constexpr int number_overflow = 406;  // nlohmann's number of the error.
    reader_.broken(token, error.id == number_overflow);
    return false;
  }

 private:
  Reader& reader_;
};

}  // namespace sluice
