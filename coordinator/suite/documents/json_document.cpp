#include "coordinator/suite/documents/json_document.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/documents/document_context.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <simdjson.h>

namespace sluice {
namespace {

using nlohmann::json;

/// Builds the tree from the parser's events, which come without recursion.
class JsonTreeBuilder : public nlohmann::json_sax<json> {
 public:
  JsonTreeBuilder(std::string_view text, std::uint32_t first_line) : text_(text), first_line_(first_line) {}

  std::optional<DocumentError> error;
  DocumentNode root;

  bool null() override { return add(DocumentNull{}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return add(static_cast<std::int64_t>(value));
    }
    return add(static_cast<double>(value), std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& text) override { return add(value, text); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return fail("binary values are not JSON"); }

  bool start_object(std::size_t) override { return open(DocumentNode::Table()); }
  bool key(string_t& value) override {
    open_.back().key = std::move(value);
    return true;
  }
  bool end_object() override {
    std::vector<DocumentError> twice;
    sort_entries(std::get<DocumentNode::Table>(open_.back().node.value), twice);
    if (!twice.empty()) return fail(std::move(twice.front().message));
    return close();
  }
  bool start_array(std::size_t) override { return open(DocumentNode::Array()); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& why) override {
    // What the library puts before the last colons is its own name and the place in other words.
    std::string_view message = why.what();
    const auto number = dynamic_cast<const json::out_of_range*>(&why);
    if (number != nullptr) return fail_at(position, "a number is too large");
    if (const auto column = message.find(": "); column != std::string_view::npos) {
      message.remove_prefix(column + 2);
    }
    return fail_at(position, "not valid JSON: " + excerpt(to_valid_utf8(message), defaults::quoted_bytes));
  }

 private:
  struct Open {
    DocumentNode node;
    std::string key;
  };

  bool fail(std::string message) {
    error = DocumentError{first_line_, std::move(message)};
    return false;
  }
  bool fail_at(std::size_t position, std::string message) {
    const auto line = line_of_offset(text_, position == 0 ? 0 : position - 1);
    error = DocumentError{first_line_ + line - 1, std::move(message)};
    return false;
  }

  bool open(decltype(DocumentNode::value) value) {
    if (open_.size() == defaults::max_document_depth) {
      return fail("is nested more than " + std::to_string(defaults::max_document_depth) + " deep");
    }
    open_.push_back({DocumentNode{std::move(value), first_line_}, {}});
    return true;
  }
  bool close() {
    DocumentNode closed = std::move(open_.back().node);
    open_.pop_back();
    return add(std::move(closed.value));
  }
  bool add(decltype(DocumentNode::value) value, std::string written = {}) {
    DocumentNode node{std::move(value), first_line_, std::move(written)};
    if (open_.empty()) {
      root = std::move(node);
    } else if (auto* array = std::get_if<DocumentNode::Array>(&open_.back().node.value)) {
      array->push_back(std::move(node));
    } else {
      auto& table = std::get<DocumentNode::Table>(open_.back().node.value);
      table.push_back({std::move(open_.back().key), first_line_, std::move(node)});
    }
    return true;
  }

  std::string_view text_;
  std::uint32_t first_line_;
  std::vector<Open> open_;
};

/// Most documents, in a third of the time. Nothing where the other parser has to look: it says what is wrong,
/// and keeps numbers as they are written.
class PlainDocument {
  /// A thread keeps some fourteen times the longest that it has read.
  static constexpr std::size_t longest = 64u << 10;
  struct Field {
    simdjson::dom::key_value_pair given;
    std::uint32_t place;
  };

 public:
  explicit PlainDocument(std::uint32_t line) : line_(line) {}

  std::optional<DocumentNode> read(std::string_view text) {
    if (text.size() > longest) return std::nullopt;
    thread_local simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (text.starts_with("\xef\xbb\xbf") ||
        parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS)
      return std::nullopt;
    DocumentNode node;
    if (!take(root, 0, node)) return std::nullopt;
    return node;
  }

 private:
  bool take(simdjson::dom::element from, std::size_t depth, DocumentNode& node) {
    using simdjson::dom::element_type;
    node.line = line_;
    switch (from.type()) {
      case element_type::OBJECT:
        return take_table(from.get_object().value_unsafe(), depth, node);
      case element_type::ARRAY:
        return take_array(from.get_array().value_unsafe(), depth, node);
      case element_type::STRING:
        node.value = std::string(from.get_string().value_unsafe());
        return true;
      case element_type::INT64:
        node.value = from.get_int64().value_unsafe();
        return true;
      case element_type::BOOL:
        node.value = from.get_bool().value_unsafe();
        return true;
      case element_type::NULL_VALUE:
        node.value = DocumentNull{};
        return true;
      case element_type::UINT64:
      case element_type::DOUBLE:
        return false;
    }
    return false;
  }

  bool take_table(simdjson::dom::object from, std::size_t depth, DocumentNode& node) {
    if (depth == defaults::max_document_depth) return false;
    const std::size_t first = fields_.size();
    for (const auto field : from)
      fields_.push_back({field, static_cast<std::uint32_t>(fields_.size() - first)});
    const std::size_t end = fields_.size();
    // Fields are cheaper to bring into order than what is made of them.
    std::sort(fields_.begin() + static_cast<std::ptrdiff_t>(first), fields_.end(),
              [](const Field& one, const Field& other) { return one.given.key < other.given.key; });
    auto& table = node.value.emplace<DocumentNode::Table>();
    table.reserve(end - first);
    for (std::size_t i = first; i < end; ++i) {
      const auto [field, place] = fields_[i];
      if (!table.empty() && table.back().key == field.key) return false;
      DocumentEntry& entry = table.emplace_back();
      entry.key = field.key;
      entry.line = line_;
      entry.place = place;
      if (!take(field.value, depth + 1, entry.value)) return false;
    }
    fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(first), fields_.end());
    return true;
  }

  bool take_array(simdjson::dom::array from, std::size_t depth, DocumentNode& node) {
    if (depth == defaults::max_document_depth) return false;
    auto& array = node.value.emplace<DocumentNode::Array>();
    array.reserve(from.size());
    for (const auto value : from) {
      if (!take(value, depth + 1, array.emplace_back())) return false;
    }
    return true;
  }

  std::uint32_t line_;
  std::vector<Field> fields_;  ///< Of the objects that are open, the innermost ones last.
};

}  // namespace

tl::expected<DocumentNode, DocumentError> parse_json(std::string_view text, std::uint32_t first_line) {
  if (auto plain = PlainDocument(first_line).read(text)) return std::move(*plain);
  if (const auto bad = invalid_utf8_at(text)) {
    return tl::unexpected(DocumentError{first_line + line_of_offset(text, *bad) - 1,
                                        "not valid UTF-8" + std::string(how_to_reach_utf8)});
  }
  JsonTreeBuilder builder(text, first_line);
  try {
    if (json::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder.root);
  } catch (const std::exception& error) {
    return tl::unexpected(DocumentError{first_line, "not valid JSON: " + std::string(error.what())});
  }
  if (!builder.error) builder.error = DocumentError{first_line, "not valid JSON"};
  return tl::unexpected(std::move(*builder.error));
}

}  // namespace sluice
