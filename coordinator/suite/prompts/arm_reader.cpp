#include "coordinator/suite/prompts/arm_reader.hpp"

#include "common/defaults.hpp"
#include "common/settings/setting_values.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/prompts/arms.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

/// A list of arms as a suite may have it.
struct ListForm {
  std::string_view key;
  std::string_view text_form;  ///< Of an entry that is a text.
  std::string_view example;    ///< Of one that is a mapping.
  Need name = Need::required;
};
constexpr ListForm arms_form{"arms", "NAME=PROVIDER:MODEL",
                             R"({name: mini, provider: openai, model: gpt-5-mini})", Need::required};
constexpr ListForm providers_form{"providers", "PROVIDER:MODEL", R"({provider: openai, model: gpt-5-mini})",
                                  Need::optional};

/// What other tools put between a provider and its model.
bool names_endpoint(std::string_view model) {
  constexpr std::array<std::string_view, 5> endpoints{
      "chat:", "responses:", "completion:", "messages:", "embedding:"};
  return std::ranges::any_of(endpoints, [&](std::string_view one) { return model.starts_with(one); });
}

class ArmReader {
 public:
  ArmReader(const ListForm& form, const std::vector<PromptVariant>& prompts, const DocumentContext& context)
      : form_(form), prompts_(prompts), context_(context) {}

  std::vector<Arm> read(const DocumentNode::Array& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string entry = std::string(form_.key) + "[" + std::to_string(i) + "]";
      Arm arm = read_one(list[i], entry);
      arm.where = context_.file + ":" + std::to_string(list[i].line);
      if (arm.name.empty() && form_.name == Need::optional) {
        if (is_repeated(arm, entry, list[i].line)) continue;
        arm.name = name_for(arm);
      }
      if (arm.name.empty()) continue;
      const auto same = std::ranges::find(arms_, arm.name, &Arm::name);
      if (same != arms_.end()) {
        context_.add(list[i].line, "the arm \"" + arm.name + "\" is named already (" + same->where +
                                       "): give it another name");
      }
      arms_.push_back(std::move(arm));
    }
    return std::move(arms_);
  }

 private:
  /// Whether an entry without a name says what another one does. A name shows that both are meant.
  bool is_repeated(const Arm& arm, const std::string& entry, std::uint32_t line) {
    const auto same = std::ranges::find_if(unnamed_, [&](const auto& before) {
      Arm other = before.second;
      other.where = arm.where;
      return other == arm;
    });
    if (same == unnamed_.end()) {
      if (!arm.provider.empty() || !arm.model.empty()) unnamed_.emplace_back(entry, arm);
      return false;
    }
    context_.add(line, entry + " is the same as " + same->first + " (" + same->second.where +
                           "): leave one of them out; to ask the model several times, use --repeat");
    return true;
  }

  /// Empty if the arm says nothing by which it could be called: then it has a finding.
  std::string name_for(const Arm& arm) const {
    if (arm.model.empty() && arm.provider.empty()) return "";
    const std::string name = arm_name_of(arm.model.empty() ? arm.provider : arm.model);
    const bool is_taken = std::ranges::find(arms_, name, &Arm::name) != arms_.end();
    return is_taken ? arm_name_of(arm.provider + "-" + arm.model) : name;
  }

  Result<Arm> parse(const std::string& text) const {
    const bool has_name =
        form_.name == Need::required || text.substr(0, text.find(':')).find('=') != text.npos;
    auto arm = has_name ? parse_arm(text) : parse_target(text);
    if (!arm || !names_endpoint(arm->model)) return arm;
    const std::string model = arm->model.substr(arm->model.find(':') + 1);
    return fail(Reason::usage_invalid, "names an endpoint before the model: write " + arm->provider + ":" +
                                           excerpt(model, defaults::quoted_bytes));
  }

  /// Without a name if it cannot be used.
  Arm read_one(const DocumentNode& node, const std::string& name) {
    if (const auto* text = std::get_if<std::string>(&node.value)) {
      auto arm = parse(*text);
      if (arm) return std::move(*arm);
      context_.add(node.line, name + " " + arm.error().message);
      return {};
    }
    if (std::holds_alternative<DocumentNode::Table>(node.value)) {
      return read_table(context_.reader(node, name));
    }
    context_.add(node.line, name + " must be a mapping, such as " + std::string(form_.example) +
                                ", or a text " + std::string(form_.text_form) + ", not " +
                                std::string(type_name(node, context_.notation)));
    return {};
  }

  Arm read_table(TableReader reader) {
    Arm arm;
    arm.name = reader.word("name", form_.name).value_or("");
    if (!arm.name.empty() && !is_arm_name(arm.name)) reader.add_wrong("name", not_an_arm_name(arm.name));
    arm.provider = reader.word("provider").value_or("");
    arm.model = reader.word("model").value_or("");
    if (const auto prompt = reader.word("prompt")) arm.prompt = find_prompt(reader, *prompt);
    arm.temperature = setting(reader, "temperature", optional_real(0.0, 2.0));
    arm.max_tokens = setting(reader, "max_output_tokens", optional_whole(1, 10'000'000));
    arm.seed = setting(reader, "seed", any_integer());
    if (const DocumentEntry* params = reader.entry("params")) {
      if (auto parsed = parse_params_in(&params->value, context_.notation)) {
        arm.params = std::move(*parsed);
      } else {
        reader.add_wrong("params", parsed.error());
      }
    }
    if (form_.name == Need::optional) refuse_foreign_keys(reader);
    reader.finish();
    return arm;
  }

  /// What promptfoo's providers say otherwise, each by its name here; and an entry that says nothing.
  static void refuse_foreign_keys(TableReader& reader) {
    bool has_any = reader.entry("provider") != nullptr || reader.entry("model") != nullptr;
    const auto refuse = [&](std::string_view key, std::string_view what) {
      if (reader.refused_entry(key) == nullptr) return;
      reader.add_wrong(key, what);
      has_any = true;
    };
    refuse("id", "is said as \"provider\" and \"model\", or as a text PROVIDER:MODEL");
    refuse("label", "is called \"name\"");
    refuse("config", "is not needed: what it holds stands beside \"model\"");
    if (!has_any)
      reader.add_missing({"provider", "model"}, "missing \"provider\" and \"model\": expected one of them");
  }

  std::optional<std::uint32_t> find_prompt(TableReader& reader, const std::string& id) const {
    const auto found = std::ranges::find(prompts_, id, &PromptVariant::id);
    if (found != prompts_.end()) return static_cast<std::uint32_t>(found - prompts_.begin());
    std::vector<std::string> ids;
    for (const PromptVariant& one : prompts_) ids.push_back(one.id);
    const std::vector<std::string_view> candidates(ids.begin(), ids.end());
    std::string advice = did_you_mean(id, candidates);
    if (advice.empty()) advice = ids.empty() ? "; it has none" : "; there are " + quoted_list(ids);
    reader.add_wrong("prompt", "names \"" + excerpt(id, defaults::quoted_bytes) +
                                   "\", which is no id of the suite's \"prompts\"" + advice);
    return std::nullopt;
  }

  /// As the setting of the same name is read.
  template <class T>
  static std::optional<T> setting(TableReader& reader, std::string_view key,
                                  const Parser<std::optional<T>>& parser) {
    const DocumentEntry* entry = reader.entry(key);
    if (entry == nullptr) return std::nullopt;
    const auto value = parser(&entry->value);
    if (value) return *value;
    reader.add_wrong(key, value.error());
    return std::nullopt;
  }

  const ListForm& form_;
  const std::vector<PromptVariant>& prompts_;
  const DocumentContext& context_;
  std::vector<std::pair<std::string, Arm>> unnamed_;  ///< With their entries.
  std::vector<Arm> arms_;
};

std::vector<Arm> read_list(const ListForm& form, const DocumentEntry& entry,
                           const std::vector<PromptVariant>& prompts, const DocumentContext& context) {
  const auto* list = std::get_if<DocumentNode::Array>(&entry.value.value);
  if (list == nullptr || list->empty()) {
    context.add(entry.line, "\"" + std::string(form.key) + "\" must be a list of " + std::string(form.key) +
                                ", such as " + std::string(form.example) +
                                (list != nullptr ? ", and not empty" : ""));
    return {};
  }
  // Each is compared with each.
  if (constexpr std::size_t most_compared = 1'000; list->size() > most_compared) {
    context.add(entry.line, "\"" + std::string(form.key) + "\" has " + std::to_string(list->size()) +
                                " entries, and a run has at most " + std::to_string(defaults::max_arms) +
                                " arms: leave the others out");
    return {};
  }
  return ArmReader(form, prompts, context).read(*list);
}

}  // namespace

std::vector<Arm> read_arms(const DocumentEntry& arms, const std::vector<PromptVariant>& prompts,
                           const DocumentContext& context) {
  return read_list(arms_form, arms, prompts, context);
}

std::vector<Arm> read_providers(const DocumentEntry& providers, const std::vector<PromptVariant>& prompts,
                                const DocumentContext& context) {
  return read_list(providers_form, providers, prompts, context);
}

}  // namespace sluice
