#include "coordinator/import/promptfoo_prompts.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/import/foreign_environment.hpp"
#include "coordinator/import/foreign_template.hpp"
#include "coordinator/import/response_form.hpp"
#include "coordinator/suite/documents/csv_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

namespace sluice {
namespace {

/// The messages of a chat.
struct Chat {
  std::string system;
  std::vector<ImportedMessage> turns;
  bool is_plain = true;  ///< System messages first, then those of a user and an assistant; all of them texts.
};

/// In JSON `{{x | dump}}` stands for a value whole, which is `"{{x}}"` where texts are filled in.
std::string with_quoted_dumps(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto open = std::min(text.find("{{"), text.size());
    const auto close = text.find("}}", open);
    const std::string_view tag =
        close != std::string_view::npos ? text.substr(open, close + 2 - open) : std::string_view();
    const auto bar = tag.find('|');
    const bool is_value = bar != std::string_view::npos && tag.find("dump") != std::string_view::npos &&
                          tag.find('"') == std::string_view::npos && !(open > 0 && text[open - 1] == '"');
    result += text.substr(0, open);
    if (is_value) {
      result += '"' + without_json_filter(tag) + '"';
    } else {
      result += tag;
    }
    if (tag.empty()) {
      result += text.substr(open);
      break;
    }
    text.remove_prefix(open + tag.size());
  }
  return result;
}

/// Nothing if the text is no list of messages.
std::optional<Chat> chat_in(const std::string& file, const std::string& text) {
  const bool may_be_one = text.find("role") != std::string::npos && text.find("content") != std::string::npos;
  if (!may_be_one) return std::nullopt;
  const std::string_view start = trimmed(text).substr(0, 1);
  const std::string name = start == "[" || start == "{" ? "chat.json" : file;
  auto node = parse_foreign(name, text);
  if (!node) node = parse_foreign(name, with_quoted_dumps(text));
  const auto* list = node ? std::get_if<DocumentNode::Array>(&node->value) : nullptr;
  if (list == nullptr || list->empty()) return std::nullopt;
  Chat chat;
  for (const DocumentNode& message : *list) {
    const std::string* role = text_in(message, "role");
    const std::string* content = text_in(message, "content");
    if (role == nullptr) return std::nullopt;
    const bool is_system = *role == "system" || *role == "developer";
    const bool is_turn = *role == "user" || *role == "assistant";
    if (content == nullptr || (!is_system && !is_turn) || (is_system && !chat.turns.empty())) {
      chat.is_plain = false;
    } else if (is_system) {
      chat.system += (chat.system.empty() ? "" : "\n\n") + *content;
    } else {
      chat.turns.push_back({*role, *content, message.line});
    }
  }
  // The user's last text is what a test asks.
  chat.is_plain =
      chat.is_plain && std::ranges::find(chat.turns, "user", &ImportedMessage::role) != chat.turns.end();
  return chat;
}

class PromptImporter {
 public:
  explicit PromptImporter(const ImportFile& from) : from_(from) {}

  std::vector<ImportedPrompt> read(const DocumentNode& node) {
    if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      for (const DocumentNode& one : *list) read_one(one);
    } else {
      read_one(node);
    }
    keep_conversation_alone();
    return std::move(prompts_);
  }

 private:
  void leave_out(std::uint32_t line, std::string message) const {
    from_.lose(Loss::prompt, line, std::move(message));
  }

  /// A conversation stands in tests, and is for all of them.
  void keep_conversation_alone() {
    if (prompts_.size() < 2) return;
    const auto is_conversation = [](const ImportedPrompt& prompt) { return !prompt.messages.empty(); };
    const bool keeps_first = std::ranges::all_of(prompts_, is_conversation);
    std::vector<ImportedPrompt> kept;
    for (ImportedPrompt& prompt : prompts_) {
      if (!is_conversation(prompt) || (keeps_first && kept.empty())) {
        kept.push_back(std::move(prompt));
      } else {
        leave_out(prompt.line,
                  named(prompt.label) +
                      "is a conversation of several turns, which a suite has in \"input\" of its "
                      "tests, and not beside other prompts: left out");
      }
    }
    prompts_ = std::move(kept);
  }

  void read_one(const DocumentNode& node) {
    if (const std::string* text = text_in(node)) return read_text(*text, "", node.line);
    const auto* table = std::get_if<DocumentNode::Table>(&node.value);
    if (table == nullptr)
      return leave_out(node.line, "a prompt that is neither a text nor a mapping: left out");
    const std::string* label = text_in(node, "label");
    if (label == nullptr) label = text_in(node, "display");
    const std::string* raw = text_in(node, "raw");
    if (raw == nullptr) raw = text_in(node, "content");
    const std::string* id = text_in(node, "id");
    for (const DocumentEntry& entry : *table) {
      const bool is_known = entry.key == "label" || entry.key == "raw" || entry.key == "id" ||
                            entry.key == "display" || entry.key == "content" || entry.key == "config";
      if (!is_known && (raw != nullptr || id != nullptr))
        from_.change(entry.line, "\"" + entry.key + "\" of a prompt has no counterpart: left out");
    }
    const std::size_t before = prompts_.size();
    if (raw != nullptr)
      read_text(*raw, label != nullptr ? *label : id != nullptr ? *id : "", node.line);
    else if (id != nullptr)
      read_text(*id, label != nullptr ? *label : "", node.line);
    const auto form = raw != nullptr || id != nullptr ? form_in(node) : std::nullopt;
    for (std::size_t i = before; i < prompts_.size(); ++i) prompts_[i].response_format = form;
    if (raw != nullptr || id != nullptr) return;
    // Older configurations map files to labels.
    for (const DocumentEntry& entry : *table) {
      const std::string* name = text_in(entry.value);
      read_text(entry.key, name != nullptr ? *name : "", entry.line);
    }
  }

  /// The form of the answer in its `config`, of which all else is a note.
  std::optional<DocumentNode> form_in(const DocumentNode& node) const {
    std::optional<DocumentNode> form;
    const DocumentEntry* config = find_entry(node, "config");
    const auto* table = config != nullptr ? mapping_in(*config, from_) : nullptr;
    if (table == nullptr) return form;
    for (const DocumentEntry& entry : *table) {
      if (entry.key == "response_format")
        form = import_response_format(entry, from_);
      else
        from_.change(entry.line, "\"" + entry.key + "\" in config of a prompt has no counterpart: left out");
    }
    return form;
  }

  /// A word that ends as a file's name does, or as a function of one (`code.py:build`); promptfoo takes it
  /// for one.
  static bool is_file_name(const std::string& text) {
    constexpr std::array<std::string_view, 7> extensions{".txt",  ".md",  ".json", ".jsonl",
                                                         ".yaml", ".yml", ".csv"};
    return text.find_first_of(" \t\n{}") == std::string::npos &&
           (is_code_file(text) || is_code_file(text.substr(0, text.rfind(':'))) ||
            std::ranges::find(extensions, extension_of(text)) != extensions.end());
  }

  void read_text(const std::string& text, const std::string& label, std::uint32_t line) {
    if (text.starts_with("exec:")) return note_program(text, line);
    const std::string file = referenced_file(text, from_.files);
    if (file.empty() && is_file_name(text))
      return leave_out(line, "names \"" + excerpt(text, defaults::quoted_bytes) +
                                 "\", which is not there: the prompt is left out");
    if (file.empty() && text.find("://") != std::string::npos &&
        text.find_first_of(" \n") == std::string::npos)
      return leave_out(line, "the prompt " + json_string(excerpt(text, defaults::quoted_bytes)) +
                                 " lies elsewhere: left out");
    if (file.empty()) return add(text, label, "", line);
    for (const std::string& name : files_of(file, from_, line, Loss::prompt)) read_file(name, label, line);
  }

  void note_program(const std::string& name, std::uint32_t line) const {
    leave_out(line, "the prompt is made by the program \"" + excerpt(name, defaults::quoted_bytes) +
                        "\", which has no counterpart: left out");
  }

  void read_file(const std::string& name, const std::string& label, std::uint32_t line) {
    if (is_code_file(name) || extension_of(name).empty()) return note_program(name, line);
    const auto written = read_text_file(name, from_, line, Loss::prompt);
    if (!written) return;
    const std::string text = with_environment(*written, from_.with(name));
    const std::string extension = extension_of(name);
    const std::string shown = label.empty() ? std::filesystem::path(name).stem().generic_string() : label;
    if (extension == ".txt") {
      for (const std::string& part : parts_of(text)) add(part, shown, name, line);
    } else if (extension == ".csv") {
      add_table(*written, label, name, line);
    } else if (extension == ".jsonl") {
      for (const std::string& part : lines_of(text)) add(part, shown, name, line);
    } else {
      add(text, shown, name, line);
    }
  }

  /// Prompts that a line of dashes parts.
  static std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const std::string& line : lines_of(text)) {
      if (trimmed(line) == "---") {
        parts.emplace_back();
      } else {
        parts.back() += line + "\n";
      }
    }
    for (std::string& part : parts) part = std::string(trimmed(part));
    std::erase(parts, "");
    return parts;
  }

  static std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
      lines.emplace_back(text.substr(0, text.find('\n')));
      text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
    }
    return lines;
  }

  void add_table(const std::string& text, const std::string& label, const std::string& name,
                 std::uint32_t line) {
    const CsvRows table = parse_csv(text);
    if (table.rows.empty()) return from_.with(name).note(1, "holds no prompts");
    const auto& header = table.rows.front().fields;
    const auto column = std::ranges::find(header, "prompt");
    const auto place_of = [&](const auto& found) { return static_cast<std::size_t>(found - header.begin()); };
    const std::size_t at = column != header.end() ? place_of(column) : 0;
    const std::size_t label_at =
        column != header.end() ? place_of(std::ranges::find(header, "label")) : header.size();
    for (std::size_t i = column != header.end() ? 1 : 0; i < table.rows.size(); ++i) {
      const auto& fields = table.rows[i].fields;
      if (at >= fields.size() || fields[at].empty()) continue;
      const bool has_label = label_at < fields.size() && !fields[label_at].empty();
      add(with_environment(fields[at], from_.with(name)), has_label ? fields[label_at] : label, name, line);
    }
  }

  void add(const std::string& text, const std::string& label, const std::string& file, std::uint32_t line) {
    ImportedPrompt prompt;
    prompt.label = label;
    prompt.file = file;
    prompt.line = line;
    std::string written(trimmed(text));
    std::string system;
    if (auto chat = chat_in(file, written)) {
      if (!chat->is_plain) {
        return leave_out(line, named(label) +
                                   "is a conversation with more than texts of a system, a user and an "
                                   "assistant, in that order: left out");
      }
      const bool asked_last = !chat->turns.empty() && chat->turns.back().role == "user";
      leave_out_empty_turns(*chat, label, file, line);
      const bool asks = std::ranges::find(chat->turns, "user", &ImportedMessage::role) != chat->turns.end();
      // Without its last question a conversation would ask to go on with an answer.
      if (!asks || (asked_last && chat->turns.back().role != "user"))
        return leave_out(line, named(label) + "asks nothing: left out");
      system = chat->system;
      const bool has_turns = chat->turns.size() > 1;
      written = has_turns ? "" : chat->turns.front().content;
      if (has_turns) prompt.messages = chat->turns;
    }
    auto translated = translate_template(written);
    auto translated_system = translate_template(system);
    if (!translated || !translated_system) {
      return leave_out(
          line, named(label) + (translated ? translated_system.error() : translated.error()) + ": left out");
    }
    for (ImportedMessage& message : prompt.messages) {
      auto turn = translate_template(message.content);
      if (!turn) return leave_out(line, named(label) + turn.error() + ": left out");
      message.content = std::move(turn->text);
      prompt.variables.merge(turn->variables);
      prompt.json_variables.merge(turn->json_variables);
    }
    if (translated->text.empty() && prompt.messages.empty())
      return leave_out(line, named(label) + "is empty: left out");
    prompt.prompt = std::move(translated->text);
    prompt.system = std::move(translated_system->text);
    for (TranslatedTemplate* part : {&*translated, &*translated_system}) {
      prompt.variables.merge(part->variables);
      prompt.json_variables.merge(part->json_variables);
    }
    prompt.id = own_id(label);
    prompts_.push_back(std::move(prompt));
  }

  /// No provider takes them.
  void leave_out_empty_turns(Chat& chat, const std::string& label, const std::string& file,
                             std::uint32_t line) const {
    std::erase_if(chat.turns, [&](const ImportedMessage& turn) {
      const bool is_empty = trimmed(turn.content).empty();
      const std::string words = named(label) + "has an empty turn of the " + turn.role + ": left out";
      if (is_empty && file.empty()) from_.change(line, words);
      if (is_empty && !file.empty()) from_.with(file).change(turn.line, words);
      return is_empty;
    });
  }

  static std::string named(const std::string& label) {
    return label.empty() ? "a prompt "
                         : "the prompt " + json_string(excerpt(label, defaults::quoted_bytes)) + " ";
  }

  std::string own_id(const std::string& label) const {
    std::string own = id_of(label).substr(0, 40);
    if (own.empty()) own = std::to_string(prompts_.size() + 1);
    std::string id = own;
    // Counted among those of its name, so that no other prompt changes it: baselines know it by its id.
    for (std::size_t n = 2; std::ranges::find(prompts_, id, &ImportedPrompt::id) != prompts_.end(); ++n)
      id = own + "-" + std::to_string(n);
    return id;
  }

  const ImportFile& from_;
  std::vector<ImportedPrompt> prompts_;
};

}  // namespace

std::vector<ImportedPrompt> import_prompts(const DocumentNode& prompts, const ImportFile& from) {
  return PromptImporter(from).read(prompts);
}

}  // namespace sluice
