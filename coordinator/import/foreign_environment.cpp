#include "coordinator/import/foreign_environment.hpp"

#include "common/defaults.hpp"
#include "common/settings/setting_values.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/import/foreign_script.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

/// A variable that says where providers are asked: by a host alone, or by a base URL.
struct AddressVariable {
  std::string_view kind;
  std::string_view name;
  bool is_host = false;
};

/// Of one kind the first that is set counts.
constexpr std::array address_variables{
    AddressVariable{"openai", "OPENAI_API_HOST", true},
    AddressVariable{"openai", "OPENAI_API_BASE_URL"},
    AddressVariable{"openai", "OPENAI_BASE_URL"},
    AddressVariable{"anthropic", "ANTHROPIC_BASE_URL"},
    AddressVariable{"gemini", "GOOGLE_API_HOST", true},
    AddressVariable{"gemini", "PALM_API_HOST", true},
    AddressVariable{"gemini", "GOOGLE_API_BASE_URL"},
    AddressVariable{"azure", "AZURE_API_BASE_URL"},
    AddressVariable{"azure", "AZURE_OPENAI_API_BASE_URL"},
    AddressVariable{"azure", "AZURE_OPENAI_BASE_URL"},
    AddressVariable{"azure", "AZURE_API_HOST", true},
    AddressVariable{"azure", "AZURE_OPENAI_API_HOST", true},
    AddressVariable{"ollama", "OLLAMA_BASE_URL"},
    AddressVariable{"localai", "LOCALAI_BASE_URL"},
    AddressVariable{"mistral", "MISTRAL_API_HOST", true},
    AddressVariable{"mistral", "MISTRAL_API_BASE_URL"},
    AddressVariable{"fireworks", "FIREWORKS_API_BASE_URL"},
    AddressVariable{"xai", "XAI_API_BASE_URL"},
};

/// What else changes requests where a config says nothing of it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> request_variables{{
    {"OPENAI_TEMPERATURE", "the temperature"},
    {"OPENAI_MAX_TOKENS", "the length of answers"},
    {"OPENAI_MAX_COMPLETION_TOKENS", "the length of answers"},
    {"OPENAI_TOP_P", "top_p"},
    {"OPENAI_PRESENCE_PENALTY", "presence_penalty"},
    {"OPENAI_FREQUENCY_PENALTY", "frequency_penalty"},
    {"OPENAI_STOP", "stop"},
    {"ANTHROPIC_TEMPERATURE", "the temperature"},
    {"ANTHROPIC_MAX_TOKENS", "the length of answers"},
}};

constexpr std::string_view without_default = "\n";  ///< No template's own text.

/// A tag that shows a variable of the environment and nothing else.
struct EnvironmentTag {
  std::string_view name;
  std::string_view otherwise = without_default;
};

std::optional<std::string_view> take_quoted(std::string_view& text) {
  const auto end = text.size() > 1 && (text[0] == '\'' || text[0] == '"') ? text.find(text[0], 1) : text.npos;
  if (end == text.npos) return std::nullopt;
  const std::string_view quoted = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return quoted;
}

/// Reads what stands between the braces: `env.NAME`, with `or 'text'` or `| default('text', true)`.
std::optional<EnvironmentTag> read_tag(std::string_view held) {
  if (held.starts_with('-')) held.remove_prefix(1);
  if (held.ends_with('-')) held.remove_suffix(1);
  held = trimmed(held);
  if (held.starts_with('(') && held.ends_with(')')) held = trimmed(held.substr(1, held.size() - 2));
  EnvironmentTag tag;
  if (take_start(held, "env.")) {
    tag.name = held.substr(0, held.find_first_of(" |"));
    held.remove_prefix(tag.name.size());
  } else if (take_start(held, "env[")) {
    tag.name = take_quoted(held).value_or("");
    if (!take_start(held, "]")) return std::nullopt;
  }
  if (!is_variable_name(tag.name)) return std::nullopt;
  held = trimmed(held);
  if (held.empty()) return tag;
  const bool is_filter = take_start(held, "|");
  held = trimmed(held);
  if (!take_start(held, is_filter ? "default(" : "or ")) return std::nullopt;
  held = trimmed(held);
  const auto quoted = take_quoted(held);
  // Behind it stands at most the filter's second argument.
  if (!quoted || held.find_first_not_of(is_filter ? " ,true)" : " ") != held.npos) return std::nullopt;
  tag.otherwise = *quoted;
  return tag;
}

/// Fills in a text; `line_of` says where a place in it is.
template <typename LineOf>
std::string filled(std::string_view text, const ImportFile& from, const LineOf& line_of) {
  std::string result;
  std::size_t done = 0;
  for (auto open = text.find("{{"); open != text.npos; open = text.find("{{", open + 2)) {
    const auto close = text.find("}}", open);
    if (close == text.npos) break;
    const auto tag = read_tag(text.substr(open + 2, close - open - 2));
    if (!tag) continue;
    const auto known = from.environment->values.find(tag->name);
    const bool is_set =
        known != from.environment->values.end() && known->second.find("{{") == std::string::npos;
    const bool is_secret = !is_set && from.environment->lines.contains(tag->name);
    if (is_secret || (!is_set && tag->otherwise == without_default)) continue;
    if (is_set) {
      from.environment->used.emplace(tag->name);
    } else {
      const std::string_view whole = text.substr(open, close + 2 - open);
      from.change(line_of(open), json_string(excerpt(one_line(whole), defaults::quoted_tag_bytes)) +
                                     " depends on the environment: " +
                                     json_string(excerpt(tag->otherwise, defaults::quoted_bytes)) +
                                     " is taken");
    }
    result += text.substr(done, open - done);
    result += is_set ? std::string_view(known->second) : tag->otherwise;
    done = close + 2;
  }
  return result + std::string(text.substr(done));
}

/// What a variable would do that nothing of the suite was made of.
void note_variable(const std::string& name, std::uint32_t line, const ImportFile& from) {
  const std::string shown = json_string(excerpt(name, defaults::quoted_bytes)) + " in \"env\" ";
  const auto address = std::ranges::find(address_variables, name, &AddressVariable::name);
  if (address != address_variables.end())
    return from.note(line, shown + "says where providers of the kind " + std::string(address->kind) +
                               " are asked, of which there are none here: left out");
  const auto request =
      std::ranges::find(request_variables, name, &std::pair<std::string_view, std::string_view>::first);
  if (request != request_variables.end())
    return from.change(line, shown + "is " + std::string(request->second) +
                                 " where the config of a provider names none: left out; write it to the "
                                 "providers of the suite");
  if (is_likely_secret(name, ""))
    return from.note(line, shown + "is most likely a secret: left out; set it in the environment of the run");
  from.change(line, shown + "has no counterpart: left out");
}

}  // namespace

ForeignEnvironment read_environment(const DocumentNode& env, const ImportFile& from) {
  ForeignEnvironment environment;
  const auto* table = std::get_if<DocumentNode::Table>(&env.value);
  if (table == nullptr) return environment;
  for (const DocumentEntry& entry : *table) {
    environment.lines.emplace(entry.key, entry.line);
    const auto text = scalar_text(entry.value);
    if (!text || is_likely_secret(entry.key, *text)) continue;
    environment.values.emplace(entry.key, filled(*text, from, [&](std::size_t) { return entry.line; }));
  }
  return environment;
}

void fill_environment(DocumentNode& node, const ImportFile& from) {
  if (from.environment == nullptr) return;
  if (auto* text = std::get_if<std::string>(&node.value)) {
    *text = filled(*text, from, [&](std::size_t) { return node.line; });
  } else if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    for (DocumentNode& one : *list) fill_environment(one, from);
  } else if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (DocumentEntry& entry : *table) {
      if (entry.key != "env" && entry.key != "headers" && entry.key != "apiKey")
        fill_environment(entry.value, from);
    }
  }
}

std::string with_environment(std::string_view text, const ImportFile& from) {
  if (from.environment == nullptr) return std::string(text);
  return filled(text, from, [&](std::size_t at) { return line_of_offset(text, at); });
}

std::optional<ForeignAddress> address_of(std::string_view kind, const DocumentNode& provider,
                                         const ImportFile& from) {
  const DocumentEntry* own = find_entry(provider, "env");
  std::optional<ForeignAddress> found;
  for (const AddressVariable& variable : address_variables) {
    if (variable.kind != kind) continue;
    from.environment->used.emplace(variable.name);
    const std::string* said = own != nullptr ? text_in(own->value, variable.name) : nullptr;
    const auto common = from.environment->values.find(variable.name);
    if (said == nullptr && common != from.environment->values.end()) said = &common->second;
    if (found || said == nullptr || said->empty()) continue;
    const std::string path = kind == "azure" ? "" : "/v1";
    found = {std::string(variable.name), variable.is_host ? "https://" + *said + path : *said};
  }
  return found;
}

void note_environment(const ImportFile& from) {
  for (const auto& [name, line] : from.environment->lines) {
    if (!from.environment->used.contains(name)) note_variable(name, line, from);
  }
}

void note_own_environment(const DocumentNode& env, const ImportFile& from) {
  const auto* table = std::get_if<DocumentNode::Table>(&env.value);
  if (table == nullptr) return;
  for (const DocumentEntry& entry : *table) {
    if (std::ranges::find(address_variables, entry.key, &AddressVariable::name) == address_variables.end())
      note_variable(entry.key, entry.line, from);
  }
}

}  // namespace sluice
