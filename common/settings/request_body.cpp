#include "common/settings/request_body.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/documents/table_reader.hpp"
#include "common/files.hpp"
#include "common/hash.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace sluice {
namespace {

/// The names that may stand in a body as {{name}}.
constexpr std::array<std::string_view, 8> body_variables{
    "max_tokens", "messages", "model", "prompt", "response_schema", "seed", "system", "temperature"};

tl::unexpected<std::string> no_value(std::string what) {
  return tl::unexpected<std::string>(std::move(what));
}

const TomlNode::Table* table_of(const RawValue& raw) {
  const auto* node = std::get_if<const TomlNode*>(&raw);
  return node != nullptr ? std::get_if<TomlNode::Table>(&(*node)->value) : nullptr;
}

/// What is wrong with a text of a body; empty if nothing is.
std::string problem_with(const std::string& text) {
  const auto parsed = Template::parse(text);
  if (!parsed) return parsed.error().front().message;
  const std::string_view sole = sole_variable(text);
  for (const std::string& name : parsed->variables()) {
    const std::string uses = "uses {{" + excerpt(name, 80) + "}}";
    if (std::ranges::find(body_variables, name) == body_variables.end()) {
      const std::vector<std::string> names(body_variables.begin(), body_variables.end());
      return uses + ", which is nothing of a request; there are " + quoted_list(names) +
             did_you_mean(name, body_variables);
    }
    if (is_structured(name) && sole != name)
      return uses + ", which is no text: let it be the whole value, as in \"{{" + name + "}}\"";
  }
  return "";
}

std::string problem_with(const DocumentNode& node) {
  std::string problem;
  has_text(node, [&](const std::string& text) { return !(problem = problem_with(text)).empty(); });
  return problem;
}

/// Whether anything of a test stands in it.
bool has_question(const DocumentNode& node) {
  return has_text(node, [](std::string_view text) {
    return std::ranges::any_of(variables_in(text),
                               [](std::string_view name) { return name == "prompt" || name == "messages"; });
  });
}

/// A member for each part, and where it is kept.
constexpr std::array<std::pair<std::string_view, std::string AnswerPointers::*>, 6> parts{{
    {"error", &AnswerPointers::error},
    {"finish_reason", &AnswerPointers::finish_reason},
    {"input_tokens", &AnswerPointers::input_tokens},
    {"model", &AnswerPointers::model},
    {"output_tokens", &AnswerPointers::output_tokens},
    {"text", &AnswerPointers::text},
}};

bool is_pointer(std::string_view text) {
  if (!text.starts_with('/') || text.size() > 256) return false;
  for (auto at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1)) {
    if (at + 1 == text.size() || (text[at + 1] != '0' && text[at + 1] != '1')) return false;
  }
  return is_header_value(text);
}

/// The file that an argument may name; empty: none.
std::string_view file_of_argument(const std::vector<std::string>& command, std::size_t i) {
  // A program that is looked for in PATH is another one on each machine.
  if (i == 0 && command[i].find('/') == std::string::npos) return {};
  std::string_view file = command[i];
  if (file.starts_with('-')) file.remove_prefix(std::min(file.find('='), file.size() - 1) + 1);
  return file;
}

/// Of a file that is there, though it is too large to read or may not be read: a change is seen by them. A
/// touch counts as one: without the time a file that was overwritten in place would have its old answers.
void hash_facts(FieldHasher& hasher, const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return;
  const auto size = std::filesystem::file_size(file, error);
  const auto written = std::filesystem::last_write_time(file, error).time_since_epoch().count();
  if (!error) hasher.field(std::to_string(size) + " " + std::to_string(written));
}

}  // namespace

bool is_structured(std::string_view variable) {
  return variable == "messages" || variable == "response_schema";
}

std::string_view sole_variable(std::string_view text) {
  if (!text.starts_with("{{") || !text.ends_with("}}")) return {};
  std::string_view name = text.substr(2, text.size() - 4);
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return is_variable_name(name) ? name : std::string_view{};
}

Parsed<std::string> parse_body(const RawValue& raw) {
  const auto* node = std::get_if<const TomlNode*>(&raw);
  if (table_of(raw) == nullptr) return no_value("must be a table, as { input = \"{{prompt}}\" }");
  if (!has_only_json_values(**node)) return no_value("holds what JSON has not");
  if (auto problem = problem_with(**node); !problem.empty()) return no_value(std::move(problem));
  if (holds_key(**node))
    return no_value("must hold no secret: a text in it " + std::string(begins_as_keys_do));
  if (!has_question(**node))
    return no_value(
        "must have {{prompt}} or {{messages}} in one of its texts: without, no test asks anything");
  return json_as_written(**node);
}

Parsed<AnswerPointers> parse_pointers(const RawValue& raw) {
  const TomlNode::Table* table = table_of(raw);
  const std::string expected = "must be a table of JSON Pointers, as { text = \"/output/text\" }";
  if (table == nullptr) return no_value(expected);
  AnswerPointers pointers;
  for (const DocumentEntry& entry : *table) {
    const auto part = std::ranges::find(parts, entry.key, [](const auto& one) { return one.first; });
    const std::string shown = ": \"" + excerpt(entry.key, 80) + "\" in it ";
    if (part == parts.end()) {
      std::vector<std::string> names;
      for (const auto& one : parts) names.emplace_back(one.first);
      return no_value(expected + shown + "is no part of an answer; there are " + quoted_list(names));
    }
    const auto* text = std::get_if<std::string>(&entry.value.value);
    if (text == nullptr || !is_pointer(*text)) {
      return no_value(expected + shown +
                      "must begin with \"/\", each step behind another one, with ~0 for ~ "
                      "and ~1 for /");
    }
    pointers.*(part->second) = *text;
  }
  if (pointers.text.empty()) return no_value(expected + ": it lacks \"text\", where the answer stands");
  return pointers;
}

Parsed<std::vector<std::string>> parse_command(const RawValue& raw) {
  const std::string expected =
      "must be a list: the program, then each of its arguments, as [\"python3\", \"bot.py\"]; no shell reads "
      "it";
  const auto* node = std::get_if<const TomlNode*>(&raw);
  const auto* list = node != nullptr ? std::get_if<TomlNode::Array>(&(*node)->value) : nullptr;
  if (list == nullptr || list->empty()) return no_value(expected);
  std::vector<std::string> arguments;
  for (const DocumentNode& one : *list) {
    const auto* text = std::get_if<std::string>(&one.value);
    if (text == nullptr || text->find('\0') != std::string::npos) return no_value(expected);
    const std::string_view value = std::string_view(*text).substr(text->find('=') + 1);  // Of `--key=sk-...`.
    if (holds_key(*text) || holds_key(value))
      return no_value(
          "must hold no secret, since others see a program's arguments: name the key's variable "
          "with \"api_key_env\", and let the program read it");
    arguments.push_back(*text);
  }
  if (arguments.front().empty()) return no_value(expected);
  return arguments;
}

std::string show_value(const AnswerPointers& value) {
  std::string text;
  for (const auto& [name, pointer] : parts) {
    if ((value.*pointer).empty()) continue;
    text += (text.empty() ? "{ " : ", ") + std::string(name) + " = " + json_string(value.*pointer);
  }
  return text.empty() ? "(none)" : text + " }";
}

bool belongs_to(std::string_view key, ProviderKind kind) {
  const auto is_one_of = [key](std::initializer_list<std::string_view> keys) {
    return std::ranges::find(keys, key) != keys.end();
  };
  if (key == "max_tokens_field") return kind == ProviderKind::openai || kind == ProviderKind::exec;
  if (is_one_of({"body", "answer"})) return kind == ProviderKind::http;
  if (key == "command") return kind == ProviderKind::exec;
  return kind != ProviderKind::exec || !is_one_of({"base_url", "headers", "query", "key_hosts"});
}

std::vector<std::string_view> required_keys(ProviderKind kind) {
  if (kind == ProviderKind::http) return {"base_url", "body", "answer"};
  if (kind == ProviderKind::exec) return {"command"};
  return {};
}

std::string identity_of_format(const std::string& body, const AnswerPointers& answer) {
  FieldHasher hasher;
  hasher.field(body);
  for (const auto& [name, pointer] : parts) hasher.field(answer.*pointer);
  return to_hex(hasher.finish()).substr(0, 16);
}

std::string identity_of_command(const std::vector<std::string>& command) {
  FieldHasher hasher;
  for (std::size_t i = 0; i < command.size(); ++i) {
    hasher.field(command[i]);
    const std::string_view file = file_of_argument(command, i);
    if (file.empty()) continue;
    if (const auto text = read_file(file, defaults::max_program_bytes)) {
      hasher.field(*text);
    } else {
      hash_facts(hasher, file);
    }
  }
  return "exec:" + to_hex(hasher.finish()).substr(0, 16);
}

std::string state_of_command(const std::vector<std::string>& command) {
  std::string state;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string file(file_of_argument(command, i));
    struct stat facts {};
    if (file.empty() || ::stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    for (const std::int64_t fact : {std::int64_t(i), std::int64_t(facts.st_dev), std::int64_t(facts.st_ino),
                                    std::int64_t(facts.st_size), std::int64_t(facts.st_mtim.tv_sec),
                                    std::int64_t(facts.st_mtim.tv_nsec)})
      state += std::to_string(fact) + " ";
  }
  return state;
}

}  // namespace sluice
