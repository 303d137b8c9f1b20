#pragma once

#include "common/documents/finding.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// A JSON value and the line that it stands in.
struct JsonNode {
  enum class Kind : std::uint8_t { null, boolean, number, text, object, list };
  Kind kind = Kind::null;
  bool boolean = false;
  std::uint32_t line = 0;
  double number = 0.0;
  std::optional<std::uint64_t> whole{};    ///< A whole number from 0.
  std::optional<std::int64_t> negative{};  ///< A whole number below 0.
  std::string text{};
  std::vector<std::pair<std::string, JsonNode>> members{};  ///< Of a list without names.

  bool opens() const { return kind == Kind::object || kind == Kind::list; }
  const JsonNode* find(std::string_view name) const;
};

/// A value as a reader meets it on its way down; perhaps there is none. Those above it must outlive it.
class JsonAt {
 public:
  /// The file's object.
  explicit JsonAt(const JsonNode& root) : node_(&root) {}

  JsonAt operator[](std::string_view name) const;
  /// An element of a list, which there must be.
  JsonAt operator[](std::size_t index) const;
  /// The member at a place of an object, which there must be: to look each up by its name takes their square.
  JsonAt member(std::size_t index) const;
  /// An element of the list of this name in the file's object, whose elements are read one by one.
  static JsonAt element(const JsonAt& root, std::string_view list, std::size_t index, const JsonNode& node);

  explicit operator bool() const { return node_ != nullptr; }
  const JsonNode& operator*() const { return *node_; }
  const JsonNode* operator->() const { return node_; }
  bool is(JsonNode::Kind kind) const { return node_ != nullptr && node_->kind == kind; }

  std::string place() const;  ///< `entries[3].score`; empty for the file's object.
  const JsonAt* above() const { return above_; }
  std::string_view name() const { return name_; }

 private:
  JsonAt(const JsonNode* node, const JsonAt* above, std::string_view name, std::optional<std::size_t> index)
      : node_(node), above_(above), name_(name), index_(index) {}

  const JsonNode* node_;
  const JsonAt* above_ = nullptr;
  std::string_view name_;
  std::optional<std::size_t> index_;
};

/// Reads values of one file. Problems are findings with line and place; the first one in the file counts.
class JsonValues {
 public:
  /// As findings name the file.
  explicit JsonValues(std::string file) : file_(std::move(file)) {}

  const std::string& file() const { return file_; }
  const std::optional<Finding>& problem() const { return problem_; }

  // Each is false. The problem that stands first in the file stays.
  bool problem(std::uint32_t line, std::string message);
  bool expected(const JsonAt& value, std::string_view what);
  bool missing(const JsonAt& object, std::string_view name, std::uint32_t line);

  // Each is false, with a problem, where the value is another or is not there.
  bool text(const JsonAt& value, std::string& target);  ///< Not empty.
  bool time(const JsonAt& value, std::string& target);  ///< RFC 3339.
  bool truth(const JsonAt& value, bool& target);
  bool count(const JsonAt& value, std::uint64_t& target);
  bool number(const JsonAt& value, double& target);                            ///< 0..1
  bool fraction(const JsonAt& value, std::optional<double>& target);           ///< 0..1, or null for nothing.
  bool fraction_if_there(const JsonAt& value, std::optional<double>& target);  ///< The same, or missing.
  bool digest(const JsonAt& value, std::uint64_t& target);                     ///< As digest_text writes it.
  bool list(const JsonAt& value);
  bool object(const JsonAt& value);
  bool texts(const JsonAt& object, std::map<std::string, std::string, std::less<>>& target);  ///< By name.

 private:
  std::string file_;
  std::optional<Finding> problem_;
};

/// "a text", "a list", ...: for messages.
std::string_view to_string(JsonNode::Kind kind);
/// "true", "0.5", "the text `x`", "an object", ...
std::string shown(const JsonNode& value);

}  // namespace sluice
