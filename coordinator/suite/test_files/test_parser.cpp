#include "coordinator/suite/test_files/test_parser.hpp"

#include "common/checks/json_schema.hpp"
#include "common/checks/pattern.hpp"
#include "common/defaults.hpp"
#include "common/text/joined.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/examples/examples_key.hpp"
#include "coordinator/suite/expectations/expectation_reader.hpp"
#include "coordinator/suite/fixtures/fixture.hpp"
#include "coordinator/suite/test_files/request_reader.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace sluice {
namespace {

class TestReader {
 public:
  TestReader(const TestSource& source, ParsedTest& result)
      : source_(source), context_{source.file, source.notation, result.findings}, result_(result) {}

  void read(const DocumentNode& own) {
    const DocumentEntry* expected = find_entry(own, "expected");
    result_.test.brings_command =
        source_.is_named_by_suite && expected != nullptr && names_command(expected->value);
    own_metrics_ = expected != nullptr ? count_of_metrics(expected->value) : 0;
    takes_defaults_ = source_.defaults->is_for(own);
    if (!takes_defaults_) return read_merged(own, own);
    read_merged(source_.defaults->apply(own), own);
    note_replaced_default(own);
  }

 private:
  /// `own` is what the test says itself.
  void read_merged(const DocumentNode& written, const DocumentNode& own) {
    const DocumentEntry* vars = find_entry(written, "vars");
    if (vars != nullptr) variables_ = read_variables(*vars, context_);
    takes_prompts_ = !source_.prompts->empty() && !has_prompt(written);
    std::optional<RenderedTest> rendered;
    if (vars != nullptr || takes_prompts_)
      rendered = render_test(written, variables_, context_, source_.metric_places);
    is_rendered_ = rendered.has_value();
    if (!is_rendered_) refuse_variables_of_defaults(written, own);
    read_keys(rendered ? rendered->node : written);
    const DocumentEntry* expected = find_entry(written, "expected");
    const bool reads_all = expected != nullptr && names_command(expected->value);
    if (vars != nullptr && reads_all) result_.test.command_vars = json_of_variables(*vars);
    const bool may_leave = source_.may_leave_variables || reads_all;
    const DocumentEntry* own_vars = may_leave ? nullptr : find_entry(own, "vars");
    if (own_vars != nullptr && rendered->is_sound) refuse_unused(*own_vars, rendered->used);
    if (!variables_.empty()) result_.test.vars = std::make_shared<const Variables>(std::move(variables_));
    sort_findings(result_.findings);
  }

  /// What the default test asks is read as if the test had it, since its texts may hold the test's variables.
  void note_replaced_default(const DocumentNode& own) {
    DocumentNode::Array replaced = source_.defaults->replaced_by(own);
    if (replaced.empty() || !result_.findings.empty()) return;
    Case& test = result_.test;
    DocumentNode asked{
        DocumentNode::Table{{"expected", own.line, {std::move(replaced), own.line, {}}}}, own.line, {}};
    std::vector<Finding> said_by_defaults;
    const DocumentContext aside{source_.file, source_.notation, said_by_defaults};
    if (is_rendered_) asked = render_test(asked, test.vars ? *test.vars : Variables(), aside).node;
    if (!variable_in(asked).empty()) return;  // The test has no such variable: nothing could be asked.
    Case probe;
    std::vector<UnfilledVariable> unfilled;
    std::vector<NamedTool> tools;
    read_expectations(*find_entry(asked, "expected"), source_, aside, probe, unfilled, tools);
    for (const Expectation& one : probe.expectations) {
      const bool is_asked = std::ranges::any_of(
          test.expectations, [&](const Expectation& other) { return ask_alike(one, other); });
      if (!is_asked) test.replaced_default = one.what.metric;
    }
  }

  static bool ask_alike(const Expectation& one, const Expectation& other) {
    const auto rubric_of = [](const Expectation& of) { return of.judge ? of.judge->rubric_hash : Digest{}; };
    return one.what.metric == other.what.metric && score_digest(one) == score_digest(other) &&
           rubric_of(one) == rubric_of(other);
  }

  static std::size_t count_of_metrics(const DocumentNode& expected) {
    const auto* list = std::get_if<DocumentNode::Array>(&expected.value);
    return list != nullptr ? list->size() : 1;
  }

  static bool has_prompt(const DocumentNode& test) {
    const DocumentEntry* input = find_entry(test, "input");
    if (input == nullptr) return false;
    const auto has = [&](std::string_view key) { return find_entry(input->value, key) != nullptr; };
    return has("prompt") || has("file") || has("messages");
  }

  void read_keys(const DocumentNode& node) {
    Case& test = result_.test;
    TableReader reader = context_.reader(node, source_.notation == Notation::yaml ? "the test" : "");
    test.id = reader.word("id", Need::required).value_or("");
    result_.id_line = reader.line_of("id");
    test.name = reader.text("name").value_or(test.id);
    test.category = reader.word("category").value_or("tests");
    test.tags = reader.texts("tags", Need::optional, true).value_or(std::vector<std::string>());
    test.language = reader.text("language").value_or("");
    test.weight = read_weight(reader);
    test.known_failure = read_known_failure(reader);
    reader.entry("vars");
    read_wish_for_defaults(reader);
    const DocumentEntry* examples = reader.entry("examples");
    reader.entry("input", takes_prompts_ ? Need::optional : Need::required,
                 "its prompt, or \"prompts\" of the suite");
    const DocumentNode* input =
        reader.table("input", Need::optional, R"({"prompt": "What is the capital of France?"})");
    const DocumentEntry* expected = reader.entry("expected", Need::required, "what the answer is judged by");
    reader.finish(place_of_foreign_key);
    test.examples =
        examples != nullptr ? read_case_examples(*examples, source_.examples, context_) : source_.examples;
    std::vector<UnfilledVariable> unfilled;
    std::vector<NamedTool> tools;
    if (expected != nullptr)
      needs_context_ = read_expectations(*expected, source_, context_, test, unfilled, tools);
    refuse_unfilled(unfilled);
    const DocumentNode no_input{DocumentNode::Table(), node.line};
    if (input == nullptr && reader.entry("input") == nullptr && takes_prompts_) input = &no_input;
    if (input != nullptr) read_input(context_.reader(*input, "input"));
    check_tools(tools);
    if (takes_prompts_) take_prompts(reader.line_of(variables_.empty() ? "id" : "vars"));
  }

  static void read_wish_for_defaults(TableReader& reader) {
    const DocumentEntry* entry = reader.entry("default_test");
    const auto* is_wanted = entry != nullptr ? std::get_if<bool>(&entry->value.value) : nullptr;
    if (entry != nullptr && (is_wanted == nullptr || *is_wanted))
      reader.add_wrong("default_test",
                       "can only be false in a test, which then takes nothing of the suite's");
  }

  void read_input(TableReader reader) {
    Case& test = result_.test;
    auto prompt = reader.text("prompt");
    const auto file = reader.word("file");
    const bool has_prompt = reader.entry("prompt") != nullptr;
    const bool has_file = reader.entry("file") != nullptr;
    const auto context = reader.texts("context");
    auto system = reader.text("system");
    const std::vector<std::string> messages = read_request(reader, source_, context_, test);
    const bool has_messages = reader.entry("messages") != nullptr;
    if (has_messages && (has_prompt || has_file)) {
      reader.add_wrong(has_prompt ? "prompt" : "file",
                       "cannot stand beside \"messages\": the last text of the user is the prompt");
    }
    if (!test.system.empty() && system)
      reader.add_wrong("system", "cannot stand beside \"messages\" that begin with a system prompt");
    if (has_prompt && has_file)
      reader.add_wrong("file", "cannot stand beside \"prompt\": one of them is the prompt");
    if (takes_prompts_ && test.kind == CaseKind::claims) {
      takes_prompts_ = false;
      reader.add_finding(
          reader.line_of("prompt"),
          "missing \"prompt\" in input: claims metrics are about a test's own code, so that the "
          "suite's \"prompts\" are not for it");
    } else if (!has_prompt && !has_file && !has_messages && !takes_prompts_) {
      reader.add_missing({"prompt", "file", "messages"},
                         "missing \"prompt\" in input: expected a string, or \"file\" with the path of one");
    }
    reader.finish();
    const bool prompt_is_empty = prompt && prompt->empty();
    if (prompt) test.content = std::move(*prompt);
    if (file) read_content(reader, *file);
    if (test.kind == CaseKind::claims) {
      for (const std::string_view key : keys_of_text_requests()) refuse_with_claims(reader, key);
      return;
    }
    if (prompt_is_empty) reader.add_empty("prompt");
    if (!is_rendered_) {
      refuse_variable(reader, "prompt", prompt ? test.content : "");
      refuse_variable(reader, "system", system.value_or(""));
      for (const std::string& text : messages) refuse_variable(reader, "messages", text);
    }
    if (context) test.context = joined(*context, paragraph_break);
    if (needs_context_ != nullptr && (context || reader.entry("context") == nullptr)) require_context(reader);
    if (system) test.system = std::move(*system);
    if (!takes_prompts_ || test.system.empty()) return;
    if (const std::string other = source_.prompts->first_with_system(); !other.empty()) {
      reader.add_wrong("system",
                       "cannot stand beside that of " + other + ": one of them is the system prompt");
    }
  }

  /// What looks like a variable would be sent, and paid for, as it stands. Code of claims metrics may hold
  /// it.
  static void refuse_variable(TableReader& reader, std::string_view key, std::string_view text) {
    const std::string_view name = first_variable(text);
    if (name.empty()) return;
    const std::string shown = excerpt(name, defaults::quoted_bytes);
    reader.add_wrong(
        key, "holds {{" + shown + "}}, and the test has no \"vars\": give it \"vars\" with \"" + shown +
                 "\", or, where the braces themselves are meant, \"vars: {}\" and {{ '{{' }}" + shown + "}}");
  }

  /// The first variable that any text below the key holds; empty: none does.
  static std::string_view variable_below(const DocumentNode& node, std::string_view key) {
    const DocumentEntry* entry = find_entry(node, key);
    return entry != nullptr ? variable_in(entry->value) : std::string_view();
  }
  static std::string_view variable_in(const DocumentNode& node) {
    if (const auto* text = std::get_if<std::string>(&node.value)) return first_variable(*text);
    std::string_view found;
    if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      for (auto one = list->begin(); found.empty() && one != list->end(); ++one) found = variable_in(*one);
    } else if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
      for (auto one = table->begin(); found.empty() && one != table->end(); ++one)
        found = variable_in(one->value);
    }
    return found;
  }

  /// A check that stands for all tests would look for the braces. What a test itself expects may hold some.
  void refuse_variables_of_defaults(const DocumentNode& written, const DocumentNode& own) {
    const std::string_view name = variable_below(written, "expected");
    if (name.empty() || name == variable_below(own, "expected")) return;
    defaults_are_refused_ = true;
    const std::string shown = excerpt(name, defaults::quoted_bytes);
    context_.add(own.line, "\"expected\" in default_test holds {{" + shown +
                               "}}, and the test has no \"vars\": give it \"vars\" with \"" + shown +
                               "\", or checks of its own with \"default_test: false\"");
  }

  /// A pattern that looks for a variable's name finds it in no answer. That of the default test is said where
  /// it stands, and so of each test the same.
  void refuse_unfilled(const std::vector<UnfilledVariable>& held) {
    const auto refuse = [&](const UnfilledVariable& one) {
      if (one.is_unseen ? is_rendered_ : !variables_.contains(one.name)) return;
      unfilled_.insert(one.name);
      result_.findings.push_back(one.finding);
    };
    for (const UnfilledVariable& one : held) {
      if (one.metric < own_metrics_) refuse(one);
    }
    if (!takes_defaults_ || source_.checker == nullptr) return;
    for (const UnfilledVariable& one : source_.defaults->unfilled()) {
      if (!one.is_unseen || !defaults_are_refused_) refuse(one);
    }
  }

  void check_tools(const std::vector<NamedTool>& named) {
    const std::vector<Tool>& tools = result_.test.extras.tools;
    for (const NamedTool& one : named) {
      if (one.name.empty()) {
        check_schemas(one);
        continue;
      }
      // Without any in the request nobody knows them: an application has its own.
      if (tools.empty()) continue;
      const auto tool = std::ranges::find(tools, one.name, &Tool::name);
      if (tool == tools.end()) {
        refuse_unknown_tool(one);
      } else if (!one.arguments.empty()) {
        const auto problem = source_.checker->problem_with_arguments(tool->parameters, one.arguments);
        if (!problem.empty())
          refuse(one, one.of_arguments,
                 ": " + excerpt(one.arguments, defaults::quoted_bytes) + " " + problem);
      }
    }
  }

  /// What calls are held against. Without tools any call fails: tests that share a check may have none, and a
  /// group may ask for more.
  void check_schemas(const NamedTool& check) {
    const std::vector<Tool>& tools = result_.test.extras.tools;
    if (tools.empty() && check.metric < own_metrics_ && !check.has_alternatives)
      refuse(check, check.finding,
             ", and the test's input has no \"tools\" that calls could be held against");
    const std::string place = check.finding.file + ":" + std::to_string(check.finding.line);
    for (const Tool& tool : tools) {
      const std::string& problem = source_.checker->problem_with_schema(tool.parameters, place);
      if (!problem.empty() && source_.checker->problem_with_parameters(tool.parameters).empty())
        refuse(check, check.finding,
               ", which cannot use the \"parameters\" of " + tool.name + ": " + problem);
    }
  }

  /// A tool that the model is not given is called by no answer.
  void refuse_unknown_tool(const NamedTool& one) {
    std::vector<std::string_view> tools;
    for (const Tool& tool : result_.test.extras.tools) tools.push_back(tool.name);
    const std::string nearest = did_you_mean(one.name, tools);
    // The check may be for what only some of the tests have.
    const bool may_be_elsewhere = one.is_forbidden ? one.metric >= own_metrics_ : one.has_alternatives;
    if (may_be_elsewhere && nearest.empty()) return;
    refuse(one, one.finding, nearest.empty() ? "; these are " + joined(tools) : nearest);
  }

  void refuse(const NamedTool& check, Finding finding, const std::string& why) {
    if (check.metric >= own_metrics_) finding.message += " (the check is that of default_test)";
    finding.message += why;
    result_.findings.push_back(std::move(finding));
  }

  void take_prompts(std::uint32_t line) {
    Case& test = result_.test;
    test.prompts = source_.prompts->render(variables_, context_, line);
    if (test.prompts.empty()) return;
    for (RenderedPrompt& one : test.prompts) {
      if (one.system.empty()) one.system = test.system;
    }
    test.content = test.prompts.front().prompt;
    test.system = test.prompts.front().system;
  }

  /// A variable may be for some of the prompts alone; one that nothing holds is misspelt here or there.
  void refuse_unused(const DocumentEntry& vars, const std::set<std::string, std::less<>>& used) {
    const auto* table = std::get_if<DocumentNode::Table>(&vars.value.value);
    if (table == nullptr) return;
    for (const DocumentEntry& entry : *table) {
      const bool is_used =
          used.contains(entry.key) || unfilled_.contains(entry.key) || source_.prompts->use(entry.key);
      if (!is_variable_name(entry.key) || is_used) continue;
      std::vector<std::string_view> candidates(used.begin(), used.end());
      candidates.insert(candidates.end(), source_.prompts->variables().begin(),
                        source_.prompts->variables().end());
      context_.add(entry.line, "\"" + excerpt(entry.key, defaults::quoted_bytes) +
                                   "\" in vars is used by nothing: no prompt and no other text of the test "
                                   "that is rendered holds it" +
                                   did_you_mean(entry.key, candidates));
    }
  }

  void require_context(TableReader& reader) const {
    const std::string wanted = "the text that " + needs_context_->name() + " shows as {{context}}";
    const bool is_given =
        reader.entry("context", Need::required, wanted + ", here or as \"context\" of the metric") != nullptr;
    if (is_given && one_line(result_.test.context).empty()) {
      reader.add_wrong("context", "must not be empty: it is " + wanted);
    }
  }

  void read_content(TableReader& reader, const std::string& path) {
    const std::string named = names_file(path);
    auto text = source_.read_file(path, source_.opened);
    if (!text) return reader.add_wrong("file", named + text.error().message);
    if (invalid_utf8_at(*text))
      return reader.add_wrong("file", named + "is not valid UTF-8" + std::string(how_to_reach_utf8));
    if (text->empty()) return reader.add_wrong("file", named + "is empty");
    result_.test.content = with_unix_line_ends(std::move(*text));
    result_.test.content_file = path;
  }

  static void refuse_with_claims(TableReader& reader, std::string_view key) {
    if (reader.entry(key) == nullptr) return;
    reader.add_wrong(key, "does not go with claims metrics: the prompt is what the claims prompt asks about");
  }

  const TestSource& source_;
  DocumentContext context_;
  ParsedTest& result_;
  const KnownRubric* needs_context_ = nullptr;
  Variables variables_;
  std::set<std::string, std::less<>> unfilled_;  ///< Of these, those that stand where none is filled in.
  std::size_t own_metrics_ = 0;                  ///< So many of the metrics are the test's own: the first.
  bool takes_defaults_ = false;                  ///< Something of the default test.
  bool defaults_are_refused_ = false;            ///< For a variable in what they expect.
  bool takes_prompts_ = false;                   ///< Those of the suite.
  bool is_rendered_ = false;
};

template <class Check>
const std::string& remembered_or(const Check& check, const std::string& text,
                                 std::unordered_map<std::string, std::string>& remembered) {
  if (remembered.size() >= defaults::max_compiled_checks) remembered.clear();
  const auto [known, is_new] = remembered.try_emplace(text);
  if (is_new) known->second = check(text);
  return known->second;
}

}  // namespace

const std::string& CheckCompiler::problem_with_pattern(const std::string& pattern) {
  const auto check = [](const std::string& text) {
    const auto compiled = Pattern::compile(text);
    return compiled ? std::string() : compiled.error().message;
  };
  return remembered_or(check, pattern, patterns_);
}

const std::string& CheckCompiler::problem_with_schema(const std::string& schema, const std::string& place) {
  const auto check = [&](const std::string& text) {
    const auto compiled = JsonSchema::compile(text);
    if (!compiled) return compiled.error().message;
    for (const std::string& format : compiled->other_formats()) other_formats_.try_emplace(format, place);
    return std::string();
  };
  return remembered_or(check, schema, schemas_);
}

const Result<JsonSchema>& CheckCompiler::partial(const std::string& parameters) {
  if (partial_.size() >= defaults::max_compiled_checks) partial_.clear();
  const auto known = partial_.find(parameters);
  if (known != partial_.end()) return known->second;
  return partial_.emplace(parameters, JsonSchema::compile_partial(parameters)).first->second;
}

std::string CheckCompiler::problem_with_parameters(const std::string& parameters) {
  const auto& compiled = partial(parameters);
  return compiled ? "" : compiled.error().message;
}

std::string CheckCompiler::problem_with_arguments(const std::string& parameters,
                                                  const std::string& arguments) {
  const auto& compiled = partial(parameters);
  if (!compiled) return "";
  const auto found = compiled->compare(arguments);
  return found && !found->gave_up ? found->problem : "";
}

std::string place_of_foreign_key(std::string_view key) {
  if (key == "assert")
    return "the checks of an answer stand in \"expected\"; `sluice import` converts tests of promptfoo";
  if (key == "metadata") return "it is called \"tags\", a list such as [\"KEY:VALUE\"]";
  if (key == "threshold") return "it is the \"pass_mark\" of an all_of in \"expected\"";
  if (key == "description") return "it is called \"name\"";
  if (key == "prompt") return "it stands in \"input\", as input: {prompt: ...}";
  return "";
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
