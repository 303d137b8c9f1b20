#include "coordinator/import/suite_assembly.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/model/run_settings.hpp"
#include "common/model/sampling.hpp"
#include "common/text/text.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/import/judge_identity.hpp"
#include "coordinator/import/ordered_table.hpp"
#include "coordinator/import/test_assembly.hpp"
#include "coordinator/suite/prices.hpp"
#include "coordinator/suite/prompts/arms.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace sluice {
namespace {

using Names = std::set<std::string, std::less<>>;

DocumentNode number_of(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15)
    return {static_cast<std::int64_t>(number), 1, {}};
  return {number, 1, {}};
}

class Assembly {
 public:
  Assembly(SuiteParts parts, const ImportFile& from) : parts_(std::move(parts)), from_(from) {}

  ImportedSuite build() {
    if (parts_.prompts.empty()) add_prompt();
    form_ = form_of_prompt();
    if (!form_) form_ = of_all("response_format", &ImportedProvider::response_format);
    tools_ = of_all("tools", &ImportedProvider::tools);
    const auto transform = of_all("transform", &ImportedProvider::transform);
    const std::size_t providers = limit_providers();
    for (ImportedProvider& provider : parts_.providers) send_top_p_alone(provider);
    take_usual("temperature", &ImportedProvider::temperature, &ForeignSampling::temperature);
    take_usual("max_output_tokens", &ImportedProvider::max_output_tokens,
               &ForeignSampling::max_output_tokens);
    note_filters(parts_.default_test);
    for (const ImportedTest& test : parts_.tests) note_filters(test);
    tests_ = assemble_tests(std::move(parts_.default_test), std::move(parts_.tests), parts_.prompts,
                            {input(), transform, judge()}, from_);
    OrderedTable suite;
    suite.add("suite", text_node(parts_.name));
    add_unless_empty("settings", suite_settings(), suite);
    if (!is_conversation()) suite.add("prompts", prompts());
    if (providers > 0) suite.add("providers", all_providers());
    add_unless_empty("default_test", std::move(tests_.default_test), suite);
    const std::size_t count = std::get<DocumentNode::Array>(tests_.tests.value).size();
    suite.add("tests", std::move(tests_.tests));
    note_measured();
    return {
        suite.take(), {},         std::move(parts_.servers),   {}, count, parts_.prompts.size(), providers,
        {},           programs(), std::move(tests_.code_files)};
  }

 private:
  /// What a test that was for some of them costs now.
  void note_filters(const ImportedTest& test) const {
    const auto all = [](std::size_t count, const std::string& what) {
      return count == 1 ? "the one " + what : "all " + std::to_string(count) + " " + what + "s";
    };
    const std::string models = parts_.providers.empty() ? "" : " of " + all(parts_.providers.size(), "model");
    for (const auto& [key, line] : test.filters) {
      from_.with(test.file).change(
          line, "\"" + key + "\" of a test has no counterpart: left out, and it is asked by " +
                    all(parts_.prompts.size(), "prompt") + models);
    }
  }

  static void add_unless_empty(const char* key, DocumentNode table, OrderedTable& suite) {
    if (!std::get<DocumentNode::Table>(table.value).empty()) suite.add(key, std::move(table));
  }

  /// Its messages stand in each test then.
  bool is_conversation() const {
    return parts_.prompts.size() == 1 && !parts_.prompts.front().messages.empty();
  }

  /// What every provider is asked with: a suite has it by test.
  std::optional<DocumentNode> of_all(const std::string& key,
                                     std::optional<DocumentNode> ImportedProvider::*part) const {
    if (parts_.providers.empty()) return std::nullopt;
    const auto written = [&](const ImportedProvider& provider) {
      return provider.*part ? canonical_json(*(provider.*part)) : std::string();
    };
    const std::string first = written(parts_.providers.front());
    const bool is_same = std::ranges::all_of(
        parts_.providers, [&](const ImportedProvider& provider) { return written(provider) == first; });
    if (is_same) return parts_.providers.front().*part;
    for (const ImportedProvider& provider : parts_.providers) {
      if (provider.*part)
        from_.with(provider.file)
            .change((provider.*part)->line,
                    "\"" + key + "\" is not that of all providers, and a suite has it by test: left out");
    }
    return std::nullopt;
  }

  /// A prompt's own form goes before that of the providers.
  std::optional<DocumentNode> form_of_prompt() const {
    if (parts_.prompts.size() == 1) return parts_.prompts.front().response_format;
    for (const ImportedPrompt& prompt : parts_.prompts) {
      if (prompt.response_format)
        from_.change(
            prompt.line,
            "\"response_format\" is that of one prompt among several, and a suite has it by test: left "
            "out");
    }
    return std::nullopt;
  }

  DocumentNode input() const {
    OrderedTable node;
    if (is_conversation()) {
      const ImportedPrompt& prompt = parts_.prompts.front();
      DocumentNode::Array messages;
      const auto add = [&](const std::string& role, const std::string& content) {
        OrderedTable message;
        message.add("role", text_node(role)).add("content", text_node(content));
        messages.push_back(message.take());
      };
      if (!prompt.system.empty()) add("system", prompt.system);
      for (const ImportedMessage& message : prompt.messages) add(message.role, message.content);
      node.add("messages", {std::move(messages), 1, {}});
    }
    if (tools_) node.add("tools", *tools_);
    if (form_) node.add("response_format", *form_);
    return node.take();
  }

  /// Without prompts the variable `prompt` is one there. Else one stands in, so that tests and checks are not
  /// lost with a prompt that a program makes.
  void add_prompt() {
    ImportedPrompt prompt;
    prompt.id = "stand-in";
    Names names;
    for (const ImportedTest& test : parts_.tests) {
      for (const auto& [name, value] : test.vars) names.insert(name);
    }
    for (const auto& [name, value] : parts_.default_test.vars) names.insert(name);
    if (!parts_.has_prompts && names.contains("prompt")) {
      prompt.id = "prompt";
      prompt.prompt = "{{prompt}}";
      prompt.variables.insert("prompt");
      return parts_.prompts.push_back(std::move(prompt));
    }
    for (const std::string& name : names) {
      if (name.find('.') == std::string::npos) prompt.variables.insert(name);
    }
    const bool is_alone = prompt.variables.size() == 1;
    for (const std::string& name : prompt.variables)
      prompt.prompt += (is_alone ? "" : name + ": ") + "{{" + name + "}}" + (is_alone ? "" : "\n");
    if (prompt.prompt.empty()) prompt.prompt = "Hello!";
    from_.change(
        1,
        "no prompt could be taken over: one that shows the variables stands in \"prompts\"; write yours in "
        "its place");
    parts_.prompts.push_back(std::move(prompt));
  }

  static void send_top_p_alone(ImportedProvider& provider) {
    const bool has_top_p =
        std::ranges::find(provider.params, "top_p", &DocumentEntry::key) != provider.params.end();
    if (!provider.usual || !provider.usual->has_top_p_alone || !has_top_p) return;
    provider.temperature.reset();
    provider.usual->temperature.reset();
  }

  /// Where the config of a provider says nothing it is asked as promptfoo asks it: by `settings` where that
  /// is the same for all. A null among the params sends nothing, and would win over another's own value.
  void take_usual(const std::string& key, std::optional<double> ImportedProvider::*own,
                  std::optional<double> ForeignSampling::*usual) {
    const auto value_of = [&](const ImportedProvider* provider) { return (*provider->usual).*usual; };
    const auto must_be_null = [&](const ImportedProvider* provider) {
      const bool is_sent_none = key == "temperature" && !takes_temperature(provider->model);
      return !value_of(provider) && !is_sent_none;
    };
    std::vector<ImportedProvider*> silent;
    for (ImportedProvider& provider : parts_.providers) {
      if (provider.usual && !(provider.*own)) silent.push_back(&provider);
    }
    if (silent.empty()) return;
    const std::optional<double> value = value_of(silent.front());
    const DocumentNode nothing{DocumentNull{}, 1, {}};
    const bool is_same = std::ranges::all_of(
        silent, [&](const ImportedProvider* provider) { return value_of(provider) == value; });
    if (is_same && (value || silent.size() == parts_.providers.size())) {
      if (value) usual_settings_.add(key, number_of(*value));
      if (std::ranges::any_of(silent, must_be_null)) usual_params_.add(key, nothing);
      return;
    }
    for (ImportedProvider* provider : silent) {
      provider->*own = value_of(provider);
      if (must_be_null(provider)) provider->params.push_back({key, provider->line, nothing});
    }
  }

  DocumentNode suite_settings() {
    OrderedTable settings = std::move(usual_settings_);
    add_unless_empty("params", usual_params_.take(), settings);
    if (parts_.repeat) settings.add("repeat", number_of(*parts_.repeat));
    if (parts_.timeout_seconds) settings.add("timeout_seconds", number_of(*parts_.timeout_seconds));
    if (tests_.needs.grader) take_grader(*tests_.needs.grader);
    if (tests_.needs.is_judged && parts_.judge) {
      add_judge(settings);
    } else if (tests_.needs.is_judged) {
      from_.change(
          1,
          "rubrics and references need a model that judges: name one with --judge PROVIDER --judge-model "
          "MODEL, or as \"judge\" and \"judge_model\" in settings");
    }
    if (tests_.needs.is_embedded) add_embedder(settings);
    return settings.take();
  }

  void add_embedder(OrderedTable& settings) {
    const std::vector<NamedEmbedder>& named = tests_.needs.embedders;
    const bool takes_usual = tests_.needs.takes_usual_embedder;
    if (takes_usual && !parts_.embedder && !parts_.names_embedder) {
      // What is asked there where nothing else is named: thresholds are for its similarities.
      ImportedProviders usual = import_embedder(text_node("openai:embedding:text-embedding-3-large"), from_);
      if (!usual.providers.empty())
        parts_.embedder = Grader{std::move(usual.providers.front()), std::move(usual.servers)};
    }
    std::string chosen =
        parts_.embedder ? identity_of(parts_.embedder->provider, parts_.embedder->servers) : std::string();
    if (!takes_usual && std::ranges::find(named, chosen, &NamedEmbedder::identity) == named.end()) {
      chosen = named.front().identity;
      take_embedder(named.front());
    }
    note_other_embedders(chosen);
    if (!parts_.embedder) return;
    use_servers(*parts_.embedder);
    const ImportedProvider& embedder = parts_.embedder->provider;
    settings.add("embedding_provider", text_node(embedder.provider))
        .add("embedding_model", text_node(embedder.model));
  }

  /// One that cannot be taken over has no stand-in: texts would go to another host.
  void take_embedder(const NamedEmbedder& named) {
    const bool is_own = named.file == from_.name;
    ImportedProviders read = import_embedder(named.provider, is_own ? from_ : from_.with(named.file));
    parts_.embedder.reset();
    if (!read.providers.empty())
      parts_.embedder = Grader{std::move(read.providers.front()), std::move(read.servers)};
  }

  void note_other_embedders(const std::string& chosen) const {
    const std::string kept =
        parts_.embedder ? json_string(parts_.embedder->provider.model) + " embeds for all" : "nobody embeds";
    for (const NamedEmbedder& one : tests_.needs.embedders) {
      if (one.identity != chosen)
        from_.with(one.file).change(
            one.line,
            "the \"provider\" of a check similar is not that of all such checks, and a suite has one "
            "embedding model: left out, and " +
                kept);
    }
  }

  /// What the checks name goes before what the default test does.
  void take_grader(const DocumentNode& named) {
    ImportedProviders read = import_providers(named, from_);
    if (!read.providers.empty()) parts_.judge = {std::move(read.providers.front()), std::move(read.servers)};
  }

  std::vector<CheckProgram> programs() const {
    std::vector<CheckProgram> all;
    for (const auto& [language, checks] : tests_.needs.programs) {
      const bool is_python = language == ForeignProgram::Language::python;
      all.push_back({runner_of(language), interpreter_of(language),
                     is_python ? embedded::python_check : embedded::javascript_check, checks});
    }
    return all;
  }

  /// What a suite does not show of checks that need more than an answer.
  void note_measured() const {
    if (tests_.needs.timed_line)
      from_.note(
          *tests_.needs.timed_line,
          "a check of latency measures the call that brings an answer: a cached answer keeps its time, until "
          "--refresh calls for it again");
    if (!tests_.needs.is_priced) return;
    const auto prices = PriceTable::parse(embedded::prices, "prices.toml");
    for (const ImportedProvider& provider : parts_.providers) {
      const auto server = std::ranges::find(parts_.servers, provider.provider, &ImportedServer::name);
      const auto kind = provider_kind_from(server != parts_.servers.end() ? server->kind : provider.provider);
      if (kind && prices && prices->cost(*kind, provider.model, {})) continue;
      from_.with(provider.file)
          .change(provider.line, "a check of cost needs the price of " + json_string(provider.model) +
                                     ", which sluice does not know: name it in a table for --prices");
    }
  }

  void add_judge(OrderedTable& settings) {
    use_servers(*parts_.judge);
    const ImportedProvider& judge = parts_.judge->provider;
    settings.add("judge", text_node(judge.provider)).add("judge_model", text_node(judge.model));
    if (judge.temperature) settings.add("judge_temperature", number_of(*judge.temperature));
    if (judge.max_output_tokens) settings.add("judge_max_tokens", number_of(*judge.max_output_tokens));
    const auto lose = [&](std::uint32_t line, const std::string& what) {
      from_.change(line, "\"" + what + "\" of the provider that grades has no counterpart: left out");
    };
    if (judge.seed) lose(judge.line, "seed");
    for (const DocumentEntry& param : judge.params) lose(param.value.line, param.key);
    if (judge.response_format) lose(judge.response_format->line, "response_format");
    if (judge.tools) lose(judge.tools->line, "tools");
  }

  std::string judge() const {
    return parts_.judge ? identity_of(parts_.judge->provider, parts_.judge->servers) : std::string();
  }

  /// Before its provider is named, which may change.
  void use_servers(Grader& grader) {
    add_servers(parts_.servers, std::move(grader.servers), {&grader.provider, 1});
  }

  DocumentNode prompts() const {
    DocumentNode::Array list;
    for (const ImportedPrompt& prompt : parts_.prompts) {
      OrderedTable node;
      node.add("id", text_node(prompt.id));
      if (!prompt.system.empty()) node.add("system", text_node(prompt.system));
      node.add("prompt", text_node(prompt.prompt));
      list.push_back(node.take());
    }
    return {std::move(list), 1, {}};
  }

  /// How many remain. Each is asked by each prompt.
  std::size_t limit_providers() {
    const std::size_t most =
        std::max<std::size_t>(1, defaults::max_arms / std::max<std::size_t>(1, parts_.prompts.size()));
    if (parts_.providers.size() > most) {
      from_.lose(Loss::provider, parts_.providers[most].line,
                 "more providers with more prompts than a run has arms (" +
                     std::to_string(defaults::max_arms) + "): those from here on are left out");
      parts_.providers.resize(most);
    }
    return parts_.providers.size();
  }

  DocumentNode all_providers() {
    DocumentNode::Array list;
    for (const ImportedProvider& provider : parts_.providers) {
      bool is_limited = false;
      for (const ImportedPrompt& prompt : parts_.prompts) {
        const auto is_named = [&](const std::string& name) { return stands_for(name, prompt); };
        if (std::ranges::none_of(provider.prompts, is_named)) continue;
        is_limited = true;
        if (!is_conversation()) list.push_back(provider_node(provider, &prompt));
      }
      if (!is_limited && !provider.prompts.empty())
        from_.change(
            provider.line,
            "of the \"prompts\" of a provider none is there: each prompt is for it, and not these alone");
      if (!is_limited || is_conversation()) list.push_back(provider_node(provider, nullptr));
    }
    return {std::move(list), 1, {}};
  }

  /// A provider names prompts by label, by file, by the text itself, or by what stands before a label's
  /// colon.
  static bool stands_for(std::string_view name, const ImportedPrompt& prompt) {
    const auto path_of = [](std::string_view path) {
      if (path.starts_with("file://")) path.remove_prefix(7);
      if (path.starts_with("./")) path.remove_prefix(2);
      return path;
    };
    if (name.ends_with(":*")) name.remove_suffix(2);
    return name == prompt.label || name == prompt.id || name == prompt.prompt ||
           (!prompt.file.empty() && path_of(name) == path_of(prompt.file)) ||
           prompt.label.starts_with(std::string(name) + ":");
  }

  DocumentNode provider_node(const ImportedProvider& provider, const ImportedPrompt* prompt) {
    std::string name = provider.name.empty() ? arm_name_of(provider.model) : provider.name;
    if (prompt != nullptr) name = arm_name_of(name + "-" + prompt->id);
    const std::string wanted = name.substr(0, 56);
    for (std::size_t n = names_.size() + 1; !names_.insert(name).second; ++n)
      name = arm_name_of(wanted + "-" + std::to_string(n));
    const bool is_short = name == arm_name_of(provider.model) && prompt == nullptr && !provider.temperature &&
                          !provider.max_output_tokens && !provider.seed && provider.params.empty();
    if (is_short) return text_node(provider.provider + ":" + provider.model);
    OrderedTable node;
    node.add("name", text_node(name))
        .add("provider", text_node(provider.provider))
        .add("model", text_node(provider.model));
    if (prompt != nullptr) node.add("prompt", text_node(prompt->id));
    if (provider.temperature) node.add("temperature", number_of(*provider.temperature));
    if (provider.max_output_tokens) node.add("max_output_tokens", number_of(*provider.max_output_tokens));
    if (provider.seed) node.add("seed", number_of(*provider.seed));
    if (!provider.params.empty()) node.add("params", DocumentNode{provider.params, provider.line});
    return node.take();
  }

  SuiteParts parts_;
  const ImportFile& from_;
  AssembledTests tests_{};
  std::optional<DocumentNode> form_{};
  std::optional<DocumentNode> tools_{};
  Names names_{};
  OrderedTable usual_settings_{};
  OrderedTable usual_params_{};
};

}  // namespace

ImportedSuite assemble(SuiteParts parts, const ImportFile& from) {
  return Assembly(std::move(parts), from).build();
}

}  // namespace sluice
