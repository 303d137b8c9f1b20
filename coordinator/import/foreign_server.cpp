#include "coordinator/import/foreign_server.hpp"

#include "common/defaults.hpp"
#include "common/settings/base_url.hpp"
#include "common/settings/request_body.hpp"
#include "common/settings/setting_values.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/import/foreign_environment.hpp"
#include "coordinator/import/foreign_template.hpp"
#include "coordinator/suite/documents/toml_string.hpp"
#include "coordinator/suite/prompts/arms.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view azure_api_version = "2024-10-21";

DocumentNode table_with(std::string_view key, std::string value) {
  return {DocumentNode::Table{{std::string(key), 1, {std::move(value), 1, {}}}}, 1, {}};
}

/// The settings' own readers say what may stand there.
template <typename Read>
std::string problem_with(const Read& read, const DocumentNode& node) {
  const auto parsed = read(RawValue(&node));
  return parsed ? "" : parsed.error();
}

/// Takes over what a body holds under a name, with promptfoo's tags as sluice has them. The result is a
/// clause on what settings cannot say; empty if all is well.
std::string take_over(DocumentNode& node, std::string_view name) {
  if (std::holds_alternative<DocumentNull>(node.value)) return "holds a null, which settings cannot say";
  std::string problem;
  if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    for (DocumentNode& one : *list) {
      if (problem.empty()) problem = take_over(one, name);
    }
  } else if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (DocumentEntry& one : *table) {
      if (problem.empty()) problem = take_over(one.value, one.key);
    }
  } else if (auto* text = std::get_if<std::string>(&node.value)) {
    if (is_likely_secret(name, *text))
      return "holds what is most likely a secret, under \"" +
             excerpt(one_line(name), defaults::quoted_bytes) + "\"";
    // There a text that is JSON is read as that.
    auto translated = translate_template(without_json_filter(*text));
    if (!translated) return std::move(translated.error());
    if (!translated->json_variables.empty())
      return "holds a text with a part that a filter writes as JSON, while a request has the prompt as it is";
    for (const std::string& variable : translated->variables) {
      if (variable != "prompt") return "holds {{" + variable + "}}, while a request has the prompt alone";
    }
    *text = std::move(translated->text);
  }
  return problem;
}

/// JSON in which a tag that writes its own quotes stands bare, as in `{"input": {{ prompt | dump }}}`.
std::string with_quoted_tags(std::string_view text) {
  std::string quoted;
  bool in_string = false;
  const auto last_end = text.rfind("}}");
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool may_be_tag =
        !in_string && last_end != text.npos && i < last_end && text.substr(i).starts_with("{{");
    const auto end = may_be_tag ? text.find("}}", i) : text.npos;
    if (end != text.npos) {
      quoted += '"' + std::string(text.substr(i, end + 2 - i)) + '"';
      i = end + 1;
      continue;
    }
    if (text[i] == '\\' && in_string && i + 1 < text.size()) quoted += text[i++];
    if (text[i] == '"') in_string = !in_string;
    quoted += text[i];
  }
  return quoted;
}

tl::expected<DocumentNode, std::string> body_of(const DocumentEntry& entry, const ImportFile& from) {
  DocumentNode body = entry.value;
  if (const std::string* text = text_in(entry.value)) {
    auto parsed = parse_foreign(from.name, with_quoted_tags(*text));
    if (!parsed) return tl::unexpected<std::string>("has a body that is no JSON");
    body = std::move(*parsed);
  }
  if (!std::holds_alternative<DocumentNode::Table>(body.value))
    return tl::unexpected<std::string>("has a body that is no JSON object");
  if (auto problem = take_over(body, ""); !problem.empty())
    return tl::unexpected("has a body that " + std::move(problem));
  if (auto problem = problem_with(parse_body, body); !problem.empty())
    return tl::unexpected("has a body that " + std::move(problem));
  return body;
}

/// `json.choices[0].text` as a JSON Pointer; empty for any other script.
std::string pointer_of(std::string_view script) {
  while (script.ends_with(';') || script.ends_with(' ') || script.ends_with('\n')) script.remove_suffix(1);
  const bool is_path =
      script.size() > 5 && script.starts_with("json") && (script[4] == '.' || script[4] == '[');
  if (!is_path) return "";
  std::string pointer;
  for (std::size_t i = 4; i < script.size();) {
    if (script[i] == '.') ++i;
    const bool is_bracket = i < script.size() && script[i] == '[';
    const auto end =
        is_bracket ? script.find(']', i) : std::min(script.find_first_of(".[", i), script.size());
    if (end == script.npos) return "";
    std::string_view step = script.substr(i + (is_bracket ? 1 : 0), end - i - (is_bracket ? 1 : 0));
    const bool is_quoted = is_bracket && step.size() > 2 && step.front() == step.back() &&
                           (step.front() == '\'' || step.front() == '"');
    if (is_quoted) step = step.substr(1, step.size() - 2);
    if (step.starts_with('?')) step.remove_prefix(1);
    if (step.ends_with('?')) step.remove_suffix(1);
    const auto may_stand = [](char c) { return is_ascii_letter(c) || is_digit(c) || c == '_' || c == '-'; };
    if (step.empty() || !std::ranges::all_of(step, may_stand)) return "";
    pointer += '/' + std::string(step);
    i = is_bracket ? end + 1 : end;
  }
  return pointer;
}

/// A text, or a secret of the environment with what stands before it: `Bearer {{env.BOT_KEY}}`.
DocumentNode header_value(const std::string& text) {
  const auto tag = text.find("{{");
  if (tag == std::string::npos || !text.ends_with("}}")) return {text, 1, {}};
  const std::string name(trimmed(std::string_view(text).substr(tag + 2, text.size() - tag - 4)));
  if (!name.starts_with("env.")) return {text, 1, {}};
  DocumentNode secret = table_with("env", name.substr(4));
  if (tag > 0)
    std::get<DocumentNode::Table>(secret.value).push_back({"prefix", 1, {text.substr(0, tag), 1, {}}});
  return secret;
}

/// The fields of a table that the settings take; each of the others is unsaid, without its value.
template <typename Read, typename ValueOf>
void add_fields(std::string_view setting, const DocumentNode::Table& table, const Read& read,
                const ValueOf& value_of, ImportedServer& server) {
  DocumentNode::Table taken;
  for (const DocumentEntry& one : table) {
    const std::string text = scalar_text(one.value).value_or("{{");
    const bool is_said_anyway = setting == "headers" && to_lower(one.key) == "content-type" &&
                                to_lower(text).starts_with("application/json");
    if (is_said_anyway) continue;
    const auto is_same = [&](const DocumentEntry& other) { return to_lower(other.key) == to_lower(one.key); };
    DocumentEntry field{one.key, 1, value_of(text)};
    const bool is_template =
        std::holds_alternative<std::string>(field.value.value) && text.find("{{") != std::string::npos;
    if (is_template || std::ranges::any_of(taken, is_same) ||
        !problem_with(read, {DocumentNode::Table{field}, 1, {}}).empty()) {
      server.unsaid.push_back({one.key, one.line, {std::string(setting), one.line, {}}});
      continue;
    }
    taken.push_back(std::move(field));
  }
  if (!taken.empty()) server.more.push_back({std::string(setting), 1, {std::move(taken), 1, {}}});
}

/// The fields of a URL's query, from its question mark on.
DocumentNode::Table query_in(std::string_view text, std::uint32_t line) {
  DocumentNode::Table fields;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view field = text.substr(0, text.find('&'));
    text.remove_prefix(field.size());
    const auto equals = std::min(field.find('='), field.size());
    const std::string value(field.substr(std::min(equals + 1, field.size())));
    if (equals > 0) fields.push_back({std::string(field.substr(0, equals)), line, {value, line, {}}});
  }
  return fields;
}

/// The name if it can be a variable's; else empty.
std::string usable_variable(const std::string& name) {
  return problem_with(parse_variable_name, text_node(name, 1)).empty() ? name : "";
}

/// The variable in `{{ env.NAME }}`; empty for any other text, such as a key itself.
std::string variable_shown_by(const std::string& text) {
  const DocumentNode value = header_value(text);
  const std::string* name = text_in(value, "env");
  return name != nullptr && find_entry(value, "prefix") == nullptr ? usable_variable(*name) : "";
}

/// For the key of a server that has none yet: `GATE_EXAMPLE_API_KEY`.
std::string variable_for(const std::string& server) {
  std::string variable = server + "_API_KEY";
  for (char& c : variable) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!is_ascii_letter(c) && !is_digit(c)) c = '_';
  }
  return usable_variable(variable).empty() ? "HOST_" + variable : variable;
}

}  // namespace

const DocumentNode& config_of(const DocumentNode& provider) {
  static const DocumentNode none{DocumentNode::Table{}, 1, {}};
  const DocumentEntry* config = find_entry(provider, "config");
  return config != nullptr ? config->value : none;
}

std::string server_name_of(std::string_view text) {
  std::string name = arm_name_of(text);
  std::ranges::replace(name, '.', '-');  // A dot parts the keys of a settings file.
  return name;
}

std::string without_secrets(std::string_view id) {
  // A program's arguments may hold some.
  if (id.starts_with("exec:")) return std::string(id.substr(0, id.find(" -")));
  const auto scheme = id.find("://");
  if (scheme == id.npos) return std::string(id);
  id = id.substr(0, id.find('?'));
  const auto host = scheme + 3;
  const auto at = id.substr(0, id.find('/', host)).rfind('@');
  return std::string(id.substr(0, host)) + std::string(id.substr(at == id.npos || at < host ? host : at + 1));
}

std::string add_server(std::vector<ImportedServer>& servers, ImportedServer server) {
  const std::string wanted = server.name;
  for (int number = 2;; ++number) {
    const auto same = std::ranges::find(servers, server.name, &ImportedServer::name);
    if (same == servers.end()) return servers.emplace_back(std::move(server)).name;
    if (settings_of({*same}) == settings_of({server})) return server.name;
    server.name = wanted + "-" + std::to_string(number);
  }
}

std::string settings_of(const std::vector<ImportedServer>& servers) {
  std::string text;
  for (const ImportedServer& server : servers) {
    text += (text.empty() ? "" : "\n") + ("[providers." + server.name + "]\n") +
            "kind = " + json_string(server.kind) + "\nbase_url = " + json_string(server.base_url) +
            "\napi_key_env = " + json_string(server.api_key_env) + "\n";
    for (const DocumentEntry& entry : server.more)
      text += entry.key + " = " + toml_inline(as_written(entry.value)) + "\n";
  }
  return text;
}

bool is_of_openai_server(std::string_view key) {
  return key == "apiBaseUrl" || key == "apiKey" || key == "apiKeyEnvar" || key == "apiKeyRequired";
}

ImportedServer openai_server(std::string_view base_url, std::string_view usual_key,
                             const DocumentNode& provider, std::uint32_t line, const ImportFile& from) {
  const DocumentNode& config = config_of(provider);
  const auto url = parse_base_url(base_url);
  const bool is_local = is_loopback_host(url->host);
  ImportedServer server{server_name_of(url->host), url->text};
  std::string& variable = server.api_key_env;
  const std::string* key = text_in(config, "apiKey");
  const std::string* named = text_in(config, "apiKeyEnvar");
  if (key != nullptr) variable = variable_shown_by(*key);
  const bool is_written = key != nullptr && !key->empty() && variable.empty();
  if (variable.empty() && named != nullptr) variable = usable_variable(*named);
  const bool is_lost = named != nullptr && !named->empty() && variable.empty();
  if (is_written || is_lost) {
    // No other key may go there in its place.
    if (variable.empty() && !is_local) variable = variable_for(server.name);
    const DocumentEntry* said = find_entry(config, is_written ? "apiKey" : "apiKeyEnvar");
    from.note(said->line,
              "\"" + said->key + "\" of a provider is not taken over" +
                  (variable.empty() ? ", and the server " + url->text +
                                          " is called without a key: if it asks for one, put that into a "
                                          "variable, and name it as api_key_env beside this base_url in "
                                          "sluice.toml"
                                    : ": put the key for " + url->text + " into the variable " + variable +
                                          ", which api_key_env in sluice.toml names"));
    return server;
  }
  const DocumentEntry* required = find_entry(config, "apiKeyRequired");
  const bool* is_required = required != nullptr ? std::get_if<bool>(&required->value.value) : nullptr;
  const bool needs_none = usual_key.empty() || (is_required != nullptr && !*is_required);
  if (!variable.empty() || needs_none) return server;
  if (!is_local) variable = usual_key;
  from.note(line,
            is_local
                ? "the server " + url->text + " is called without a key, where promptfoo sends the one in " +
                      std::string(usual_key) + ": if it asks for that, write api_key_env = \"" +
                      std::string(usual_key) + "\" beside this base_url in sluice.toml"
                : "the server " + url->text + " gets the key in " + variable +
                      ", as promptfoo sends it there: if it has a key of its own, put that into "
                      "another variable, and name it as api_key_env beside this base_url in sluice.toml");
  return server;
}

bool is_of_azure_server(std::string_view key) {
  constexpr std::array<std::string_view, 4> keys{"apiHost", "apiBaseUrl", "apiVersion", "apiKeyEnvar"};
  return std::ranges::find(keys, key) != keys.end();
}

ImportedServer azure_server(std::string_view deployment, const DocumentNode& provider, std::uint32_t line,
                            const ImportFile& from) {
  const DocumentNode& config = config_of(provider);
  const auto said = [&](std::string_view key) -> std::string {
    const std::string* text = text_in(config, key);
    return text == nullptr || text->find("{{") != std::string::npos ? "" : *text;
  };
  ImportedServer server;
  server.name = server_name_of("azure-" + std::string(deployment));
  std::string host = said("apiBaseUrl").empty() ? said("apiHost") : said("apiBaseUrl");
  const auto set = address_of("azure", provider, from);
  if (host.empty() && set) host = set->url;
  if (host.find("://") == std::string::npos) host = "https://" + host;
  auto address = parse_base_url(host + "/openai/deployments/" + std::string(deployment));
  if (!address) {
    address =
        parse_base_url("https://NAME.openai.azure.com/openai/deployments/" + server_name_of(deployment));
    from.change(
        line,
        "the provider says no \"apiHost\" that sluice can take over: write yours for NAME in base_url of "
        "[providers." +
            server.name + "] of sluice.toml");
  }
  server.base_url = address->text;
  const std::string version = said("apiVersion");
  if (version.empty())
    from.change(line, "the provider says no \"apiVersion\": " + std::string(azure_api_version) +
                          " stands in query of [providers." + server.name + "] of sluice.toml");
  const std::string key = said("apiKeyEnvar").empty() ? "AZURE_API_KEY" : said("apiKeyEnvar");
  server.more.push_back(
      {"query", 1, table_with("api-version", version.empty() ? std::string(azure_api_version) : version)});
  server.more.push_back({"headers", 1, {DocumentNode::Table{{"api-key", 1, table_with("env", key)}}, 1, {}}});
  return server;
}

bool is_of_http_server(std::string_view key) {
  constexpr std::array<std::string_view, 8> keys{
      "url", "method", "body", "request", "headers", "queryParams", "transformResponse", "responseParser"};
  return std::ranges::find(keys, key) != keys.end();
}

tl::expected<ImportedServer, std::string> http_server(std::string_view url, const DocumentNode& provider,
                                                      const ImportFile& from) {
  const auto refuse = [](std::string why) { return tl::unexpected<std::string>(std::move(why)); };
  const DocumentNode& config = config_of(provider);
  const std::string* named = text_in(config, "url");
  if (named != nullptr) url = *named;
  const auto question = std::min(url.find('?'), url.size());
  const auto address = parse_base_url(url.substr(0, question));
  const bool is_encoded = url.find_first_of("%+#", question) != url.npos || url.find('{') != url.npos;
  if (!address || is_encoded) return refuse("has no URL that sluice can take over");
  if (find_entry(config, "request") != nullptr) return refuse("asks with a raw request");
  const DocumentEntry* body = find_entry(config, "body");
  const std::string* method = text_in(config, "method");
  if (body == nullptr || (method != nullptr && to_lower(*method) != "post"))
    return refuse("does not ask by POST with a body");
  const std::string* path = text_in(config, "transformResponse");
  if (path == nullptr) path = text_in(config, "responseParser");
  const std::string pointer = path != nullptr ? pointer_of(*path) : "";
  if (pointer.empty())
    return refuse("does not say by a plain path, as json.output.text, where the answer stands");
  auto form = body_of(*body, from);
  if (!form) return refuse(std::move(form.error()));
  ImportedServer server;
  server.kind = "http";
  server.name = server_name_of(address->host);
  server.base_url = address->text;
  const auto as_it_is = [](const std::string& text) { return DocumentNode{text, 1, {}}; };
  DocumentNode::Table query = query_in(url.substr(question), body->line);
  if (const auto* said = find_entry(config, "queryParams")) {
    if (const auto* table = mapping_in(*said, from)) std::ranges::copy(*table, std::back_inserter(query));
  }
  add_fields("query", query, parse_query, as_it_is, server);
  if (const auto* headers = find_entry(config, "headers")) {
    if (const auto* table = mapping_in(*headers, from))
      add_fields("headers", *table, parse_headers, header_value, server);
  }
  server.more.push_back({"body", 1, std::move(*form)});
  server.more.push_back({"answer", 1, table_with("text", pointer)});
  return server;
}

}  // namespace sluice
