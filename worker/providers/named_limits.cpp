#include "worker/providers/named_limits.hpp"

#include "common/text/number.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <string>

namespace sluice {

namespace {

/// A run could use up what a longer one allows at once, and mostly does not come to it.
constexpr std::uint64_t longest_window_seconds = 300;

bool names_tokens(std::string_view text) {
  return to_lower(text).find("token") != std::string::npos;
}

/// Takes off what stands before the next `separator` outside of quotation marks.
std::string_view take_part(std::string_view& text, char separator) {
  bool is_quoted = false;
  std::size_t end = 0;
  for (; end < text.size() && (is_quoted || text[end] != separator); ++end) {
    if (text[end] == '"') is_quoted = !is_quoted;
  }
  const auto part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// `10;w=1`, or `"burst";q=10;w=1`, where `qu` may name another unit than requests.
std::optional<NamedLimit> read_policy(std::string_view policy) {
  const auto name = take_part(policy, ';');
  bool of_tokens = names_tokens(name);
  auto quota = announced_count(name);
  std::optional<std::uint64_t> seconds;
  while (!policy.empty()) {
    const auto parameter = take_part(policy, ';');
    if (parameter.starts_with("q=")) quota = announced_count(parameter.substr(2));
    if (parameter.starts_with("w=")) seconds = announced_count(parameter.substr(2));
    if (!parameter.starts_with("qu=") || parameter == R"(qu="requests")") continue;
    of_tokens = names_tokens(parameter);
    if (!of_tokens) return std::nullopt;
  }
  if (!quota || !seconds || *seconds > longest_window_seconds) return std::nullopt;
  return NamedLimit{of_tokens, *quota, *seconds};
}

/// `req-minute` and its like, as they follow `x-ratelimit-limit-`.
std::optional<NamedLimit> read_named(std::string_view what, std::string_view value) {
  const auto quota = announced_count(value);
  const auto dash = what.find('-');
  if (!quota || dash == std::string_view::npos) return std::nullopt;
  const auto quantity = what.substr(0, dash);
  const auto window = what.substr(dash + 1);
  const std::uint64_t seconds = window == "second" ? 1 : window == "minute" ? 60 : 0;
  const bool of_tokens = quantity == "tokens";
  if (seconds == 0 || (!of_tokens && quantity != "req" && quantity != "requests")) return std::nullopt;
  return NamedLimit{of_tokens, *quota, seconds};
}

}  // namespace

std::optional<std::uint64_t> announced_count(std::string_view text) {
  const auto number = number_from<std::uint64_t>(text);
  return number && *number > 0 && *number <= defaults::most_announced ? number : std::nullopt;
}

std::vector<NamedLimit> named_limits(const HttpHeaders& headers) {
  constexpr std::string_view of_one = "x-ratelimit-limit-";
  std::vector<NamedLimit> limits;
  const auto take = [&limits](const std::optional<NamedLimit>& limit) {
    if (limit) limits.push_back(*limit);
  };
  for (const auto& [name, value] : headers) {
    std::string_view field = name;
    if (field.starts_with(of_one)) take(read_named(field.substr(of_one.size()), value));
    if (field.starts_with("x-")) field.remove_prefix(2);
    if (field != "ratelimit-policy" && field != "ratelimit-limit") continue;
    std::string_view policies = value;
    while (!policies.empty()) take(read_policy(take_part(policies, ',')));
  }
  return limits;
}

}  // namespace sluice
