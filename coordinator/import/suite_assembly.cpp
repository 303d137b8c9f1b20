#include "coordinator/import/suite_assembly.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/model/metrics.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/arms.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace sluice {
namespace {

using Names = std::set<std::string, std::less<>>;

DocumentNode text_of(std::string text) {
  return {std::move(text), 1, {}};
}

DocumentNode number_of(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15)
    return {static_cast<std::int64_t>(number), 1, {}};
  return {number, 1, {}};
}

/// A mapping with keys in the order in which they are added.
class OrderedTable {
 public:
  OrderedTable& add(std::string key, DocumentNode value) {
    table_.push_back({std::move(key), 1, std::move(value)});
    return *this;
  }
  bool empty() const { return table_.empty(); }
  DocumentNode take() { return {std::move(table_), 1, {}}; }

 private:
  DocumentNode::Table table_;
};

class Assembly {
 public:
  Assembly(SuiteParts parts, const ImportFile& from) : parts_(std::move(parts)), from_(from) {}

  ImportedSuite build() {
    if (parts_.tests.empty()) {
      from_.note(
          1,
          "no test could be taken over: one without variables stands in \"tests\"; write yours in its place");
      parts_.tests.push_back({"", {}, {}, false, 1, from_.name, false});
    }
    if (parts_.prompts.empty()) add_stand_in_prompt();
    for (const ImportedPrompt& prompt : parts_.prompts)
      asked_.insert(prompt.variables.begin(), prompt.variables.end());
    parts_.default_test.checks = with_one_of_each_score(std::move(parts_.default_test.checks), from_);
    for (const ImportedCheck& check : parts_.default_test.checks)
      asked_.insert(check.variables.begin(), check.variables.end());
    anywhere_ = all_asked();
    form_ = form_of_all();
    keep_used(parts_.default_test, anywhere_);
    OrderedTable suite;
    suite.add("suite", text_of(parts_.name));
    DocumentNode tests = all_tests();
    if (DocumentNode settings = suite_settings(); !std::get<DocumentNode::Table>(settings.value).empty())
      suite.add("settings", std::move(settings));
    if (!is_conversation()) suite.add("prompts", prompts());
    const std::size_t providers = limit_providers();
    if (providers > 0) suite.add("providers", all_providers());
    if (DocumentNode own = default_test(); !std::get<DocumentNode::Table>(own.value).empty())
      suite.add("default_test", std::move(own));
    suite.add("tests", std::move(tests));
    return {suite.take(),          {},       std::move(parts_.servers), parts_.tests.size(),
            parts_.prompts.size(), providers};
  }

 private:
  /// Its messages stand in each test then.
  bool is_conversation() const {
    return parts_.prompts.size() == 1 && !parts_.prompts.front().messages.empty();
  }

  /// The form of the answer that every provider is asked for, which a suite has by test.
  std::optional<DocumentNode> form_of_all() const {
    if (parts_.providers.empty()) return std::nullopt;
    const auto written = [](const ImportedProvider& provider) {
      return provider.response_format ? canonical_json(*provider.response_format) : std::string();
    };
    const std::string first = written(parts_.providers.front());
    const bool is_same = std::ranges::all_of(
        parts_.providers, [&](const ImportedProvider& provider) { return written(provider) == first; });
    if (is_same) return parts_.providers.front().response_format;
    for (const ImportedProvider& provider : parts_.providers) {
      if (provider.response_format)
        from_.note(provider.response_format->line,
                   "\"response_format\" is not that of all providers, and a suite has it by test: left out");
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
        message.add("role", text_of(role)).add("content", text_of(content));
        messages.push_back(message.take());
      };
      if (!prompt.system.empty()) add("system", prompt.system);
      for (const ImportedMessage& message : prompt.messages) add(message.role, message.content);
      node.add("messages", {std::move(messages), 1, {}});
    }
    if (form_) node.add("response_format", *form_);
    return node.take();
  }

  /// Of the whole suite: a variable of the default test is for any test.
  Names all_asked() const {
    Names names = asked_;
    for (const ImportedTest& test : parts_.tests) {
      for (const ImportedCheck& check : test.checks)
        names.insert(check.variables.begin(), check.variables.end());
    }
    return names;
  }

  /// So that tests and checks are not lost with a prompt that a program makes.
  void add_stand_in_prompt() {
    ImportedPrompt prompt;
    prompt.id = "stand-in";
    Names names;
    for (const ImportedTest& test : parts_.tests) {
      for (const auto& [name, value] : test.vars) names.insert(name);
    }
    for (const auto& [name, value] : parts_.default_test.vars) names.insert(name);
    for (const std::string& name : names) {
      if (name.find('.') == std::string::npos) prompt.variables.insert(name);
    }
    const bool is_alone = prompt.variables.size() == 1;
    for (const std::string& name : prompt.variables)
      prompt.prompt += (is_alone ? "" : name + ": ") + "{{" + name + "}}" + (is_alone ? "" : "\n");
    if (prompt.prompt.empty()) prompt.prompt = "Hello!";
    from_.note(
        1,
        "no prompt could be taken over: one that shows the variables stands in \"prompts\"; write yours in "
        "its place");
    parts_.prompts.push_back(std::move(prompt));
  }

  void note(const ImportedTest& test, std::string message) const {
    from_.with(test.file.empty() ? from_.name : test.file).note(test.line, std::move(message));
  }

  void keep_used(ImportedTest& test, const Names& used) {
    for (const auto& [name, value] : test.vars) {
      if (is_lost(name, test))
        note(test, "the variable \"" + name + "\" is used by no prompt and no check: left out");
    }
    std::erase_if(test.vars, [&](const auto& one) { return !used.contains(one.first); });
  }

  /// Nothing shows it, neither whole nor in part nor in the mapping that it is a part of. Of a mapping that
  /// is lost the parts are not named.
  bool is_lost(const std::string& name, const ImportedTest& test) const {
    if (anywhere_.contains(name) || has_used_part(name)) return false;
    for (auto dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
      const std::string mapping = name.substr(0, dot);
      if (anywhere_.contains(mapping)) return false;
      if (test.vars.contains(mapping) && !has_used_part(mapping)) return false;
    }
    return true;
  }

  bool has_used_part(const std::string& mapping) const {
    return std::ranges::any_of(anywhere_,
                               [&](const std::string& name) { return name.starts_with(mapping + "."); });
  }

  /// Templates in values are rendered there too.
  void render_values(ImportedTest& test) const {
    Variables values(test.vars.begin(), test.vars.end());
    values.insert(parts_.default_test.vars.begin(), parts_.default_test.vars.end());
    for (auto& [name, value] : test.vars) {
      if (first_variable(value).empty()) continue;
      const auto parsed = Template::parse(value);
      std::size_t room = defaults::max_rendered_bytes;
      auto rendered = parsed ? parsed->render(values, room) : tl::unexpected(std::vector<TemplateProblem>());
      if (rendered) {
        value = std::move(*rendered);
      } else {
        note(test,
             "the value of \"" + name + "\" holds a template that cannot be rendered: kept as it stands");
      }
    }
  }

  void add_missing_values(ImportedTest& test, const Names& used) const {
    for (const std::string& name : used) {
      if (test.vars.contains(name) || parts_.default_test.vars.contains(name)) continue;
      // A prompt may not be empty.
      const std::string alone = "{{" + name + "}}";
      const bool is_whole_prompt = std::ranges::any_of(parts_.prompts, [&](const ImportedPrompt& prompt) {
        return prompt.prompt == alone ||
               std::ranges::find(prompt.messages, alone, &ImportedMessage::content) != prompt.messages.end();
      });
      note(test,
           "the variable \"" + name + "\" has no value: it is " + (is_whole_prompt ? "a blank" : "empty"));
      test.vars.emplace(name, is_whole_prompt ? " " : "");
    }
  }

  /// Of a score that both have a suite takes the test's own alone.
  void join_default_scores(ImportedTest& test) const {
    std::vector<ImportedCheck> both = test.checks;
    for (const ImportedCheck& check : parts_.default_test.checks) {
      const bool is_shared =
          check.is_scored &&
          std::ranges::any_of(test.checks, [&](const ImportedCheck& own) { return own.type == check.type; });
      if (is_shared) both.push_back(check);
    }
    test.checks =
        with_one_of_each_score(std::move(both), from_.with(test.file.empty() ? from_.name : test.file));
  }

  DocumentNode all_tests() {
    DocumentNode::Array list;
    for (ImportedTest& test : parts_.tests) {
      join_default_scores(test);
      Names used = asked_;
      for (const ImportedCheck& check : test.checks)
        used.insert(check.variables.begin(), check.variables.end());
      render_values(test);
      keep_used(test, used);
      add_missing_values(test, used);
      const std::string id = own_id(test);
      if (test.has_pass_mark && !parts_.default_test.checks.empty())
        note(test, "the checks of the default test must pass beside the \"threshold\" of a test");
      if (test.checks.empty() && test.lost_checks) note_lost_checks(test, id);
      if (test.checks.empty() && parts_.default_test.checks.empty()) add_stand_in_check(test);
      for (const ImportedCheck& check : test.checks) note_graded(check);
      list.push_back(test_node(test, id));
    }
    for (const ImportedCheck& check : parts_.default_test.checks) note_graded(check);
    return {std::move(list), 1, {}};
  }

  void note_graded(const ImportedCheck& check) {
    const MetricInfo* metric = find_metric(check.type);
    if (metric == nullptr) return;
    is_judged_ = is_judged_ || is_judge_metric(metric->id);
    is_embedded_ = is_embedded_ || metric->id == MetricId::semantic_similarity_to;
  }

  /// Once for all tests that a list made of one.
  void note_lost_checks(const ImportedTest& test, const std::string& id) {
    if (!lost_places_.emplace(test.file, test.line).second) return;
    note(test, "of the test \"" + id + "\" no check of its own is left: " +
                   (parts_.default_test.checks.empty() ? "it passes if the answer is not blank"
                                                       : "the default test's alone judge it"));
  }

  void add_stand_in_check(ImportedTest& test) const {
    if (!test.lost_checks)
      note(test, "a test without a check that a suite has: it passes if the answer is not blank");
    OrderedTable check;
    check.add("type", text_of("regex_match")).add("pattern", text_of("\\S"));
    test.checks.push_back({check.take(), "regex_match", false, {}});
  }

  DocumentNode test_node(const ImportedTest& test, const std::string& id) const {
    OrderedTable node;
    node.add("id", text_of(id));
    if (!one_line(test.name).empty()) node.add("name", text_of(one_line(test.name)));
    if (!test.vars.empty() || !asked_.empty()) node.add("vars", vars(test));
    if (is_conversation() || form_) node.add("input", input());
    if (!test.checks.empty()) node.add("expected", expected(test.checks));
    return node.take();
  }

  static DocumentNode vars(const ImportedTest& test) {
    OrderedTable node;
    for (const auto& [name, value] : test.vars) node.add(name, text_of(value));
    return node.take();
  }

  static DocumentNode expected(const std::vector<ImportedCheck>& checks) {
    DocumentNode::Array list;
    for (const ImportedCheck& check : checks) list.push_back(check.expectation);
    return {std::move(list), 1, {}};
  }

  std::string own_id(const ImportedTest& test) {
    constexpr std::size_t longest = 40;
    ++number_;
    std::string id = test.name.empty() ? "test-" + std::to_string(number_) : to_lower(arm_name_of(test.name));
    if (id.size() > longest) id = arm_name_of(id.substr(0, longest));
    if (!ids_.insert(id).second) ids_.insert(id += "-" + std::to_string(number_));
    return id;
  }

  DocumentNode suite_settings() {
    OrderedTable settings;
    if (parts_.repeat) settings.add("repeat", number_of(*parts_.repeat));
    if (is_judged_ && parts_.judge) {
      add_judge(settings);
    } else if (is_judged_) {
      from_.note(
          1,
          "rubrics and references need a model that judges: name one with --judge PROVIDER --judge-model "
          "MODEL, or as \"judge\" and \"judge_model\" in settings");
    }
    if (is_embedded_ && parts_.embedder) {
      use_servers(*parts_.embedder);
      const ImportedProvider& embedder = parts_.embedder->provider;
      settings.add("embedding_provider", text_of(embedder.provider))
          .add("embedding_model", text_of(embedder.model));
    }
    return settings.take();
  }

  void add_judge(OrderedTable& settings) {
    use_servers(*parts_.judge);
    const ImportedProvider& judge = parts_.judge->provider;
    settings.add("judge", text_of(judge.provider)).add("judge_model", text_of(judge.model));
    if (judge.temperature) settings.add("judge_temperature", number_of(*judge.temperature));
    if (judge.max_output_tokens) settings.add("judge_max_tokens", number_of(*judge.max_output_tokens));
    const auto lose = [&](std::uint32_t line, const std::string& what) {
      from_.note(line, "\"" + what + "\" of the provider that grades has no counterpart: left out");
    };
    if (judge.seed) lose(judge.line, "seed");
    for (const DocumentEntry& param : judge.params) lose(param.value.line, param.key);
    if (judge.response_format) lose(judge.response_format->line, "response_format");
  }

  /// Before its provider is named, which may change.
  void use_servers(Grader& grader) {
    add_servers(parts_.servers, std::move(grader.servers), {&grader.provider, 1});
  }

  DocumentNode prompts() const {
    DocumentNode::Array list;
    for (const ImportedPrompt& prompt : parts_.prompts) {
      OrderedTable node;
      node.add("id", text_of(prompt.id));
      if (!prompt.system.empty()) node.add("system", text_of(prompt.system));
      node.add("prompt", text_of(prompt.prompt));
      list.push_back(node.take());
    }
    return {std::move(list), 1, {}};
  }

  /// How many remain. Each is asked by each prompt.
  std::size_t limit_providers() {
    const std::size_t most =
        std::max<std::size_t>(1, defaults::max_arms / std::max<std::size_t>(1, parts_.prompts.size()));
    if (parts_.providers.size() > most) {
      from_.note(parts_.providers[most].line, "more providers with more prompts than a run has arms (" +
                                                  std::to_string(defaults::max_arms) +
                                                  "): those from here on are left out");
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
        from_.note(
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
    if (!names_.insert(name).second) {
      name = arm_name_of(name.substr(0, 56) + "-" + std::to_string(names_.size() + 1));
      names_.insert(name);
    }
    const bool is_short = name == arm_name_of(provider.model) && prompt == nullptr && !provider.temperature &&
                          !provider.max_output_tokens && !provider.seed && provider.params.empty();
    if (is_short) return text_of(provider.provider + ":" + provider.model);
    OrderedTable node;
    node.add("name", text_of(name))
        .add("provider", text_of(provider.provider))
        .add("model", text_of(provider.model));
    if (prompt != nullptr) node.add("prompt", text_of(prompt->id));
    if (provider.temperature) node.add("temperature", number_of(*provider.temperature));
    if (provider.max_output_tokens) node.add("max_output_tokens", number_of(*provider.max_output_tokens));
    if (provider.seed) node.add("seed", number_of(*provider.seed));
    if (!provider.params.empty()) node.add("params", DocumentNode{provider.params, provider.line});
    return node.take();
  }

  DocumentNode default_test() const {
    OrderedTable node;
    if (!parts_.default_test.vars.empty()) node.add("vars", vars(parts_.default_test));
    if (!parts_.default_test.checks.empty()) node.add("expected", expected(parts_.default_test.checks));
    return node.take();
  }

  SuiteParts parts_;
  const ImportFile& from_;
  Names asked_;  ///< What prompts and the default test's checks use.
  std::optional<DocumentNode> form_;
  Names anywhere_;  ///< What any test's checks use besides.
  std::set<std::pair<std::string, std::uint32_t>> lost_places_;
  Names ids_;
  Names names_;
  std::size_t number_ = 0;
  bool is_judged_ = false;
  bool is_embedded_ = false;
};

}  // namespace

ImportedSuite assemble(SuiteParts parts, const ImportFile& from) {
  return Assembly(std::move(parts), from).build();
}

}  // namespace sluice
