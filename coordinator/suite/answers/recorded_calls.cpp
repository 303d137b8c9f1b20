#include "coordinator/suite/answers/recorded_calls.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/documents/json_depth.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/documents/json_document.hpp"

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// Without white space, and without escapes that need not be; nothing if the text is no JSON. No tree is
/// made of it: one that keeps the order of keys looks for each among all.
std::optional<std::string> compact_json(std::string_view text) {
  text = without_byte_order_mark(text);
  if (nests_deeper_than(text, defaults::max_document_depth) ||
      !nlohmann::json::accept(text.begin(), text.end()))
    return std::nullopt;
  std::string compact;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = at + 1;
    if (text[at] == '"') {
      while (text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      const std::string_view string = text.substr(at, ++end - at);
      append_json_string(compact, nlohmann::json::parse(string.begin(), string.end()).get<std::string>());
    } else if (std::string_view(" \t\r\n").find(text[at]) == std::string_view::npos) {
      compact += text[at];
    }
  }
  return compact;
}

struct ReadCall {
  ToolCall call;
  bool is_json = true;  ///< Its arguments; a call that was cut off has others.
};

ReadCall read_call(std::string_view name, const DocumentNode* arguments) {
  ReadCall read{{"", std::string(name), "{}"}};
  if (arguments == nullptr) return read;
  const auto* text = std::get_if<std::string>(&arguments->value);
  if (text == nullptr) {
    read.call.arguments = json_as_written(*arguments);
  } else if (!trimmed(*text).empty()) {
    auto json = compact_json(*text);
    read.is_json = json.has_value();
    read.call.arguments = json ? std::move(*json) : *text;
  }
  return read;
}

/// Nothing if the line is no call.
std::optional<ToolCall> call_of_line(std::string_view line) {
  if (!line.starts_with('{')) return std::nullopt;
  const auto json = parse_json(line);
  const auto* table = json ? std::get_if<DocumentNode::Table>(&json->value) : nullptr;
  if (table == nullptr || table->size() != 1 || table->front().key != "tool_call") return std::nullopt;
  const DocumentNode& call = table->front().value;
  const DocumentEntry* name = find_entry(call, "name");
  const auto* named = name != nullptr ? std::get_if<std::string>(&name->value.value) : nullptr;
  if (named == nullptr) return std::nullopt;
  const DocumentEntry* arguments = find_entry(call, "arguments");
  return read_call(*named, arguments != nullptr ? &arguments->value : nullptr).call;
}

}  // namespace

void add_call(RecordedAnswer& answer, std::string_view name, const DocumentNode* arguments) {
  auto [call, is_json] = read_call(name, arguments);
  append_call_line(answer.text, call, is_json);
  answer.calls.push_back(std::move(call));
}

void take_calls_of_text(RecordedAnswer& answer) {
  std::vector<ToolCall> last_first;
  for (std::string_view rest = trimmed(answer.text); !rest.empty();) {
    const std::size_t line = rest.rfind('\n') + 1;  // 0: it is the first.
    auto call = call_of_line(trimmed(rest.substr(line)));
    if (!call) break;
    last_first.push_back(std::move(*call));
    rest = trimmed(rest.substr(0, line));
  }
  answer.calls.assign(std::make_move_iterator(last_first.rbegin()),
                      std::make_move_iterator(last_first.rend()));
}

}  // namespace sluice
