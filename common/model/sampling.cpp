#include "common/model/sampling.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sluice {
namespace {

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

/// A version's number of at most two digits; a longer one is a date.
std::optional<int> take_number(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  if (end == 0 || end > 2) return std::nullopt;
  int number = 0;
  std::from_chars(text.data(), text.data() + end, number);
  text.remove_prefix(end);
  return number;
}

/// Of what follows `claude-`: `opus-4-7`, `sonnet-5`, `opus-4.7`.
bool claude_takes_temperature(std::string_view rest) {
  const std::string_view family = rest.substr(0, rest.find('-'));
  rest.remove_prefix(std::min(family.size() + 1, rest.size()));
  const auto major = take_number(rest);
  const bool is_old = !family.empty() && family.front() <= '9';  // claude-3-5-haiku
  if (!major || is_old) return true;
  if (*major != 4 || family != "opus") return *major < 5;
  const bool has_minor = take(rest, "-") || take(rest, ".");
  return !has_minor || take_number(rest).value_or(0) < 7;
}

bool gpt_takes_temperature(std::string_view rest) {
  if (rest.find("-search-preview") != rest.npos) return false;
  const std::string_view after = rest;
  auto version = take_number(rest);
  if (!version || rest.starts_with('k')) return true;  // gpt-oss, gpt-16k
  if (*version >= 10) version = after.front() - '0';   // gpt-41 is 4.1, as Azure writes it.
  return *version < 5 || after.starts_with("5-chat");  // That one does not think.
}

}  // namespace

bool takes_temperature(std::string_view model) {
  if (const auto slash = model.rfind('/'); slash != model.npos) model.remove_prefix(slash + 1);
  take(model, "ft:");
  // Bedrock's ids: us.anthropic.claude-opus-4-7
  for (const std::string_view maker : {"anthropic.", "openai.", "databricks-"}) {
    if (const auto at = model.find(maker); at != model.npos) model.remove_prefix(at + maker.size());
  }
  if (take(model, "gpt-")) return gpt_takes_temperature(model);
  if (take(model, "claude-")) return claude_takes_temperature(model);
  std::string_view rest = model;
  if (!take(rest, "o")) return true;
  const auto generation = take_number(rest);
  return !generation || !(rest.empty() || rest.front() == '-' || rest.front() == ':');
}

double steadiest_temperature(std::string_view model) {
  return takes_temperature(model) ? 0.0 : 1.0;
}

}  // namespace sluice
