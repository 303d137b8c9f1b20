#include "coordinator/suite/examples/solved_examples.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/documents/json_lines.hpp"
#include "coordinator/suite/documents/yaml_document.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view shape = R"(an example is {"id": "ID", "input": "TASK", "answer": "SOLUTION"})";

std::optional<std::string> text_with_words(TableReader& reader, std::string_view key) {
  auto text = reader.text(key, Need::required);
  if (text && one_line(*text).empty()) reader.add_wrong(key, "must not be empty");
  return text;
}

}  // namespace

void SolvedExamplesReader::add_json_lines(std::string_view text, const std::string& file) {
  const std::size_t before = findings_.size();
  JsonLines lines(text);
  while (findings_.size() - before < defaults::max_file_findings) {
    const auto line = lines.next();
    if (!line) break;
    const auto& node = line->value;
    if (node) {
      add(*node, Notation::json, file, "");
    } else {
      findings_.push_back({file, node.error().line, node.error().message});
    }
  }
}

void SolvedExamplesReader::add_yaml(std::string_view text, const std::string& file, const std::string& name) {
  const ParsedYaml document = parse_yaml(text);
  for (const DocumentError& error : document.errors) findings_.push_back({file, error.line, error.message});
  if (document.root) add(*document.root, Notation::yaml, file, name);
}

void SolvedExamplesReader::add(const DocumentNode& node, Notation notation, const std::string& file,
                               const std::string& name) {
  if (!std::holds_alternative<DocumentNode::Table>(node.value)) {
    findings_.push_back(
        {file, node.line, "is " + std::string(type_name(node, notation)) + ", but " + std::string(shape)});
    return;
  }
  const DocumentContext context{file, notation, findings_};
  const std::size_t before = findings_.size();
  TableReader reader = context.reader(node, notation == Notation::json ? "" : "the example");
  SolvedExample example;
  example.id = reader.word("id", name.empty() ? Need::required : Need::optional).value_or(name);
  example.input = text_with_words(reader, "input").value_or("");
  example.answer = text_with_words(reader, "answer").value_or("");
  example.tags = reader.texts("tags").value_or(std::vector<std::string>());
  reader.finish();
  if (findings_.size() > before) return;
  const auto [place, is_new] =
      places_.try_emplace(example.id, file + ":" + std::to_string(reader.line_of("id")));
  if (!is_new) {
    findings_.push_back({file, reader.line_of("id"),
                         "the id \"" + excerpt(example.id, defaults::quoted_bytes) +
                             "\" is already that of an example in " + place->second});
    return;
  }
  if (places_.size() == defaults::max_solved_examples + 1) {
    findings_.push_back({file, node.line,
                         "there are more than " + std::to_string(defaults::max_solved_examples) +
                             " examples: leave out those that are like others"});
  }
  if (places_.size() > defaults::max_solved_examples) return;
  examples_.push_back(std::move(example));
}

std::vector<SolvedExample> SolvedExamplesReader::finish() {
  std::ranges::sort(examples_, {}, &SolvedExample::id);
  places_.clear();
  return std::exchange(examples_, {});
}

std::string json_line(const SolvedExample& example) {
  std::string line = "{\"id\": " + json_string(example.id) + ", \"input\": " + json_string(example.input) +
                     ", \"answer\": " + json_string(example.answer);
  if (!example.tags.empty()) {
    line += ", \"tags\": [";
    for (const std::string& tag : example.tags)
      line += (&tag == example.tags.data() ? "" : ", ") + json_string(tag);
    line += "]";
  }
  return line + "}\n";
}

}  // namespace sluice
