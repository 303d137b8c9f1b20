#include "coordinator/suite/test_parser.hpp"

#include "common/checks/json_schema.hpp"
#include "common/checks/pattern.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/document_context.hpp"
#include "coordinator/suite/expectation_reader.hpp"
#include "coordinator/suite/fixture.hpp"

#include <optional>
#include <utility>

namespace sluice {
namespace {

class TestReader {
 public:
  TestReader(const TestSource& source, ParsedTest& result)
      : source_(source), context_{source.file, source.notation, result.findings}, result_(result) {}

  void read(const DocumentNode& node) {
    Case& test = result_.test;
    TableReader reader = context_.reader(node, source_.notation == Notation::yaml ? "the test" : "");
    test.id = reader.word("id", Need::required).value_or("");
    result_.id_line = reader.line_of("id");
    test.name = reader.text("name").value_or(test.id);
    test.category = reader.word("category").value_or("tests");
    test.language = reader.text("language").value_or("");
    test.weight = read_weight(reader);
    const DocumentNode* input = reader.table("input", Need::required);
    const DocumentEntry* expected = reader.entry("expected", Need::required, "what the answer is judged by");
    reader.finish();
    if (expected != nullptr) needs_context_ = read_expectations(*expected, source_, context_, test);
    if (input != nullptr) read_input(context_.reader(*input, "input"));
    sort_findings(result_.findings);
  }

 private:
  void read_input(TableReader reader) {
    Case& test = result_.test;
    auto prompt = reader.text("prompt");
    const auto file = reader.word("file");
    const bool has_prompt = reader.entry("prompt") != nullptr;
    const bool has_file = reader.entry("file") != nullptr;
    const auto context = reader.texts("context");
    auto system = reader.text("system");
    if (has_prompt && has_file)
      reader.add_wrong("file", "cannot stand beside \"prompt\": one of them is the prompt");
    if (!has_prompt && !has_file) {
      reader.add_missing({"prompt", "file"},
                         "missing \"prompt\" in input: expected a string, or \"file\" with the path of one");
    }
    reader.finish();
    const bool prompt_is_empty = prompt && prompt->empty();
    if (prompt) test.content = std::move(*prompt);
    if (file) read_content(reader, *file);
    if (test.kind == CaseKind::claims) {
      refuse_with_claims(reader, "context");
      refuse_with_claims(reader, "system");
      return;
    }
    if (prompt_is_empty) reader.add_wrong("prompt", "must not be empty");
    if (context) test.context = joined(*context);
    if (needs_context_ != nullptr && (context || reader.entry("context") == nullptr)) require_context(reader);
    test.system = std::move(system).value_or("");
  }

  void require_context(TableReader& reader) const {
    const std::string wanted = "the text that " + needs_context_->name() + " shows as {{context}}";
    const bool is_given = reader.entry("context", Need::required, wanted) != nullptr;
    if (is_given && one_line(result_.test.context).empty()) {
      reader.add_wrong("context", "must not be empty: it is " + wanted);
    }
  }

  void read_content(TableReader& reader, const std::string& path) {
    const std::string named = "names \"" + excerpt(path, defaults::quoted_bytes) + "\", which ";
    auto text = source_.read_file(path, source_.opened);
    if (!text) return reader.add_wrong("file", named + text.error().message);
    if (invalid_utf8_at(*text)) return reader.add_wrong("file", named + "is not valid UTF-8");
    if (text->empty()) return reader.add_wrong("file", named + "is empty");
    result_.test.content = with_unix_line_ends(std::move(*text));
    result_.test.content_file = path;
  }

  static void refuse_with_claims(TableReader& reader, std::string_view key) {
    if (reader.entry(key) == nullptr) return;
    reader.add_wrong(key, "does not go with claims metrics: the prompt is what the claims prompt asks about");
  }

  static std::string joined(const std::vector<std::string>& paragraphs) {
    std::string text;
    for (const std::string& paragraph : paragraphs) {
      if (&paragraph != paragraphs.data()) text += "\n\n";
      text += paragraph;
    }
    return text;
  }

  const TestSource& source_;
  DocumentContext context_;
  ParsedTest& result_;
  const KnownRubric* needs_context_ = nullptr;
};

template <class Compiled>
const std::string& problem_with(const std::string& text,
                                std::unordered_map<std::string, std::string>& remembered) {
  if (remembered.size() >= defaults::max_compiled_checks) remembered.clear();
  const auto [known, is_new] = remembered.try_emplace(text);
  if (is_new) {
    if (const auto compiled = Compiled::compile(text); !compiled) known->second = compiled.error().message;
  }
  return known->second;
}

}  // namespace

const std::string& TextChecker::problem_with_pattern(const std::string& pattern) {
  return problem_with<Pattern>(pattern, patterns_);
}

const std::string& TextChecker::problem_with_schema(const std::string& schema) {
  return problem_with<JsonSchema>(schema, schemas_);
}

ParsedTest parse_test(const DocumentNode& node, const TestSource& source) {
  ParsedTest result;
  result.test.source = source.source;
  result.test.kind = CaseKind::text;
  if (!std::holds_alternative<DocumentNode::Table>(node.value)) {
    result.findings.push_back({source.file, node.line,
                               "a test must be " + std::string(table_name(source.notation)) + ", not " +
                                   std::string(type_name(node, source.notation))});
    return result;
  }
  TestReader(source, result).read(node);
  return result;
}

}  // namespace sluice
