#include "coordinator/gate/judge_family.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view openai_family = "gpt";

std::string listed(std::span<const std::string> arms) {
  std::string text;
  for (const std::string& arm : arms) text += (text.empty() ? "`" : ", `") + arm + "`";
  return text;
}

}  // namespace

std::string model_family(std::string_view provider, std::string_view model) {
  if (provider == to_string(ProviderKind::anthropic)) return "claude";
  if (provider == to_string(ProviderKind::gemini)) return "gemini";
  // Servers of all makes have this format: the name alone says whose model it is.
  model.remove_prefix(std::min(model.find_last_of('/') + 1, model.size()));
  std::string family;
  for (const char c : model) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower < 'a' || lower > 'z') break;
    family += lower;
  }
  if (family == "o" || family == "chatgpt") return std::string(openai_family);
  return family.empty() ? std::string(model) : family;
}

std::optional<GateNotice> judge_family_notice(const JudgeIdentity& judge,
                                              std::span<const AnsweringModel> models) {
  if (judge.provider.empty() || judge.is_fake()) return std::nullopt;
  const std::string family = model_family(judge.provider, judge.model);
  std::vector<std::string> own;
  std::vector<std::string> others;
  for (const AnsweringModel& one : models) {
    const bool is_own = model_family(to_string(one.provider), one.model) == family;
    (is_own ? own : others).push_back(one.arm.empty() ? one.model : one.arm);
  }
  if (own.empty()) return std::nullopt;
  const bool has_arms = !models.front().arm.empty();
  if (has_arms && others.empty()) return std::nullopt;
  std::string message = "the judge " + judge.in_words() + " is of one family (" + family + ") with ";
  if (has_arms) {
    message += "the arm" + std::string(own.size() > 1 ? "s " : " ") + listed(own) + " and not with " +
               listed(others) +
               ": judges tend to favour what their own kind writes, so compare these arms with a judge of "
               "another family.";
  } else {
    message += "the model that it judges, " + own.front() +
               ": judges tend to favour what their own kind writes, so have a model of another family "
               "judge.";
  }
  return GateNotice{GateNotice::Severity::info, "judge_family", std::move(message), true, "Judge"};
}

}  // namespace sluice
