#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// A field of a request's body that no other setting stands for (docs/suites.md#params): its name as suites
/// write it, and its value as JSON with keys as written. Each format has its own name and place for the
/// common ones.
struct RequestParam {
  std::string name;
  std::string json;
  friend bool operator==(const RequestParam&, const RequestParam&) = default;
};

/// By name, each once.
using RequestParams = std::vector<RequestParam>;

/// Both, where those of `stronger` replace those of `weaker` that have the same name.
RequestParams merged(const RequestParams& weaker, const RequestParams& stronger);

/// As a JSON object.
std::string json_of(const RequestParams& params);

/// Who says a message of a conversation. The system prompt is none of them: it stands before all.
enum class MessageRole : std::uint8_t { user = 1, assistant = 2, tool = 3 };

/// What a part of a message is. `asked` stands for ModelRequest::user, the text that perturbations change.
enum class PartKind : std::uint8_t { text = 1, asked = 2, image_data = 3, image_url = 4 };

struct MessagePart {
  PartKind kind = PartKind::text;
  std::string text{};        ///< The text; of an image its bytes in Base64, or its URL.
  std::string media_type{};  ///< Of an image's data.
  friend bool operator==(const MessagePart&, const MessagePart&) = default;
};

/// A call of a tool, as an assistant asks for it.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  ///< A JSON object.
  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

struct ChatMessage {
  MessageRole role = MessageRole::user;
  std::vector<MessagePart> parts{};
  std::vector<ToolCall> calls{};  ///< Of an assistant's message.
  std::string call_id{};          ///< Of a tool's message: the call that it answers,
  std::string call_name{};        ///< and the tool that was called.
  friend bool operator==(const ChatMessage&, const ChatMessage&) = default;
};

/// A tool that the model may call.
struct Tool {
  std::string name;
  std::string description;
  std::string parameters;  ///< A JSON Schema of its arguments.
  friend bool operator==(const Tool&, const Tool&) = default;
};

/// The form that an answer is asked for in.
struct AnswerFormat {
  bool is_json = false;    ///< Any JSON object; with ModelRequest::response_schema one that fits it.
  std::string name{};      ///< What the schema is called.
  bool is_strict = false;  ///< The provider holds the model to the schema.
  friend bool operator==(const AnswerFormat&, const AnswerFormat&) = default;
};

/// What a request has beyond a system prompt and a user message. All of it is part of the cache key.
struct RequestExtras {
  RequestParams params{};
  std::vector<ChatMessage> messages{};  ///< Empty: the user message alone. Else one part of them is `asked`.
  std::vector<Tool> tools{};
  std::string tool_choice{};  ///< "auto", "none", "required" or a tool's name; empty: not sent.
  AnswerFormat format{};
  friend bool operator==(const RequestExtras&, const RequestExtras&) = default;

  bool empty() const { return *this == RequestExtras{}; }
};

}  // namespace sluice
