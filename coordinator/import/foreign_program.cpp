#include "coordinator/import/foreign_program.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/import/foreign_template.hpp"
#include "coordinator/import/foreign_transform.hpp"
#include "coordinator/import/ordered_table.hpp"

#include <utility>

namespace sluice {
namespace {

using Language = ForeignProgram::Language;
using ReadProgram = tl::expected<ForeignProgram, std::string>;

ReadProgram fail(std::string why) {
  return tl::unexpected(std::move(why));
}

std::optional<Language> language_of(std::string_view file) {
  const std::string extension = extension_of(file);
  if (extension == ".js" || extension == ".cjs" || extension == ".mjs") return Language::javascript;
  if (extension == ".py") return Language::python;
  return std::nullopt;
}

/// A function of a file. The extension says what runs it, whatever the check's type.
ReadProgram read_file_of(ForeignProgram program, std::string_view reference, const ImportFile& from) {
  const std::string name = referenced_file(reference, from.files);
  const std::string shown = json_string(excerpt(name.empty() ? reference : name, defaults::quoted_bytes));
  const auto language = language_of(name);
  if (!language) return fail("names the program " + shown + ", which neither node nor python3 runs as it is");
  // No path ends in a colon: what follows it is a function.
  const auto function = reference.rfind(name + ":");
  if (function != std::string_view::npos) program.function = reference.substr(function + name.size() + 1);
  if (const auto opened = from.files.open_file(name); !opened)
    return fail("names " + shown + ", which " + opened.error().message);
  if (first_variable(name + program.function) != "")
    return fail("names " + shown + ", which a suite takes for a template");
  program.language = *language;
  program.file = name.starts_with('/') ? name : from.folder + name;
  return program;
}

void escape_all(DocumentNode& node) {
  if (auto* text = std::get_if<std::string>(&node.value)) *text = template_of(*text);
  if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    for (DocumentNode& one : *list) escape_all(one);
  } else if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (DocumentEntry& entry : *table) escape_all(entry.value);
  }
}

/// The name in a tag such as `{{ name | dump }}`; empty if it is none that writes JSON.
std::string_view shown_as_json(std::string_view tag) {
  const auto bar = tag.find('|');
  const bool is_json = bar != std::string_view::npos && (tag.find("dump", bar) != std::string_view::npos ||
                                                         tag.find("tojson", bar) != std::string_view::npos);
  if (!is_json) return {};
  std::string_view name = tag.substr(2, bar - 2);
  if (name.starts_with('-')) name.remove_prefix(1);
  return trimmed(name);
}

/// The code with the JSON of values in its place, so that it is the same beside quotes and within them.
std::string with_json(std::string_view code, const Variables& values) {
  std::string result;
  while (!code.empty()) {
    const auto open = code.find("{{");
    const auto close = open == std::string_view::npos ? open : code.find("}}", open);
    if (close == std::string_view::npos) break;
    const std::string_view tag = code.substr(open, close + 2 - open);
    const auto value = values.find(shown_as_json(tag));
    result += code.substr(0, open);
    result += value != values.end() ? "{% raw %}" + value->second + "{% endraw %}" : std::string(tag);
    code.remove_prefix(close + 2);
  }
  return result + std::string(code);
}

DocumentNode command_of(const ForeignProgram& program) {
  DocumentNode::Array words;
  const auto add = [&](const std::vector<std::string>& some) {
    for (const std::string& word : some) words.push_back(text_node(word));
  };
  add({interpreter_of(program.language), runner_of(program.language)});
  if (!program.transform_file.empty())
    add({"--transform", program.transform_file, program.transform_function});
  if (!program.code_file.empty()) add({"--code", program.code_file});
  if (!program.file.empty()) add({program.file});
  if (!program.function.empty()) add({program.function});
  return {std::move(words), 1, {}};
}

}  // namespace

std::string runner_of(Language language) {
  return language == Language::python ? "promptfoo_check.py" : "promptfoo_check.cjs";
}

std::string interpreter_of(Language language) {
  return language == Language::python ? "python3" : "node";
}

std::string code_file_of(Language language, std::size_t number) {
  return "promptfoo_code_" + std::to_string(number) + (language == Language::python ? ".py" : ".js");
}

bool is_program_type(std::string_view type) {
  return type == "javascript" || type == "python";
}

ReadProgram read_program(const DocumentNode& assertion, std::string_view type, bool is_negated,
                         const ImportFile& from) {
  ForeignProgram program;
  program.language = type == "python" ? Language::python : Language::javascript;
  program.is_negated = is_negated;
  program.threshold = number_in(assertion, "threshold");
  if (const DocumentEntry* config = find_entry(assertion, "config")) {
    if (!has_only_json_values(config->value)) return fail("has a \"config\" that is no JSON");
    program.config = config->value;
    escape_all(*program.config);
  }
  const DocumentEntry* value = find_entry(assertion, "value");
  if (value == nullptr) return fail("names no value");
  const auto text = scalar_text(value->value);
  if (!text) return fail("has a value that is no text");
  if (text->starts_with("package:")) return fail("is a program of a package, which has no counterpart");
  if (text->starts_with("file://")) return read_file_of(std::move(program), *text, from);
  if (trimmed(*text).empty()) return fail("has an empty value, by which no answer can be judged");
  auto translated = translate_template(*text);
  if (!translated) return fail(std::move(translated.error()));
  program.code = *text;
  program.variables = std::move(translated->variables);
  program.json_variables = std::move(translated->json_variables);
  return program;
}

std::string add_transform(ForeignProgram& program, const DocumentNode& transform, const ImportFile& from) {
  const std::string* text = text_in(transform);
  if (text == nullptr || trimmed(*text).empty()) return "is no code";
  const bool is_file = text->starts_with("file://");
  ForeignProgram made;
  if (is_file) {
    auto read = read_file_of({}, *text, from);
    if (!read) return read.error();
    made = std::move(*read);
  }
  const bool is_python = program.language == Language::python;
  if (is_python && only_trims(transform)) {
    program.is_trimmed = true;
    return "";
  }
  if (made.language != program.language)
    return is_python ? "is in JavaScript, and the check in Python: write it as get_transform of a Python file"
                     : "is in Python, and the check in JavaScript: write both in one language";
  const bool has_one = program.is_trimmed || !program.transforms.empty() || !program.transform_file.empty();
  // Code runs before the function of a file.
  if (has_one && is_file) return "comes before its own, and one of them is a file: write both into one";
  if (!is_file) {
    program.transforms.insert(program.transforms.begin(), *text);
    return "";
  }
  program.transform_file = std::move(made.file);
  program.transform_function = std::move(made.function);
  if (program.transform_function.empty())
    program.transform_function = is_python ? "get_transform" : "default";
  return "";
}

DocumentNode expectation_of(const ForeignProgram& program, const ProgramInput& input) {
  OrderedTable parameters;
  if (program.file.empty() && program.code_file.empty()) {
    const auto code = translate_template(with_json(program.code, input.json));
    // What a value brings may be what nothing translates.
    parameters.add("code", text_node(code ? code->text : template_of(program.code)));
  }
  if (program.config) parameters.add("config", *program.config);
  if (program.threshold) parameters.add("threshold", {*program.threshold, 1, {}});
  DocumentNode::Array transforms;
  for (const std::string& code : program.transforms) transforms.push_back(text_node(template_of(code)));
  if (!transforms.empty()) parameters.add("transforms", {std::move(transforms), 1, {}});
  if (program.is_trimmed) parameters.add("trimmed", {true, 1, {}});
  if (input.is_json) parameters.add("json", {true, 1, {}});
  if (program.is_negated) parameters.add("negated", {true, 1, {}});
  if (!std::get<DocumentNode::Table>(input.vars.value).empty()) parameters.add("vars", input.vars);
  OrderedTable check;
  check.add("type", text_node(program.is_negated ? "not_command" : "command"))
      .add("command", command_of(program))
      .add("parameters", parameters.take());
  return check.take();
}

}  // namespace sluice
