#include "coordinator/import/promptfoo_providers.hpp"

#include "common/defaults.hpp"
#include "common/settings/base_url.hpp"
#include "common/text/text.hpp"
#include "coordinator/import/foreign_environment.hpp"
#include "coordinator/import/foreign_transform.hpp"
#include "coordinator/import/provider_tools.hpp"
#include "coordinator/import/response_form.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace sluice {

void add_servers(std::vector<ImportedServer>& to, std::vector<ImportedServer> servers,
                 std::span<ImportedProvider> users) {
  std::map<std::string, std::string> given;
  for (ImportedServer& server : servers) {
    const std::string name = server.name;
    given[name] = add_server(to, std::move(server));
  }
  for (ImportedProvider& user : users) {
    if (const auto found = given.find(user.provider); found != given.end()) user.provider = found->second;
  }
}

namespace {

/// What stands before the first colon of a provider's id.
struct Prefix {
  std::string_view prefix;
  std::string_view provider;
  SamplingFamily sampling = SamplingFamily::openai;
  std::string_view base_url = {};     ///< Of one that the settings file must name.
  std::string_view api_key_env = {};  ///< Of it, or of one at an address of its own. Empty there: no key.
};

using Family = SamplingFamily;

constexpr std::array prefixes{
    Prefix{"openai", "openai", Family::openai, "", "OPENAI_API_KEY"},
    Prefix{"anthropic", "anthropic", Family::anthropic},
    Prefix{"google", "gemini", Family::none},
    Prefix{"palm", "gemini", Family::none},
    Prefix{"azure", "azure", Family::azure},
    Prefix{"azureopenai", "azure", Family::azure},
    Prefix{"ollama", "ollama", Family::none, "http://127.0.0.1:11434/v1"},
    Prefix{"localai", "localai", Family::localai, "http://127.0.0.1:8080/v1"},
    Prefix{"openrouter", "openrouter", Family::openai, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
    Prefix{"groq", "groq", Family::groq, "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
    Prefix{"mistral", "mistral", Family::mistral, "https://api.mistral.ai/v1", "MISTRAL_API_KEY"},
    Prefix{"deepseek", "deepseek", Family::openai, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
    Prefix{"togetherai", "together", Family::openai, "https://api.together.xyz/v1", "TOGETHER_API_KEY"},
    Prefix{"together", "together", Family::openai, "https://api.together.xyz/v1", "TOGETHER_API_KEY"},
    Prefix{"fireworks", "fireworks", Family::openai, "https://api.fireworks.ai/inference/v1",
           "FIREWORKS_API_KEY"},
    Prefix{"xai", "xai", Family::xai, "https://api.x.ai/v1", "XAI_API_KEY"},
    Prefix{"cerebras", "cerebras", Family::openai, "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"},
    Prefix{"perplexity", "perplexity", Family::openai, "https://api.perplexity.ai", "PERPLEXITY_API_KEY"},
};

constexpr std::string_view openai = "openai";
constexpr std::string_view openai_responses = "openai-responses";

/// Between the prefix and the model; what else may stand there is not asked for a text.
constexpr std::array<std::string_view, 4> text_endpoints{"chat", "completion", "messages", "responses"};
constexpr std::array<std::string_view, 9> other_endpoints{"embedding",     "embeddings", "assistant",
                                                          "realtime",      "image",      "moderation",
                                                          "transcription", "agents",     "claude-agent-sdk"};

/// Keys of a provider's config that are params of an arm (docs/suites.md), as the providers call them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> params{{
    {"top_p", "top_p"},
    {"topP", "top_p"},
    {"top_k", "top_k"},
    {"topK", "top_k"},
    {"stop", "stop"},
    {"stop_sequences", "stop"},
    {"stopSequences", "stop"},
    {"presence_penalty", "presence_penalty"},
    {"presencePenalty", "presence_penalty"},
    {"frequency_penalty", "frequency_penalty"},
    {"frequencyPenalty", "frequency_penalty"},
    {"reasoning_effort", "reasoning_effort"},
    {"reasoningEffort", "reasoning_effort"},
}};

template <std::size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class ProviderImporter {
 public:
  explicit ProviderImporter(const ImportFile& from, bool embeds = false) : from_(from), embeds_(embeds) {}

  ImportedProviders read(const DocumentNode& node) {
    if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      for (const DocumentNode& one : *list) read_one(one);
    } else {
      read_one(node);
    }
    return std::move(result_);
  }

 private:
  void read_one(const DocumentNode& node) {
    if (const std::string* id = text_in(node)) return add(*id, node, node.line);
    if (const std::string* id = text_in(node, "id")) return add(*id, node, node.line);
    const auto* table = std::get_if<DocumentNode::Table>(&node.value);
    const bool is_keyed = table != nullptr && table->size() == 1 &&
                          std::holds_alternative<DocumentNode::Table>(table->front().value.value);
    if (is_keyed) return add(table->front().key, table->front().value, table->front().line);
    from_.lose(Loss::provider, node.line, "a provider without an id: left out");
  }

  void leave_out(const std::string& id, std::uint32_t line, const std::string& why) {
    from_.lose(Loss::provider, line,
               "the provider " + json_string(excerpt(without_secrets(id), defaults::quoted_bytes)) + " " +
                   why + ": left out");
  }

  void add(const std::string& id, const DocumentNode& node, std::uint32_t line) {
    const DocumentEntry* transform = find_entry(node, "transform");
    const bool is_changing = transform != nullptr && !keeps_answer(transform->value);
    if (is_changing && !only_trims(transform->value))
      return leave_out(id, line, "changes answers by its \"transform\", which has no counterpart");
    const std::string file = referenced_file(id, from_.files);
    if (!file.empty() && !is_code_file(file)) return add_file(file, line);
    if (id == "http" || id == "https" || id.starts_with("http://") || id.starts_with("https://"))
      return add_http(id, node, line);
    const auto colon = id.find(':');
    const auto prefix = std::ranges::find(prefixes, std::string_view(id).substr(0, colon), &Prefix::prefix);
    if (is_program(id))
      return leave_out(id, line,
                       "is a program, which reads and writes another form here (`kind = \"exec\"` in "
                       "docs/providers.md)");
    if (!file.empty() || prefix == prefixes.end() || colon == std::string::npos)
      return leave_out(id, line, "has no counterpart");
    add_model(id, node, line, *prefix);
  }

  /// Of a provider that is known by what stands before its id's first colon.
  void add_model(const std::string& id, const DocumentNode& node, std::uint32_t line, const Prefix& prefix) {
    std::string model = id.substr(prefix.prefix.size() + 1);
    const std::string endpoint = model.substr(0, model.find(':'));
    const bool is_embedder = endpoint == "embedding" || endpoint == "embeddings";
    if (embeds_ && !is_embedder) return leave_out(id, line, "is no embedder");
    if (!embeds_ && is_in(other_endpoints, endpoint))
      return leave_out(id, line, "is asked for something else than a text");
    if ((is_embedder || is_in(text_endpoints, endpoint)) && endpoint.size() < model.size())
      model.erase(0, endpoint.size() + 1);
    if (model.empty() || model.find_first_of(" {\t\n") != std::string::npos)
      return leave_out(id, line, "names no model");
    const bool is_azure = prefix.provider == "azure";
    const auto address = is_azure ? std::nullopt : own_address(node, prefix);
    // Another server must not be asked in its place.
    if (address && !is_asked_as_openai(prefix))
      return leave_out(id, line,
                       "has " + address->variable + ": write it as base_url of a provider in sluice.toml");
    if (address && !parse_base_url(address->url))
      return leave_out(id, line, "has " + address->variable + " that sluice cannot take over");
    if (!is_azure && !address && has_host(node))
      return leave_out(id, line, "has an \"apiHost\": write it as base_url of a provider in sluice.toml");
    if (prefix.provider == openai && endpoint == "completion")
      return leave_out(id, line, "is no chat, and sluice asks chats alone");
    if (is_azure && endpoint != "chat") return leave_out(id, line, "is no chat of Azure");
    ImportedProvider made;
    made.provider = prefix.provider;
    made.model = std::move(model);
    made.line = line;
    made.file = from_.name;
    made.usual = foreign_sampling(prefix.sampling, made.model);
    const bool is_response = endpoint == "responses";
    if (is_response && made.provider == openai) {
      made.provider = openai_responses;
    } else if (prefix.provider != "anthropic" && (endpoint == "completion" || is_response)) {
      note_chat(id, line);
    }
    if (is_azure) {
      made.provider = use(azure_server(made.model, node, line, from_), made, node);
    } else if (address) {
      ImportedServer server = openai_server(address->url, prefix.api_key_env, node, line, from_);
      if (made.provider == openai_responses) server.kind = openai_responses;
      made.provider = use(std::move(server), made, node);
    } else if (!prefix.base_url.empty()) {
      made.provider =
          use({made.provider, std::string(prefix.base_url), std::string(prefix.api_key_env)}, made, node);
    }
    add_read(std::move(made), id, node,
             is_azure  ? is_of_azure_server
             : address ? is_of_openai_server
                       : is_of_no_server);
  }

  /// That a config names, or else a variable in `env`.
  std::optional<ForeignAddress> own_address(const DocumentNode& node, const Prefix& prefix) const {
    auto address = address_of(prefix.provider, node, from_);
    if (address) address->variable = "its address in " + address->variable + " of \"env\"";
    const std::string* base_url = text_in(config_of(node), "apiBaseUrl");
    if (base_url != nullptr) return ForeignAddress{"an \"apiBaseUrl\"", *base_url};
    return has_host(node) ? std::nullopt : address;
  }

  /// promptfoo asks Ollama in its own form, at an address without the `/v1` of OpenAI's.
  static bool is_asked_as_openai(const Prefix& prefix) {
    return prefix.provider == openai || (!prefix.base_url.empty() && prefix.provider != "ollama");
  }

  void note_chat(const std::string& id, std::uint32_t line) const {
    from_.change(line, "the provider " + json_string(excerpt(id, defaults::quoted_bytes)) +
                           " is asked as a chat (chat completions) here");
  }

  void add_http(const std::string& id, const DocumentNode& node, std::uint32_t line) {
    if (embeds_) return leave_out(id, line, "is no embedder");
    auto server = http_server(id, node, from_);
    if (!server) return leave_out(id, line, server.error());
    ImportedProvider made;
    made.model = server->name;
    made.line = line;
    made.file = from_.name;
    const std::vector<DocumentEntry> unsaid = std::move(server->unsaid);
    made.provider = use(std::move(*server));
    for (const DocumentEntry& one : unsaid)
      from_.change(one.line, "\"" + excerpt(one.key, defaults::quoted_bytes) + "\" in " +
                                 *text_in(one.value) +
                                 " of a provider cannot be said as it stands: add it to [providers." +
                                 made.provider + "]; a secret as { env = \"NAME\" }");
    add_read(std::move(made), id, node, is_of_http_server);
  }

  /// With what stands beside its id; `is_of_server` knows the keys of its config that were read before.
  void add_read(ImportedProvider made, const std::string& id, const DocumentNode& node,
                bool (*is_of_server)(std::string_view)) {
    made.name = name_in(node, id);
    read_prompts(node, made);
    read_other_keys(node);
    const DocumentEntry* transform = find_entry(node, "transform");
    if (transform != nullptr && !keeps_answer(transform->value))
      made.transform = text_node("output.trim()", transform->line);
    if (const DocumentEntry* env = find_entry(node, "env")) note_own_environment(env->value, from_);
    const DocumentEntry* config = find_entry(node, "config");
    if (config != nullptr && mapping_in(*config, from_) != nullptr)
      read_config(config->value, made, is_of_server);
    result_.providers.push_back(std::move(made));
  }

  bool is_program(const std::string& id) const {
    return id.starts_with("exec:") || id.starts_with("python:") ||
           is_code_file(referenced_file(id, from_.files));
  }

  static bool is_of_no_server(std::string_view) { return false; }

  void add_file(const std::string& name, std::uint32_t line) {
    for (const std::string& one : files_of(name, from_, line, Loss::provider)) {
      if (!may_follow(one, from_, line, Loss::provider)) continue;
      const auto document = read_document(one, from_, line, Loss::provider);
      if (!document) continue;
      const ImportFile other = from_.with(one);
      ImportedProviders more = ProviderImporter(other, embeds_).read(*document);
      add_servers(result_.servers, std::move(more.servers), more.providers);
      std::ranges::move(more.providers, std::back_inserter(result_.providers));
    }
  }

  std::string use(ImportedServer server) { return add_server(result_.servers, std::move(server)); }
  /// For `user`, whose bound of an answer has another name there than here, unless it is a reasoning model's.
  std::string use(ImportedServer server, const ImportedProvider& user, const DocumentNode& node) {
    const bool is_bound =
        user.usual->max_output_tokens || find_entry(config_of(node), "max_completion_tokens") != nullptr;
    if (server.kind == openai && !(user.usual->is_reasoning && is_bound))
      server.more.push_back({"max_tokens_field", 1, text_node("max_tokens", 1)});
    return use(std::move(server));
  }

  /// Its label, or the id that older configurations give to one beneath its model (`openai:gpt-4: {id:
  /// cold}`).
  static std::string name_in(const DocumentNode& node, const std::string& id) {
    if (const std::string* label = text_in(node, "label")) return id_of(*label);
    const std::string* own = text_in(node, "id");
    const bool is_name = own != nullptr && *own != id && own->find('{') == std::string::npos;
    return is_name ? id_of(*own) : "";
  }

  void read_prompts(const DocumentNode& node, ImportedProvider& made) const {
    const DocumentEntry* prompts = find_entry(node, "prompts");
    if (prompts == nullptr) return;
    const auto take = [&](const DocumentNode& one) {
      if (const std::string* label = text_in(one)) return made.prompts.push_back(*label);
      from_.change(one.line, "\"prompts\" of a provider holds what is no text: left out");
    };
    const auto* list = std::get_if<DocumentNode::Array>(&prompts->value.value);
    if (list == nullptr) return take(prompts->value);
    for (const DocumentNode& one : *list) take(one);
  }

  void read_other_keys(const DocumentNode& node) {
    const auto* table = std::get_if<DocumentNode::Table>(&node.value);
    if (table == nullptr) return;
    for (const DocumentEntry& entry : *table) {
      const bool is_known = entry.key == "id" || entry.key == "label" || entry.key == "prompts" ||
                            entry.key == "config" || entry.key == "transform" || entry.key == "env";
      if (!is_known)
        from_.lose(entry.key == "delay" ? Loss::none : Loss::change, entry.line,
                   "\"" + entry.key + "\" of a provider has no counterpart: left out");
    }
  }

  void read_config(const DocumentNode& config, ImportedProvider& made,
                   bool (*is_of_server)(std::string_view)) {
    const auto* table = std::get_if<DocumentNode::Table>(&config.value);
    if (table == nullptr) return;
    for (const DocumentEntry& entry : *table) {
      const auto number = number_in(config, entry.key);
      const auto* boolean = std::get_if<bool>(&entry.value.value);
      if (is_of_server(entry.key)) continue;
      const bool is_key = entry.key == "apiKey" || entry.key == "apiKeyEnvar";
      if (embeds_ && !is_key) {
        add_param(entry.key, entry.value, made);  // What tells it from others.
        from_.change(entry.line, "\"" + excerpt(entry.key, defaults::quoted_bytes) +
                                     "\" in config of an embedder has no counterpart: left out");
        continue;
      }
      if (entry.key != "apiKey" && has_template(entry.value)) {
        from_.change(entry.line,
                     "\"" + entry.key +
                         "\" in config of a provider holds a template, which is filled nowhere here: left "
                         "out");
        continue;
      }
      if (is_dropped(entry.key, made)) {
        from_.note(entry.line, "\"" + entry.key + "\" in config of a provider is sent to no model like " +
                                   json_string(made.model) + " there: left out");
      } else if (entry.key == "omitDefaults" && made.usual && boolean != nullptr) {
        if (*boolean) made.usual->temperature.reset();
        if (*boolean) made.usual->max_output_tokens.reset();
      } else if (entry.key == "temperature" && number) {
        made.temperature = number;
      } else if (number && (entry.key == "max_tokens" || entry.key == "max_completion_tokens" ||
                            entry.key == "max_output_tokens" || entry.key == "maxOutputTokens" ||
                            entry.key == "num_predict")) {
        made.max_output_tokens = number;
      } else if (entry.key == "seed" && number) {
        made.seed = number;
      } else if (entry.key == "generationConfig") {
        read_config(entry.value, made, is_of_server);
      } else if (read_param(entry, made)) {
      } else if (entry.key == "response_format") {
        made.response_format = import_response_format(entry, from_);
      } else if (entry.key == "tools") {
        made.tools = import_tools(entry, from_);
      } else if (entry.key == "tool_choice") {
        from_.change(entry.line,
                     "\"tool_choice\" in config of a provider has no counterpart (a test names it as "
                     "\"input.tool_choice\"): left out");
      } else if (entry.key == "apiKeyEnvar" && is_key_of_server(made, entry.value)) {
        // Goes with the server.
      } else if (is_key) {
        from_.note(entry.line,
                   "\"" + entry.key +
                       "\" of a provider: sluice reads the key from the environment; \"api_key_env\" in "
                       "[providers.NAME] of sluice.toml names another variable");
      } else {
        from_.change(entry.line,
                     "\"" + entry.key + "\" in config of a provider has no counterpart: left out");
      }
    }
  }

  /// promptfoo does not send it to such a model.
  bool is_dropped(std::string_view key, const ImportedProvider& made) const {
    const auto server = std::ranges::find(result_.servers, made.provider, &ImportedServer::name);
    const bool is_chat = (server != result_.servers.end() ? server->kind : made.provider) != openai_responses;
    return made.usual && ((key == "temperature" && made.usual->drops_temperature) ||
                          (key == "max_tokens" && made.usual->drops_max_tokens) ||
                          (key == "max_completion_tokens" && is_chat && !made.usual->is_reasoning));
  }

  /// A template there is filled by variables, or the environment.
  static bool has_template(const DocumentNode& node) {
    if (const auto* list = std::get_if<DocumentNode::Array>(&node.value))
      return std::ranges::any_of(*list, has_template);
    const std::string* text = text_in(node);
    return text != nullptr && text->find("{{") != std::string::npos;
  }

  /// True if the entry is a param, which the arm then has.
  static bool read_param(const DocumentEntry& entry, ImportedProvider& made) {
    if (entry.key == "reasoning") {
      const auto* table = std::get_if<DocumentNode::Table>(&entry.value.value);
      const bool is_effort = table != nullptr && table->size() == 1 && table->front().key == "effort" &&
                             text_in(table->front().value) != nullptr;
      if (is_effort) add_param("reasoning_effort", table->front().value, made);
      return is_effort;
    }
    const auto known =
        std::ranges::find(params, entry.key, &std::pair<std::string_view, std::string_view>::first);
    if (known == params.end() || std::holds_alternative<DocumentNode::Table>(entry.value.value)) return false;
    add_param(known->second, entry.value, made);
    return true;
  }

  static void add_param(std::string_view name, const DocumentNode& value, ImportedProvider& made) {
    const auto same = std::ranges::find(made.params, name, &DocumentEntry::key);
    if (same == made.params.end()) made.params.push_back({std::string(name), value.line, value});
  }

  static bool has_host(const DocumentNode& provider) {
    return text_in(config_of(provider), "apiHost") != nullptr;
  }

  bool is_key_of_server(const ImportedProvider& made, const DocumentNode& key) const {
    const std::string* name = text_in(key);
    const auto server = std::ranges::find(result_.servers, made.provider, &ImportedServer::name);
    return name != nullptr && server != result_.servers.end() && server->api_key_env == *name;
  }

  const ImportFile& from_;
  bool embeds_;
  ImportedProviders result_;
};

}  // namespace

ImportedProviders import_embedder(const DocumentNode& provider, const ImportFile& from) {
  return ProviderImporter(from, true).read(provider);
}

ImportedProviders import_providers(const DocumentNode& providers, const ImportFile& from) {
  return ProviderImporter(from).read(providers);
}

}  // namespace sluice
