#include "coordinator/suite/test_files/message_reader.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/text/base64.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

/// How a file of a kind of image begins.
struct ImageKind {
  std::string_view media_type;
  std::string_view begin;
  std::size_t at = 0;
};
constexpr std::array image_kinds{
    ImageKind{"image/png", "\x89PNG\r\n\x1a\n"},
    ImageKind{"image/jpeg", "\xff\xd8\xff"},
    ImageKind{"image/gif", "GIF8"},
    ImageKind{"image/webp", "WEBP", 8},
};

std::string_view media_type_of(std::string_view bytes) {
  const auto kind = std::ranges::find_if(image_kinds, [&](const ImageKind& one) {
    return bytes.size() > one.at && bytes.substr(one.at).starts_with(one.begin);
  });
  return kind != image_kinds.end() ? kind->media_type : std::string_view();
}

bool is_text(const MessagePart& part) {
  return part.kind == PartKind::text;
}

class MessagesReader {
 public:
  MessagesReader(const TestSource& source, const DocumentContext& context)
      : source_(source), context_(context) {}

  ReadMessages read(const DocumentEntry& entry) {
    const auto* list = std::get_if<DocumentNode::Array>(&entry.value.value);
    if (list == nullptr || list->empty()) {
      context_.add(entry.line, std::string("\"messages\" in input must be a list of messages, such as ") +
                                   "{role: user, content: \"...\"}" +
                                   (list != nullptr ? ", and not empty" : ""));
      return {};
    }
    const std::size_t findings_before = context_.findings.size();
    for (const DocumentNode& message : *list) take_written_ids(message);
    for (std::size_t i = 0; i < list->size(); ++i) {
      read_one((*list)[i], "input.messages[" + std::to_string(i) + "]", i == 0);
    }
    const bool is_sound = context_.findings.size() == findings_before;
    if (is_sound && !mark_asked()) {
      context_.add(entry.line, "\"messages\" in input need a text of the user: it is what is asked");
    }
    return std::move(result_);
  }

 private:
  /// Before ids are made, which a later call must not have.
  void take_written_ids(const DocumentNode& message) {
    const DocumentEntry* calls = find_entry(message, "tool_calls");
    const auto* list = calls != nullptr ? std::get_if<DocumentNode::Array>(&calls->value.value) : nullptr;
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const DocumentEntry* id = find_entry((*list)[i], "id");
      const auto* text = id != nullptr ? std::get_if<std::string>(&id->value.value) : nullptr;
      if (text != nullptr) ids_.insert(*text);
    }
  }

  void read_one(const DocumentNode& node, const std::string& name, bool is_first) {
    auto table = context_.table_reader(node, name, R"(with "role" and "content")");
    if (!table) return;
    TableReader& reader = *table;
    const auto role = reader.word("role", Need::required);
    const DocumentEntry* content = reader.entry("content");
    const DocumentNode::Array* calls = reader.array("tool_calls");
    auto call_id = reader.word("tool_call_id");
    reader.finish();
    if (!role) return;
    const bool is_system = *role == "system" || *role == "developer";
    const bool is_tool = *role == "tool";
    if (!is_system && !is_tool && *role != "user" && *role != "assistant") {
      reader.add_wrong("role", "must be \"system\", \"user\", \"assistant\" or \"tool\", not \"" +
                                   excerpt(*role, defaults::quoted_bytes) + "\"");
      return;
    }
    if (calls != nullptr && *role != "assistant")
      reader.add_wrong("tool_calls", "stand in messages of the assistant alone");
    if (calls != nullptr && calls->empty())
      reader.add_wrong("tool_calls", "must not be empty: leave them out where nothing is called");
    if (call_id && !is_tool) reader.add_wrong("tool_call_id", "stands in messages of a tool alone");
    ChatMessage message;
    if (content != nullptr) message.parts = read_content(reader, *content, name);
    const bool is_said = content != nullptr || (calls != nullptr && *role == "assistant");
    if (!is_said) reader.add_finding(node.line, "missing \"content\" in " + name);
    if (is_system) return take_system(reader, message, is_first);
    if (*role == "assistant") {
      message.role = MessageRole::assistant;
      if (calls != nullptr) take_calls(*calls, name, message);
    } else if (is_tool) {
      message.role = MessageRole::tool;
      answer_call(reader, std::move(call_id), message);
    }
    result_.messages.push_back(std::move(message));
  }

  void take_system(TableReader& reader, const ChatMessage& message, bool is_first) {
    if (!is_first) {
      reader.add_wrong("role",
                       "can be \"system\" in the first message alone: not every provider takes it later");
      return;
    }
    if (!std::ranges::all_of(message.parts, is_text))
      reader.add_wrong("content", "of a system prompt must be text");
    for (const MessagePart& part : message.parts) result_.system += part.text;
  }

  void take_calls(const DocumentNode::Array& calls, const std::string& name, ChatMessage& message) {
    message.calls = read_tool_calls(calls, name + ".tool_calls", context_);
    for (ToolCall& call : message.calls) {
      ++calls_;
      // An answer names its call: no other may have the number.
      for (std::size_t n = calls_; call.id.empty(); ++n) {
        if (auto id = "call_" + std::to_string(n); ids_.insert(id).second) call.id = std::move(id);
      }
      unanswered_.push_back(call);
    }
  }

  /// The call that it names, or the first that nobody has answered yet.
  void answer_call(TableReader& reader, std::optional<std::string> id, ChatMessage& message) {
    const auto call = id ? std::ranges::find(unanswered_, *id, &ToolCall::id) : unanswered_.begin();
    if (call == unanswered_.end()) {
      reader.add_wrong(id ? "tool_call_id" : "role",
                       id ? "names no call of a message before, or one that is answered already"
                          : "is \"tool\", and no call of a message before waits for an answer");
      return;
    }
    if (!std::ranges::all_of(message.parts, is_text))
      reader.add_wrong("content", "of a tool's message must be text");
    message.call_id = call->id;
    message.call_name = call->name;
    unanswered_.erase(call);
  }

  std::vector<MessagePart> read_content(TableReader& reader, const DocumentEntry& content,
                                        const std::string& name) {
    std::vector<MessagePart> parts;
    const auto* list = std::get_if<DocumentNode::Array>(&content.value.value);
    if (std::holds_alternative<std::string>(content.value.value)) {
      read_part(content.value, name, parts);
    } else if (list == nullptr || list->empty()) {
      reader.add_wrong("content",
                       "must be a text, or a list of texts and images, such as [{text: \"...\"}, "
                       "{image: photo.png}]");
    } else {
      for (std::size_t i = 0; i < list->size(); ++i) {
        read_part((*list)[i], name + ".content[" + std::to_string(i) + "]", parts);
      }
    }
    return parts;
  }

  void read_part(const DocumentNode& node, const std::string& name, std::vector<MessagePart>& parts) {
    if (const auto* text = std::get_if<std::string>(&node.value))
      return add_text(node.line, name, *text, parts);
    if (!std::holds_alternative<DocumentNode::Table>(node.value)) {
      context_.add(node.line, name + " must be a text, {text: \"...\"} or {image: FILE or URL}");
      return;
    }
    TableReader reader = context_.reader(node, name);
    const auto text = reader.text("text");
    const auto image = reader.word("image");
    reader.finish();
    const bool has_text = reader.entry("text") != nullptr;
    const bool has_image = reader.entry("image") != nullptr;
    if (has_text == has_image)
      reader.add_finding(node.line, name + " must have one of \"text\" and \"image\"");
    if (text && !has_image) add_text(node.line, name, *text, parts);
    if (image && !has_text) add_image(reader, *image, parts);
  }

  void add_text(std::uint32_t line, const std::string& name, const std::string& text,
                std::vector<MessagePart>& parts) {
    if (text.empty()) context_.add(line, name + " must not have an empty text");
    result_.texts.push_back(text);
    parts.push_back({PartKind::text, text, {}});
  }

  void add_image(TableReader& reader, const std::string& image, std::vector<MessagePart>& parts) {
    if (image.starts_with("https://") || image.starts_with("http://")) {
      parts.push_back({PartKind::image_url, image, {}});
      return;
    }
    const std::string named = names_file(image);
    const auto bytes = source_.read_file(image, source_.opened);
    if (!bytes) return reader.add_wrong("image", named + bytes.error().message);
    const std::string_view media_type = media_type_of(*bytes);
    if (media_type.empty()) return reader.add_wrong("image", named + "is no PNG, JPEG, GIF or WebP");
    parts.push_back({PartKind::image_data, to_base64(*bytes), std::string(media_type)});
  }

  /// The last text of the last message of the user that has one.
  bool mark_asked() {
    for (auto message = result_.messages.rbegin(); message != result_.messages.rend(); ++message) {
      if (message->role != MessageRole::user) continue;
      const auto part = std::find_if(message->parts.rbegin(), message->parts.rend(), is_text);
      if (part == message->parts.rend()) continue;
      result_.asked = std::move(part->text);
      *part = {PartKind::asked, {}, {}};
      // The same request as that of a prompt.
      if (result_.messages.size() == 1 && message->parts.size() == 1) result_.messages.clear();
      return true;
    }
    return false;
  }

  const TestSource& source_;
  const DocumentContext& context_;
  ReadMessages result_;
  std::vector<ToolCall> unanswered_;
  std::set<std::string> ids_;  ///< Of all calls that have one so far, or have it written.
  std::size_t calls_ = 0;
};

}  // namespace

ReadMessages read_messages(const DocumentEntry& entry, const TestSource& source,
                           const DocumentContext& context) {
  return MessagesReader(source, context).read(entry);
}

std::vector<ToolCall> read_tool_calls(const DocumentNode::Array& calls, const std::string& name,
                                      const DocumentContext& context) {
  std::vector<ToolCall> read;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string shown = name + "[" + std::to_string(i) + "]";
    auto table = context.table_reader(calls[i], shown, R"(with "name" and "arguments")");
    if (!table) continue;
    TableReader& reader = *table;
    ToolCall call;
    call.id = reader.word("id").value_or("");
    call.name = reader.word("name", Need::required).value_or("");
    const DocumentNode* arguments = reader.table("arguments");
    reader.finish();
    if (arguments != nullptr && !has_only_json_values(*arguments))
      reader.add_wrong("arguments", "hold a number that is not finite");
    call.arguments = arguments != nullptr ? json_as_written(*arguments) : "{}";
    read.push_back(std::move(call));
  }
  return read;
}

}  // namespace sluice
