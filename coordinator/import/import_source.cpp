#include "coordinator/import/import_source.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/import/defaults.hpp"
#include "coordinator/import/foreign_environment.hpp"
#include "coordinator/suite/documents/json_document.hpp"
#include "coordinator/suite/documents/yaml_document.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"
#include "coordinator/suite/file_glob.hpp"
#include "coordinator/suite/prompts/arms.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

namespace sluice {
namespace {

/// A key that JavaScript takes for the index of an array, which come first and in order; nothing for others.
std::optional<std::uint64_t> index_of(std::string_view key) {
  constexpr std::uint64_t most = 4294967294;
  std::uint64_t index = 0;
  const auto read = std::from_chars(key.data(), key.data() + key.size(), index);
  const bool is_index = read.ec == std::errc() && index <= most && std::to_string(index) == key;
  return is_index ? std::optional(index) : std::nullopt;
}

/// As promptfoo puts a number into a text.
std::string as_javascript(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  const double size = std::abs(number);
  if (size == 0.0) return "0";
  if (size < 1e-6 || size >= 1e21) {
    std::string text = shortest(number);
    if (const auto zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);
    return text;
  }
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed).ptr;
  return {text.data(), end};
}

}  // namespace

tl::expected<DocumentNode, DocumentError> parse_foreign(const std::string& file, std::string_view text,
                                                        const ImportFile* from) {
  // JSON is YAML for the most part, and only the latter's parser keeps lines.
  ParsedYaml yaml = parse_yaml(text);
  for (const DocumentError& number : yaml.older_numbers) {
    if (from == nullptr) break;
    from->change(number.line, json_string(excerpt(number.message, defaults::quoted_bytes)) +
                                  " is a text, as the newest promptfoo reads it, and a number to older "
                                  "versions: quote it, or write a number in plain digits");
  }
  if (yaml.root && yaml.errors.empty()) return std::move(*yaml.root);
  if (extension_of(file) == ".json") return parse_json(text);
  return tl::unexpected(std::move(yaml.errors.front()));
}

DocumentNode as_written(DocumentNode node) {
  if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    for (DocumentNode& one : *list) one = as_written(std::move(one));
  } else if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (DocumentEntry& entry : *table) entry.value = as_written(std::move(entry.value));
    std::ranges::stable_sort(*table, {}, [](const DocumentEntry& entry) {
      const auto index = index_of(entry.key);
      return std::pair(!index, index.value_or(entry.place));
    });
  }
  return node;
}

std::string written_json(const DocumentNode& node) {
  return canonical_json(as_written(node));
}

const std::string* text_in(const DocumentNode& node) {
  return std::get_if<std::string>(&node.value);
}

const std::string* text_in(const DocumentNode& table, std::string_view key) {
  const DocumentEntry* entry = find_entry(table, key);
  return entry != nullptr ? text_in(entry->value) : nullptr;
}

std::optional<std::string> scalar_text(const DocumentNode& node) {
  if (const std::string* text = text_in(node)) return *text;
  if (const auto* boolean = std::get_if<bool>(&node.value)) return *boolean ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&node.value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&node.value)) {
    // A whole number beyond 64 bits is one, too: rounded, it would be another.
    const bool is_whole = !node.written.empty() && node.written.find_first_of(".eE") == std::string::npos;
    return is_whole ? node.written : as_javascript(*real);
  }
  return std::nullopt;
}

std::optional<double> number_in(const DocumentNode& table, std::string_view key) {
  const DocumentEntry* entry = find_entry(table, key);
  if (entry == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&entry->value.value)) return static_cast<double>(*whole);
  if (const std::string* text = text_in(entry->value)) return foreign_number(trimmed(*text));
  const auto* real = std::get_if<double>(&entry->value.value);
  return real != nullptr ? std::optional(*real) : std::nullopt;
}

const DocumentNode::Table* mapping_in(const DocumentEntry& entry, const ImportFile& from) {
  const auto* table = std::get_if<DocumentNode::Table>(&entry.value.value);
  if (table == nullptr && !std::holds_alternative<DocumentNull>(entry.value.value))
    from.change(entry.line, "\"" + excerpt(entry.key, defaults::quoted_bytes) + "\" is no mapping: left out");
  return table;
}

std::string id_of(std::string_view text) {
  const bool has_any = std::ranges::any_of(text, [](const char& c) { return is_arm_name({&c, 1}); });
  return has_any ? arm_name_of(text) : "";
}

std::string extension_of(std::string_view name) {
  return to_lower(std::filesystem::path(name).extension().generic_string());
}

bool is_code_file(std::string_view name) {
  static constexpr std::array<std::string_view, 9> extensions{".js",  ".cjs", ".mjs", ".ts", ".mts",
                                                              ".cts", ".py",  ".rb",  ".go"};
  return std::ranges::find(extensions, extension_of(name)) != extensions.end();
}

std::string referenced_file(std::string_view text, const SuiteFolder& files) {
  constexpr std::string_view scheme = "file://";
  const bool has_scheme = text.starts_with(scheme);
  if (has_scheme) text.remove_prefix(scheme.size());
  if (text.empty() || text.find_first_of("\n{}") != std::string_view::npos) return "";
  std::string name(text);
  const auto dot = name.rfind('.');
  const auto colon = name.rfind(':');
  if (colon != std::string::npos && dot != std::string::npos && dot < colon) name.resize(colon);
  if (has_scheme) return name;
  const bool is_there =
      !extension_of(name).empty() && name.find(' ') == std::string::npos &&
      (is_file_glob(name) ? find_files(files, name).has_value() : files.open_file(name).has_value());
  return is_there ? name : "";
}

namespace {

/// Without what is an error there is nothing that it could be left out of.
std::string left_out(std::string message, Loss loss) {
  return loss == Loss::everything ? message : std::move(message) + ": left out";
}

}  // namespace

std::vector<std::string> files_of(const std::string& name, const ImportFile& from, std::uint32_t line,
                                  Loss loss) {
  if (!is_file_glob(name)) return {name};
  auto names = find_files(from.files, name);
  if (names) return std::move(*names);
  from.lose(
      loss, line,
      left_out("names \"" + excerpt(name, defaults::quoted_bytes) + "\", which " + names.error().message,
               loss));
  return {};
}

std::optional<std::string> read_text_file(const std::string& name, const ImportFile& from, std::uint32_t line,
                                          Loss loss, std::optional<Loss> of_no_text) {
  const auto text = from.files.read(name, defaults::max_suite_bytes);
  std::string problem;
  if (!text) {
    problem = text.error().message;
  } else if (invalid_utf8_at(*text)) {
    problem = "is not valid UTF-8";
    loss = of_no_text.value_or(loss);
  } else if (from.depth > defaults::max_file_depth) {
    problem = "stands more than " + std::to_string(defaults::max_file_depth) +
              " deep in files that name others, or itself";
  }
  if (problem.empty()) return with_unix_line_ends(std::string(without_byte_order_mark(*text)));
  from.lose(loss, line,
            left_out("names \"" + excerpt(name, defaults::quoted_bytes) + "\", which " + problem, loss));
  return std::nullopt;
}

bool may_follow(const std::string& name, const ImportFile& from, std::uint32_t line, Loss loss) {
  const auto is_same = [path = std::filesystem::path(name).lexically_normal()](const std::string& other) {
    return std::filesystem::path(other).lexically_normal() == path;
  };
  std::string problem;
  if (is_same(from.name) || std::ranges::any_of(from.within, is_same))
    problem = "leads to itself";
  else if (from.depth > 1 && ++*from.followed > defaults::max_followed_files)
    problem = "stands behind more than " + std::to_string(defaults::max_followed_files) +
              " names of files in files that others name";
  if (problem.empty()) return true;
  from.lose(loss, line,
            left_out("names \"" + excerpt(name, defaults::quoted_bytes) + "\", which " + problem, loss));
  return false;
}

std::optional<DocumentNode> read_document(const std::string& name, const ImportFile& from, std::uint32_t line,
                                          Loss loss) {
  const auto text = read_text_file(name, from, line, loss);
  if (!text) return std::nullopt;
  const ImportFile there = from.with(name);
  auto node = parse_foreign(name, *text, &there);
  if (node) fill_environment(*node, there);
  if (node) return std::move(*node);
  const bool is_error = loss == Loss::everything;
  from.with(name).lose(loss, node.error().line,
                       node.error().message + (is_error ? "" : ": the file is left out"));
  return std::nullopt;
}

}  // namespace sluice
