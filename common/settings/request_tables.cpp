// Settings that are tables of what every request to a provider carries.
#include "common/documents/canonical_json.hpp"
#include "common/settings/setting_values.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

tl::unexpected<std::string> refused(std::string what) {
  return tl::unexpected<std::string>(std::move(what));
}

/// The table itself, or the inline table that a text is.
struct TableIn {
  explicit TableIn(const RawValue& raw) {
    if (const auto* node = std::get_if<const TomlNode*>(&raw)) {
      table = std::get_if<TomlNode::Table>(&(*node)->value);
      return;
    }
    auto document = parse_toml("table = " + std::string(std::get<std::string_view>(raw)));
    if (!document) return;
    parsed = std::move(*document);
    const auto* all = std::get_if<TomlNode::Table>(&parsed.value);
    // Beyond the one entry stands what was never meant to be read as a table.
    if (all != nullptr && all->size() == 1) table = std::get_if<TomlNode::Table>(&all->front().value.value);
  }
  TomlNode parsed;
  const TomlNode::Table* table = nullptr;  ///< Null: it is none.
};

/// What sluice itself writes into requests, and where the user says what.
struct TakenField {
  std::string_view name;
  std::string_view instead;
};
constexpr std::array taken_fields{
    TakenField{"model", "is no parameter: it is \"model\" in the settings"},
    TakenField{"messages", "is no parameter: messages stand in a test's \"input\""},
    TakenField{"contents", "is no parameter: messages stand in a test's \"input\""},
    TakenField{"system", "is no parameter: it is \"system\" in a test's \"input\""},
    TakenField{"systemInstruction", "is no parameter: it is \"system\" in a test's \"input\""},
    TakenField{"tools", "is no parameter: it is \"tools\" in a test's \"input\""},
    TakenField{"tool_choice", "is no parameter: it is \"tool_choice\" in a test's \"input\""},
    TakenField{"toolConfig", "is no parameter: it is \"tool_choice\" in a test's \"input\""},
    TakenField{"response_format", "is no parameter: it is \"response_format\" in a test's \"input\""},
    TakenField{"output_config",
               "is no parameter: use \"reasoning_effort\", or \"response_format\" in a "
               "test's \"input\""},
    TakenField{"generationConfig", "is no parameter: its fields are, each by its name"},
    TakenField{"thinkingConfig", "is no parameter: use \"reasoning_effort\""},
    TakenField{"responseMimeType", "is no parameter: it is \"response_format\" in a test's \"input\""},
    TakenField{"responseSchema", "is no parameter: it is \"response_format\" in a test's \"input\""},
    TakenField{"responseJsonSchema", "is no parameter: it is \"response_format\" in a test's \"input\""},
    TakenField{"stream", "cannot be asked for: answers are read whole"},
    TakenField{"stream_options", "cannot be asked for: answers are read whole"},
    TakenField{"n", "cannot be asked for: \"repeat\" asks for several answers, each counted by itself"},
    TakenField{"candidateCount",
               "cannot be asked for: \"repeat\" asks for several answers, each counted by itself"},
};

/// Names under which providers know the bound of an answer.
constexpr std::array<std::string_view, 4> token_bounds{"max_output_tokens", "max_tokens",
                                                       "max_completion_tokens", "maxOutputTokens"};

/// What is wrong with a parameter that the settings have, too; empty if nothing is, or it is no such one.
std::string problem_with(std::string_view name, const DocumentNode& value) {
  const bool is_null = std::holds_alternative<DocumentNull>(value.value);
  if (is_null) return "";
  const RawValue raw = &value;
  const auto said = [](const auto& parsed) { return parsed ? std::string() : parsed.error(); };
  if (name == "temperature") return said(optional_real(0.0, 2.0)(raw));
  if (name == "seed") return said(any_integer()(raw));
  if (name == "max_output_tokens") return said(whole(1, 10'000'000)(raw));
  return "";
}

bool is_field_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

/// A value in the clear under one of these names is most likely a secret.
bool names_a_secret(std::string_view header) {
  std::string name = to_lower(header);
  std::ranges::replace(name, '_', '-');
  constexpr std::array<std::string_view, 12> words{"authorization", "auth",   "-key",     "apikey",
                                                   "token",         "secret", "cookie",   "signature",
                                                   "passwd",        "pwd",    "password", "-sig"};
  if (name == "key" || name == "sig") return true;
  return std::ranges::any_of(words, [&](std::string_view word) { return name.ends_with(word); });
}

/// It begins as keys do, whatever the name it stands under.
bool looks_like_key(std::string_view value) {
  return to_lower(value).starts_with("bearer ") || value.starts_with("sk-") || value.starts_with("AIza");
}

}  // namespace

bool is_likely_secret(std::string_view name, std::string_view value) {
  return names_a_secret(name) || looks_like_key(value);
}

bool holds_key(std::string_view text) {
  // A shorter one, or one of several words, is a text that happens to begin so.
  constexpr std::size_t shortest_key = 20;
  return looks_like_key(text) && text.size() >= shortest_key && text.find(' ') == std::string_view::npos;
}

bool has_text(const DocumentNode& node, const std::function<bool(const std::string&)>& is_it) {
  const auto has_it = [&](const DocumentNode& one) { return has_text(one, is_it); };
  if (const auto* text = std::get_if<std::string>(&node.value)) return is_it(*text);
  if (const auto* list = std::get_if<DocumentNode::Array>(&node.value))
    return std::ranges::any_of(*list, has_it);
  const auto* table = std::get_if<DocumentNode::Table>(&node.value);
  return table != nullptr && std::ranges::any_of(*table, has_it, &DocumentEntry::value);
}

bool holds_key(const DocumentNode& node) {
  return has_text(node, [](std::string_view text) { return holds_key(text); });
}

namespace {

Parsed<ProviderHeader> parse_header(const DocumentEntry& entry) {
  const std::string shown = "\"" + excerpt(entry.key, 80) + "\" in it ";
  if (!is_header_name(entry.key)) {
    return refused("must be headers: " + shown + "is no name of a header that may be set");
  }
  ProviderHeader header{entry.key, {}, {}};
  if (const auto* text = std::get_if<std::string>(&entry.value.value)) {
    if (names_a_secret(entry.key)) {
      return refused("must hold no secret: " + shown +
                     "is the name of a variable of the environment, { env = \"NAME\" }");
    }
    if (looks_like_key(*text)) {
      return refused("must hold no secret: " + shown +
                     "begins as keys do; name a variable of the environment, { env = \"NAME\" }");
    }
    if (!is_header_value(*text)) return refused("must be headers: " + shown + "holds a control character");
    header.value = *text;
    return header;
  }
  const auto* table = std::get_if<DocumentNode::Table>(&entry.value.value);
  if (table == nullptr) return refused("must be headers: " + shown + "must be a text, or { env = \"NAME\" }");
  for (const DocumentEntry& one : *table) {
    const auto* text = std::get_if<std::string>(&one.value.value);
    if (one.key == "env") {
      const auto name = parse_variable_name(&one.value);
      if (!name || name->empty()) {
        return refused("must be headers: \"env\" of " + excerpt(entry.key, 80) +
                       " must be the name of an environment variable in upper case");
      }
      header.variable = *name;
    } else if (one.key == "prefix" && text != nullptr && text->size() <= 32 && is_header_value(*text)) {
      header.value = *text;
    } else {
      return refused("must be headers: " + shown + "takes \"env\" and \"prefix\", a short text");
    }
  }
  if (header.variable.empty()) return refused("must be headers: " + shown + "lacks \"env\"");
  return header;
}

}  // namespace

Parsed<RequestParams> parse_params(const RawValue& raw) {
  return parse_params_in(raw, Notation::toml);
}

Parsed<RequestParams> parse_params_in(const RawValue& raw, Notation notation) {
  const TableIn given(raw);
  if (given.table == nullptr) {
    constexpr std::array examples{"{ top_p = 0.9 }", "{ top_p: 0.9 }", R"({"top_p": 0.9})"};
    return refused("must be " + std::string(table_name(notation)) + " of fields of the request, as " +
                   examples[static_cast<std::size_t>(notation)]);
  }
  RequestParams params;
  for (const DocumentEntry& entry : *given.table) {
    const std::string shown = "\"" + excerpt(entry.key, 80) + "\" in it ";
    if (!is_field_name(entry.key)) {
      return refused("must be fields of the request: " + shown + "is no name of one");
    }
    const auto taken = std::ranges::find(taken_fields, entry.key, &TakenField::name);
    if (taken != taken_fields.end())
      return refused("must be fields of the request: " + shown + std::string(taken->instead));
    if (!has_only_json_values(entry.value)) {
      return refused("must be fields of the request: " + shown + "holds what JSON has not");
    }
    if (holds_key(entry.value)) return refused("must hold no secret: " + shown + begins_as_keys_do);
    const bool is_bound = std::ranges::find(token_bounds, entry.key) != token_bounds.end();
    const std::string name = is_bound ? std::string(token_bounds.front()) : entry.key;
    if (const auto problem = problem_with(name, entry.value); !problem.empty()) {
      return refused("must be fields of the request: " + shown + problem);
    }
    if (std::ranges::find(params, name, &RequestParam::name) != params.end()) {
      return refused("must name the bound of an answer once, as \"max_output_tokens\"");
    }
    params.push_back({name, json_as_written(entry.value)});
  }
  std::ranges::sort(params, {}, &RequestParam::name);
  return params;
}

Parsed<std::vector<ProviderHeader>> parse_headers(const RawValue& raw) {
  const TableIn given(raw);
  if (given.table == nullptr) {
    return refused("must be a table of headers, as { X-Title = \"evals\", api-key = { env = \"NAME\" } }");
  }
  std::vector<ProviderHeader> headers;
  for (const DocumentEntry& entry : *given.table) {
    auto header = parse_header(entry);
    if (!header) return refused(std::move(header.error()));
    const auto is_same = [&](const ProviderHeader& one) {
      return to_lower(one.name) == to_lower(header->name);
    };
    if (std::ranges::any_of(headers, is_same)) {
      return refused("must be headers: \"" + excerpt(entry.key, 80) + "\" stands in it twice");
    }
    headers.push_back(std::move(*header));
  }
  return headers;
}

Parsed<std::vector<QueryField>> parse_query(const RawValue& raw) {
  const TableIn given(raw);
  if (given.table == nullptr) return refused("must be a table of texts, as { api-version = \"2024-10-21\" }");
  std::vector<QueryField> query;
  for (const DocumentEntry& entry : *given.table) {
    const auto* text = std::get_if<std::string>(&entry.value.value);
    if (text == nullptr || !is_header_value(*text) || entry.key.empty()) {
      return refused("must be a table of texts: \"" + excerpt(entry.key, 80) + "\" in it must be a text");
    }
    if (is_likely_secret(entry.key, *text)) {
      return refused("must hold no secret: URLs are shown and logged; send \"" + excerpt(entry.key, 80) +
                     "\" as a header, { env = \"NAME\" }");
    }
    query.push_back({entry.key, *text});
  }
  return query;
}

std::string show_value(const RequestParams& value) {
  return value.empty() ? "(none)" : json_of(value);
}

std::string show_value(const std::vector<ProviderHeader>& value) {
  std::string text;
  for (const ProviderHeader& one : value) {
    text += text.empty() ? "{ " : ", ";
    text += json_string(one.name) + " = ";
    if (one.variable.empty()) {
      text += json_string(one.value);
      continue;
    }
    text += "{ env = " + json_string(one.variable);
    if (!one.value.empty()) text += ", prefix = " + json_string(one.value);
    text += " }";
  }
  return text.empty() ? "(none)" : text + " }";
}

std::string show_value(const std::vector<QueryField>& value) {
  std::string text;
  for (const QueryField& one : value) {
    text += (text.empty() ? "{ " : ", ") + json_string(one.name) + " = " + json_string(one.value);
  }
  return text.empty() ? "(none)" : text + " }";
}

}  // namespace sluice
