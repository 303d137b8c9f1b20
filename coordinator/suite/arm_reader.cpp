#include "coordinator/suite/arm_reader.hpp"

#include "common/settings/setting_values.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/arms.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view example = R"({name: mini, provider: openai, model: gpt-5-mini})";

class ArmReader {
 public:
  ArmReader(const std::vector<PromptVariant>& prompts, const DocumentContext& context)
      : prompts_(prompts), context_(context) {}

  std::vector<Arm> read(const DocumentNode::Array& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      Arm arm = read_one(list[i], "arms[" + std::to_string(i) + "]");
      arm.where = context_.file + ":" + std::to_string(list[i].line);
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
  /// Without a name if it cannot be used.
  Arm read_one(const DocumentNode& node, const std::string& name) {
    if (const auto* text = std::get_if<std::string>(&node.value)) {
      auto arm = parse_arm(*text);
      if (arm) return std::move(*arm);
      context_.add(node.line, name + " " + arm.error().message);
      return {};
    }
    if (std::holds_alternative<DocumentNode::Table>(node.value)) {
      return read_table(context_.reader(node, name));
    }
    context_.add(node.line, name + " must be a mapping, such as " + std::string(example) +
                                ", or a text NAME=PROVIDER:MODEL, not " +
                                std::string(type_name(node, context_.notation)));
    return {};
  }

  Arm read_table(TableReader reader) {
    Arm arm;
    arm.name = reader.word("name", Need::required).value_or("");
    if (!arm.name.empty() && !is_arm_name(arm.name)) reader.add_wrong("name", not_an_arm_name(arm.name));
    arm.provider = reader.word("provider").value_or("");
    arm.model = reader.word("model").value_or("");
    if (const auto prompt = reader.word("prompt")) arm.prompt = find_prompt(reader, *prompt);
    arm.temperature = setting(reader, "temperature", optional_real(0.0, 2.0));
    arm.max_tokens = setting(reader, "max_output_tokens", optional_whole(1, 10'000'000));
    arm.seed = setting(reader, "seed", any_integer());
    if (const DocumentEntry* params = reader.entry("params")) {
      if (auto parsed = parse_params(&params->value)) {
        arm.params = std::move(*parsed);
      } else {
        reader.add_wrong("params", parsed.error());
      }
    }
    reader.finish();
    return arm;
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

  const std::vector<PromptVariant>& prompts_;
  const DocumentContext& context_;
  std::vector<Arm> arms_;
};

}  // namespace

std::vector<Arm> read_arms(const DocumentEntry& entry, const std::vector<PromptVariant>& prompts,
                           const DocumentContext& context) {
  const auto* list = std::get_if<DocumentNode::Array>(&entry.value.value);
  if (list == nullptr || list->empty()) {
    context.add(entry.line, "\"arms\" must be a list of arms, such as " + std::string(example) +
                                (list != nullptr ? ", and not empty" : ""));
    return {};
  }
  return ArmReader(prompts, context).read(*list);
}

}  // namespace sluice
