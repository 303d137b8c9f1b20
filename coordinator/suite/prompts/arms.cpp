#include "coordinator/suite/prompts/arms.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

bool is_name_character(char c) {
  return is_ascii_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
}

bool is_plain_word(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f;
  });
}

}  // namespace

bool is_arm_name(std::string_view name) {
  return !name.empty() && name.size() <= defaults::max_arm_name_bytes &&
         std::ranges::all_of(name, is_name_character);
}

std::string arm_name_of(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (is_name_character(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  if (name.size() > defaults::max_arm_name_bytes) name.resize(defaults::max_arm_name_bytes);
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "unnamed" : name;
}

std::string not_an_arm_name(std::string_view name) {
  return "must be of letters, digits, \".\", \"_\" and \"-\", at most " +
         std::to_string(defaults::max_arm_name_bytes) + " of them, not \"" +
         excerpt(one_line(to_valid_utf8(name)), defaults::quoted_bytes) + "\"";
}

Result<Arm> parse_arm(std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view target =
      equals != std::string_view::npos ? text.substr(equals + 1) : std::string_view();
  const auto colon = target.find(':');
  const std::string_view provider = target.substr(0, colon);
  const std::string_view model =
      colon != std::string_view::npos ? target.substr(colon + 1) : std::string_view();
  if (name.empty() || !is_plain_word(provider) || !is_plain_word(model)) {
    return fail(Reason::usage_invalid, "must be NAME=PROVIDER:MODEL, such as mini=openai:gpt-5-mini, not \"" +
                                           excerpt(one_line(to_valid_utf8(text)), defaults::quoted_bytes) +
                                           "\"");
  }
  if (!is_arm_name(name)) {
    return fail(Reason::usage_invalid, "begins with the arm's name, which " + not_an_arm_name(name));
  }
  Arm arm;
  arm.name = name;
  arm.provider = provider;
  arm.model = model;
  return arm;
}

Result<Arm> parse_target(std::string_view text) {
  const auto colon = text.find(':');
  Arm arm;
  arm.provider = text.substr(0, colon);
  if (colon != std::string_view::npos) arm.model = text.substr(colon + 1);
  if (is_plain_word(arm.provider) && is_plain_word(arm.model)) return arm;
  return fail(Reason::usage_invalid,
              "must be PROVIDER:MODEL, such as openai:gpt-5-mini, or NAME=PROVIDER:MODEL, not \"" +
                  excerpt(one_line(to_valid_utf8(text)), defaults::quoted_bytes) + "\"");
}

std::vector<Arm> arms_of(const std::vector<PromptVariant>& prompts, const std::vector<Arm>& suite,
                         const std::vector<Arm>& flags) {
  const std::vector<Arm>& named = flags.empty() ? suite : flags;
  if (prompts.empty()) return named;
  std::vector<Arm> arms;
  const auto add = [&](Arm arm, std::size_t prompt) -> Arm& {
    arm.prompt = static_cast<std::uint32_t>(prompt);
    return arms.emplace_back(std::move(arm));
  };
  for (const Arm& arm : named) {
    if (arm.prompt || prompts.size() == 1) {
      add(arm, arm.prompt.value_or(0));
      continue;
    }
    for (std::size_t i = 0; i < prompts.size(); ++i) add(arm, i).name += "/" + prompts[i].id;
  }
  if (!named.empty() || prompts.size() == 1) return arms;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Arm arm;
    arm.name = prompts[i].id;
    arm.where = "prompts";
    add(std::move(arm), i);
  }
  return arms;
}

Result<void> check_arms(const std::vector<Arm>& arms) {
  if (arms.size() > defaults::max_arms) {
    return fail(Reason::usage_invalid, "there are " + std::to_string(arms.size()) +
                                           " arms, each named one with each prompt; " +
                                           std::to_string(defaults::max_arms) + " are the most of a run");
  }
  for (auto arm = arms.begin(); arm != arms.end(); ++arm) {
    const auto same = std::find_if(arms.begin(), arm, [&](const Arm& one) { return one.name == arm->name; });
    if (same == arm) continue;
    return fail(Reason::usage_invalid, "two arms are called \"" + arm->name + "\" (" + same->where + ", " +
                                           arm->where + "): give one of them another name");
  }
  return {};
}

}  // namespace sluice
