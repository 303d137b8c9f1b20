#include "coordinator/import/suite_yaml.hpp"

#include "common/text/text.hpp"
#include "coordinator/suite/documents/yaml_scalar.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

/// Fewer than YAML allows: those that mean nothing else anywhere.
bool is_plain(std::string_view text) {
  const auto is_safe = [](char c) {
    return is_ascii_letter(c) || is_digit(c) ||
           std::string_view(" _-./()+").find(c) != std::string_view::npos;
  };
  return !text.empty() && (is_ascii_letter(text.front()) || text.front() == '_' || text.front() == '/') &&
         text.back() != ' ' && std::ranges::all_of(text, is_safe) &&
         std::holds_alternative<std::string>(resolve_plain_scalar(text));
}

/// As a block the text stands as it is, which holds for most texts of several lines.
bool fits_block(std::string_view text) {
  const bool has_foreign = std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7f;
  });
  const bool has_lines = text.find('\n') < text.size() - 1;
  return has_lines && !has_foreign && text.front() != ' ' && text.front() != '\n' &&
         !text.ends_with("\n\n") && !text.ends_with(" \n") && text.back() != ' ' &&
         text.find(" \n") == std::string_view::npos && text.find("\xc2\x85") == std::string_view::npos &&
         text.find("\xe2\x80\xa8") == std::string_view::npos &&
         text.find("\xe2\x80\xa9") == std::string_view::npos && !text.starts_with("\xef\xbb\xbf");
}

class YamlWriter {
 public:
  std::string write(const DocumentNode& document) {
    write_table(std::get<DocumentNode::Table>(document.value), 0);
    return std::move(out_);
  }

 private:
  void indent(std::size_t depth) { out_.append(2 * depth, ' '); }

  void write_table(const DocumentNode::Table& table, std::size_t depth) {
    for (const DocumentEntry& entry : table) {
      indent(depth);
      write_entry(entry, depth);
    }
  }

  void write_entry(const DocumentEntry& entry, std::size_t depth) {
    out_ += (is_plain(entry.key) ? entry.key : json_string(entry.key)) + ":";
    write_value(entry.value, depth);
  }

  /// What stands behind a key or a dash, with the line's end.
  void write_value(const DocumentNode& node, std::size_t depth) {
    if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
      out_ += table->empty() ? " {}\n" : "\n";
      write_table(*table, depth + 1);
    } else if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      out_ += list->empty() ? " []\n" : "\n";
      for (const DocumentNode& one : *list) write_item(one, depth + 1);
    } else if (const auto* text = std::get_if<std::string>(&node.value)) {
      write_text(*text, depth);
    } else {
      out_ += " " + scalar(node) + "\n";
    }
  }

  void write_item(const DocumentNode& node, std::size_t depth) {
    indent(depth);
    out_ += "-";
    const auto* table = std::get_if<DocumentNode::Table>(&node.value);
    if (table == nullptr || table->empty()) return write_value(node, depth);
    out_ += " ";
    write_entry(table->front(), depth + 1);
    for (std::size_t i = 1; i < table->size(); ++i) {
      indent(depth + 1);
      write_entry((*table)[i], depth + 1);
    }
  }

  void write_text(std::string_view text, std::size_t depth) {
    if (is_plain(text)) {
      out_ += " " + std::string(text) + "\n";
    } else if (text.empty() || !fits_block(text)) {
      out_ += " " + json_string(text) + "\n";
    } else {
      out_ += text.ends_with('\n') ? " |\n" : " |-\n";
      write_lines(text, depth + 1);
    }
  }

  void write_lines(std::string_view text, std::size_t depth) {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      if (!line.empty()) indent(depth);
      out_ += std::string(line) + "\n";
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
  }

  static std::string scalar(const DocumentNode& node) {
    if (const auto* boolean = std::get_if<bool>(&node.value)) return *boolean ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&node.value)) return std::to_string(*whole);
    if (const auto* real = std::get_if<double>(&node.value)) return shortest(*real);
    return "null";
  }

  std::string out_;
};

}  // namespace

std::string suite_yaml(const DocumentNode& document) {
  return YamlWriter().write(document);
}

}  // namespace sluice
