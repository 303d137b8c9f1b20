#include "common/model/request_text.hpp"

#include "common/hash.hpp"

namespace sluice {
namespace {

std::string_view name_of(MessageRole role) {
  switch (role) {
    case MessageRole::user:
      return "user";
    case MessageRole::assistant:
      return "assistant";
    case MessageRole::tool:
      return "tool";
  }
  return "";
}

std::string text_of_part(const MessagePart& part, std::string_view asked) {
  switch (part.kind) {
    case PartKind::text:
      return part.text;
    case PartKind::asked:
      return std::string(asked);
    case PartKind::image_url:
      return "(image " + part.text + ")";
    case PartKind::image_data:
      return "(" + part.media_type + " of " + std::to_string(part.text.size() / 4 * 3) + " bytes, " +
             to_hex(sha256(part.text)).substr(0, 16) + ")";
  }
  return "";
}

}  // namespace

std::string transcript(const std::vector<ChatMessage>& messages, std::string_view asked) {
  if (messages.empty()) return std::string(asked);
  std::string text;
  for (const ChatMessage& message : messages) {
    text += text.empty() ? "[" : "\n\n[";
    text += name_of(message.role);
    if (!message.call_id.empty()) text += " " + message.call_name + " " + message.call_id;
    text += "]";
    for (const MessagePart& part : message.parts) text += "\n" + text_of_part(part, asked);
    for (const ToolCall& call : message.calls)
      text += "\n(calls " + call.name + " " + call.arguments + " as " + call.id + ")";
  }
  return text;
}

std::string request_text(const ModelRequest& request) {
  const RequestExtras& extras = request.extras;
  std::string text = transcript(extras.messages, request.user);
  for (const Tool& tool : extras.tools)
    text += "\n\n[tool " + tool.name + "]\n" + tool.description + "\n" + tool.parameters;
  if (!extras.tool_choice.empty()) text += "\n\n[tool choice " + extras.tool_choice + "]";
  if (extras.format.is_json) {
    text += "\n\n[answer in JSON";
    if (!extras.format.name.empty()) text += ", " + extras.format.name;
    if (extras.format.is_strict) text += ", strict";
    text += "]";
    if (request.response_schema) text += "\n" + *request.response_schema;
  }
  if (!extras.params.empty()) text += "\n\n[parameters]\n" + json_of(extras.params);
  return text;
}

}  // namespace sluice
