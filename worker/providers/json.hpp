#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

/// Reading foreign JSON without exceptions: what is missing or of another type is answered like what is not
/// there.
namespace sluice {

/// A place in a JsonDocument, or none. Valid as long as the document.
class JsonView {
 public:
  JsonView() = default;
  explicit JsonView(simdjson::dom::element element) : element_(element) {}

  /// Whether there is a value here, null included.
  explicit operator bool() const { return element_.has_value(); }
  bool is_object() const { return element_ && element_->is_object(); }
  bool is_array() const { return element_ && element_->is_array(); }
  bool is_true() const;

  /// The member of an object; none if this is no object, or has no such member.
  JsonView operator[](std::string_view key) const;
  /// The members of an object, in its order; empty if this is none.
  std::vector<std::pair<std::string_view, JsonView>> members() const;
  /// What a JSON Pointer (RFC 6901) leads to; none if it leads nowhere.
  JsonView at(std::string_view pointer) const;
  /// The first element of an array; none if there is none.
  JsonView first() const;
  /// The elements of an array; empty if this is none.
  std::vector<JsonView> elements() const;

  std::optional<std::string_view> text() const;
  /// The string here, or "".
  std::string text_or_empty() const;
  /// The whole number here, also one written as 12.0; 0 if it is none, or negative.
  std::uint64_t count() const { return whole().value_or(0); }
  /// The same; nothing where there is none.
  std::optional<std::uint64_t> whole() const;
  std::optional<std::uint64_t> unsigned_integer() const;
  /// The value as JSON without white space; "" if there is none.
  std::string json() const;
  /// The number here, whole or not; nothing if it is none.
  std::optional<double> number() const;
  /// The numbers of an array; nothing if this is none, or anything else stands in it.
  std::optional<std::vector<double>> numbers() const;

 private:
  std::optional<simdjson::dom::element> element_;
};

class JsonDocument {
 public:
  /// Nothing if the text is not JSON in valid UTF-8, nests deeper than defaults::max_answer_depth, or has an
  /// integer of more than 64 bits.
  static std::optional<JsonDocument> parse(std::string_view text);

  JsonView root() const { return root_; }

 private:
  JsonDocument() = default;

  std::unique_ptr<simdjson::dom::parser> parser_;  ///< Owns what views point to.
  JsonView root_;
};

}  // namespace sluice
