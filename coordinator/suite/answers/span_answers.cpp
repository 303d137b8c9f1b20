#include "coordinator/suite/answers/span_answers.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/answers/recorded_calls.hpp"
#include "coordinator/suite/documents/json_document.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace sluice {
namespace {

constexpr std::string_view test_attribute = "sluice.test";

using Attributes = std::map<std::string_view, const DocumentNode*>;

const DocumentNode::Array* array_in(const DocumentNode& node, std::string_view key) {
  const DocumentEntry* entry = find_entry(node, key);
  return entry == nullptr ? nullptr : std::get_if<DocumentNode::Array>(&entry->value.value);
}

const std::string* text_in(const DocumentNode& node, std::string_view key) {
  const DocumentEntry* entry = find_entry(node, key);
  return entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value.value);
}

/// `[{"key": NAME, "value": {"stringValue": ...}}]`; the first of a name counts.
void add_attributes(const DocumentNode& of, Attributes& attributes) {
  const auto* list = array_in(of, "attributes");
  if (list == nullptr) return;
  for (const DocumentNode& one : *list) {
    const std::string* key = text_in(one, "key");
    const DocumentEntry* value = find_entry(one, "value");
    if (key != nullptr && value != nullptr) attributes.emplace(*key, &value->value);
  }
}

const std::string* text_of(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : text_in(*found->second, "stringValue");
}

/// OTLP writes 64-bit numbers as strings; some exporters write them plainly. 0 if it is none.
std::int64_t integer_of(const DocumentNode& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.value)) return *number;
  const auto* text = std::get_if<std::string>(&value.value);
  std::int64_t number = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

std::uint64_t count_of(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  const DocumentEntry* value = found == attributes.end() ? nullptr : find_entry(*found->second, "intValue");
  return value == nullptr ? 0
                          : static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_of(value->value)));
}

/// A value of an attribute as plain JSON has it: messages may be recorded as structures, not as a text.
DocumentNode plain(const DocumentNode& value) {
  DocumentNode node;
  node.line = value.line;
  if (const DocumentEntry* list = find_entry(value, "arrayValue")) {
    DocumentNode::Array array;
    if (const auto* values = array_in(list->value, "values")) {
      for (const DocumentNode& one : *values) array.push_back(plain(one));
    }
    node.value = std::move(array);
  } else if (const DocumentEntry* table = find_entry(value, "kvlistValue")) {
    DocumentNode::Table entries;
    if (const auto* values = array_in(table->value, "values")) {
      for (const DocumentNode& one : *values) {
        const std::string* key = text_in(one, "key");
        const DocumentEntry* inner = find_entry(one, "value");
        if (key != nullptr && inner != nullptr) entries.push_back({*key, one.line, plain(inner->value)});
      }
    }
    std::vector<DocumentError> twice;
    sort_entries(entries, twice);
    node.value = std::move(entries);
  } else if (const DocumentEntry* integer = find_entry(value, "intValue")) {
    node.value = integer_of(integer->value);
  } else {
    node.value = DocumentNull{};
    for (const char* kind : {"stringValue", "boolValue", "doubleValue"}) {
      if (const DocumentEntry* one = find_entry(value, kind)) node.value = one->value.value;
    }
  }
  return node;
}

/// The texts and the calls of `[{"role": "assistant", "parts": [{"type": "text", "content": ...},
/// {"type": "tool_call", "name": ..., "arguments": ...}]}]`, also as messages of chat completions and of
/// Anthropic have them, with parts in their `content`.
/// Nothing if there is neither.
std::optional<RecordedAnswer> answer_of_messages(const DocumentNode& messages) {
  const auto* list = std::get_if<DocumentNode::Array>(&messages.value);
  const std::span<const DocumentNode> all = list != nullptr ? std::span(*list) : std::span(&messages, 1);
  RecordedAnswer answer;
  bool has_text = false;
  std::vector<const DocumentNode*> calls;
  const auto add_text = [&](const std::string* text) {
    if (text == nullptr) return;
    answer.text += *text;
    has_text = true;
  };
  for (const DocumentNode& message : all) {
    add_text(text_in(message, "content"));
    if (const auto* made = array_in(message, "tool_calls")) {
      for (const DocumentNode& call : *made) {
        const DocumentEntry* function = find_entry(call, "function");
        calls.push_back(function != nullptr ? &function->value : &call);
      }
    }
    // OpenTelemetry's conventions call them parts; providers have them as the content.
    for (const std::string_view key : {"parts", "content"}) {
      const auto* parts = array_in(message, key);
      if (parts == nullptr) continue;
      for (const DocumentNode& part : *parts) {
        const std::string* type = text_in(part, "type");
        if (type == nullptr) continue;
        if (*type == "text") add_text(text_in(part, key == "parts" ? "content" : "text"));
        const DocumentEntry* inner = find_entry(part, "tool_call");
        if (*type == "tool_call" || *type == "tool_use")
          calls.push_back(inner != nullptr ? &inner->value : &part);
      }
    }
  }
  // Their lines stand at the end.
  for (const DocumentNode* call : calls) {
    const std::string* name = text_in(*call, "name");
    const DocumentEntry* arguments = find_entry(*call, "arguments");
    if (arguments == nullptr) arguments = find_entry(*call, "input");
    add_call(answer, name != nullptr ? *name : "", arguments != nullptr ? &arguments->value : nullptr);
  }
  if (!has_text && calls.empty()) return std::nullopt;
  return answer;
}

std::optional<RecordedAnswer> answer_of(const Attributes& attributes) {
  if (const auto found = attributes.find("gen_ai.output.messages"); found != attributes.end()) {
    const std::string* text = text_in(*found->second, "stringValue");
    if (text == nullptr) return answer_of_messages(plain(*found->second));
    const auto messages = parse_json(*text);
    return messages ? answer_of_messages(*messages) : std::nullopt;
  }
  const std::string* completion = text_of(attributes, "gen_ai.completion");
  if (completion == nullptr) return std::nullopt;
  // Older conventions have messages here as well. A list without calls may be what the model wrote.
  const auto messages = parse_json(*completion);
  auto calling = messages ? answer_of_messages(*messages) : std::nullopt;
  if (calling && !calling->calls.empty()) return calling;
  RecordedAnswer answer;
  answer.text = *completion;
  return answer;
}

std::optional<std::pair<std::string, AnsweredTest>> answer_in(const DocumentNode& span,
                                                              const DocumentContext& context) {
  Attributes attributes;
  add_attributes(span, attributes);
  const std::string* test = text_of(attributes, test_attribute);
  if (test == nullptr || test->empty()) return std::nullopt;
  if (const auto* events = array_in(span, "events")) {
    for (const DocumentNode& event : *events) add_attributes(event, attributes);
  }
  auto found = answer_of(attributes);
  if (!found) {
    context.add(span.line, "the span of the test \"" + excerpt(*test, defaults::quoted_bytes) +
                               "\" has no answer: record \"gen_ai.output.messages\" with a part of type "
                               "\"text\" or \"tool_call\", or \"gen_ai.completion\"");
    return std::nullopt;
  }
  if (std::ranges::any_of(found->calls, [](const ToolCall& call) { return call.name.empty(); })) {
    context.add(span.line, "the span of the test \"" + excerpt(*test, defaults::quoted_bytes) +
                               "\" calls a tool without a name: record its \"name\" and \"arguments\"");
    return std::nullopt;
  }
  if (found->calls.empty()) take_calls_of_text(*found);
  AnsweredTest answer;
  answer.line = span.line;
  answer.answer = std::move(*found);
  const std::string* model = text_of(attributes, "gen_ai.response.model");
  if (model == nullptr) model = text_of(attributes, "gen_ai.request.model");
  if (model != nullptr) answer.answer.model = *model;
  answer.answer.usage = {count_of(attributes, "gen_ai.usage.input_tokens"),
                         count_of(attributes, "gen_ai.usage.output_tokens")};
  return std::pair(*test, std::move(answer));
}

}  // namespace

bool is_span_export(const DocumentNode& node) {
  return array_in(node, "resourceSpans") != nullptr;
}

std::vector<std::pair<std::string, AnsweredTest>> answers_in_spans(const DocumentNode& node,
                                                                   const DocumentContext& context) {
  std::vector<std::pair<std::string, AnsweredTest>> answers;
  for (const DocumentNode& resource : *array_in(node, "resourceSpans")) {
    const auto* scopes = array_in(resource, "scopeSpans");
    if (scopes == nullptr) continue;
    for (const DocumentNode& scope : *scopes) {
      const auto* spans = array_in(scope, "spans");
      if (spans == nullptr) continue;
      for (const DocumentNode& span : *spans) {
        if (auto answer = answer_in(span, context)) answers.push_back(std::move(*answer));
      }
    }
  }
  return answers;
}

}  // namespace sluice
