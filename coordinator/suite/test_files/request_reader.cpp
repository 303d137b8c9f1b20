#include "coordinator/suite/test_files/request_reader.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/settings/setting_values.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/expectations/schema_reader.hpp"
#include "coordinator/suite/test_files/message_reader.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace sluice {

bool is_provider_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return is_ascii_letter(c) || is_digit(c) || c == '_' || c == '-';
  });
}

namespace {

constexpr std::string_view not_a_provider_name =
    "must be of letters, digits, \"_\" and \"-\", at most 64 of them";
constexpr std::array<std::string_view, 3> choice_words{"auto", "none", "required"};

class RequestReader {
 public:
  RequestReader(TableReader& input, const TestSource& source, const DocumentContext& context, Case& test)
      : input_(input), source_(source), context_(context), test_(test) {}

  std::vector<std::string> read() {
    RequestExtras& extras = test_.extras;
    if (const DocumentEntry* params = input_.entry("params")) {
      if (auto parsed = parse_params_in(&params->value, context_.notation)) {
        extras.params = std::move(*parsed);
      } else {
        input_.add_wrong("params", parsed.error());
      }
    }
    if (const DocumentNode::Array* tools = input_.array("tools")) read_tools(*tools);
    if (const auto choice = input_.word("tool_choice")) read_choice(*choice);
    if (const DocumentEntry* format = input_.entry("response_format")) read_format(*format);
    const DocumentEntry* messages = input_.entry("messages");
    if (messages == nullptr) return {};
    ReadMessages read = read_messages(*messages, source_, context_);
    test_.system = std::move(read.system);
    test_.content = std::move(read.asked);
    extras.messages = std::move(read.messages);
    return std::move(read.texts);
  }

 private:
  void read_tools(const DocumentNode::Array& tools) {
    if (tools.empty()) input_.add_wrong("tools", "must not be empty");
    for (std::size_t i = 0; i < tools.size(); ++i) {
      const std::string name = "input.tools[" + std::to_string(i) + "]";
      if (!std::holds_alternative<DocumentNode::Table>(tools[i].value)) {
        context_.add(tools[i].line, name + " must be " + std::string(table_name(context_.notation)) +
                                        " with \"name\", \"description\" and \"parameters\"");
        continue;
      }
      // As OpenAI writes it: {type: function, function: {...}}.
      const DocumentEntry* function = find_entry(tools[i], "function");
      const bool is_wrapped =
          function != nullptr && std::holds_alternative<DocumentNode::Table>(function->value.value);
      read_tool(context_.reader(is_wrapped ? function->value : tools[i], name));
    }
  }

  void read_tool(TableReader reader) {
    Tool tool;
    tool.name = reader.word("name", Need::required).value_or("");
    tool.description = reader.text("description").value_or("");
    const DocumentNode* parameters = reader.table("parameters");
    reader.finish();
    if (!tool.name.empty() && !is_provider_name(tool.name))
      reader.add_wrong("name", std::string(not_a_provider_name));
    if (std::ranges::find(choice_words, tool.name) != choice_words.end())
      reader.add_wrong("name", "cannot be a word of \"tool_choice\"");
    if (std::ranges::find(test_.extras.tools, tool.name, &Tool::name) != test_.extras.tools.end())
      reader.add_wrong("name", "is that of another tool of the test");
    tool.parameters =
        parameters != nullptr ? json_as_written(*parameters) : R"({"properties":{},"type":"object"})";
    if (parameters != nullptr && !has_only_json_values(*parameters))
      reader.add_wrong("parameters", "hold a number that is not finite");
    else if (parameters != nullptr)
      check_parameters(reader, tool.parameters);
    test_.extras.tools.push_back(std::move(tool));
  }

  void check_parameters(TableReader& reader, const std::string& parameters) const {
    if (source_.checker == nullptr) return;
    const std::string problem = source_.checker->problem_with_parameters(parameters);
    if (!problem.empty()) reader.add_wrong("parameters", "cannot be used: " + problem);
  }

  void read_choice(const std::string& choice) {
    const auto& tools = test_.extras.tools;
    const bool is_known = std::ranges::find(choice_words, choice) != choice_words.end() ||
                          std::ranges::find(tools, choice, &Tool::name) != tools.end();
    if (tools.empty()) {
      input_.add_wrong("tool_choice", "has no effect without \"tools\"");
    } else if (!is_known) {
      input_.add_wrong("tool_choice",
                       "must be \"auto\", \"none\", \"required\" or the name of one of the \"tools\"");
    }
    test_.extras.tool_choice = choice;
  }

  void read_format(const DocumentEntry& entry) {
    AnswerFormat& format = test_.extras.format;
    const auto* word = std::get_if<std::string>(&entry.value.value);
    if (word != nullptr && *word == "json") {
      format.is_json = true;
      return;
    }
    if (!std::holds_alternative<DocumentNode::Table>(entry.value.value)) {
      input_.add_wrong("response_format", "must be \"json\", or have a \"schema\": {schema: {type: object}}");
      return;
    }
    TableReader reader = context_.reader(entry.value, "input.response_format");
    auto schema = read_schema(reader, source_, json_as_written);
    format.name = reader.word("name").value_or("answer");
    const DocumentEntry* strict = reader.entry("strict");
    reader.finish();
    if (!is_provider_name(format.name)) reader.add_wrong("name", std::string(not_a_provider_name));
    const auto* is_strict = strict != nullptr ? std::get_if<bool>(&strict->value.value) : nullptr;
    if (strict != nullptr && is_strict == nullptr) reader.add_wrong("strict", "must be true or false");
    format.is_json = true;
    format.is_strict = is_strict != nullptr && *is_strict;
    if (schema) test_.response_schema = std::move(*schema);
  }

  TableReader& input_;
  const TestSource& source_;
  const DocumentContext& context_;
  Case& test_;
};

}  // namespace

std::vector<std::string> read_request(TableReader& input, const TestSource& source,
                                      const DocumentContext& context, Case& test) {
  return RequestReader(input, source, context, test).read();
}

std::span<const std::string_view> keys_of_text_requests() {
  static constexpr std::array<std::string_view, 6> keys{"context", "system",      "messages",
                                                        "tools",   "tool_choice", "response_format"};
  return keys;
}

}  // namespace sluice
