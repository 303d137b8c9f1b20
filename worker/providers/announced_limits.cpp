#include "worker/providers/announced_limits.hpp"

#include "common/defaults.hpp"
#include "worker/defaults.hpp"
#include "worker/providers/retry_hints.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

namespace {

constexpr double minute_seconds = 60;

/// Above zero, or nothing.
std::optional<std::uint64_t> count_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number == 0 || number > defaults::most_announced) return std::nullopt;
  return number;
}

bool about(double left, double right) {
  return std::abs(left - right) <= defaults::window_tolerance * right;
}

/// An hour or a day in minutes; nothing if it is neither.
std::optional<double> long_window(double seconds) {
  for (const double minutes : {60.0, 1440.0}) {
    if (about(seconds, minutes * minute_seconds)) return minutes;
  }
  return std::nullopt;
}

}  // namespace

struct AnnouncedLimitReader::OpenAiHeaders {
  std::string_view limit;
  std::string_view remaining;
  std::string_view reset;
};

void CredibleLimit::take(std::uint64_t limit, std::uint64_t least) {
  const bool fell = limit * defaults::suspicious_fall < believed_;
  if (limit >= least && limit >= defaults::least_announced && !fell) {
    believed_ = limit;
    doubted_ = 0;
    return;
  }
  if (limit == believed_) return;
  agreed_ = limit == doubted_ ? agreed_ + 1 : 1;
  doubted_ = limit;
  if (limit < least || agreed_ < defaults::doubted_answers) return;
  believed_ = limit;
  doubted_ = 0;
}

/// What the headers come to a minute; 0: nothing yet.
std::uint64_t AnnouncedLimitReader::read_openai(const OpenAiHeaders& headers, Window& window) {
  const auto limit = count_in(headers.limit);
  if (!limit) return 0;
  if (*limit != window.limit) window = Window{*limit};
  if (window.minutes == 0) {
    const auto remaining = headers.remaining == "0" ? 0 : count_in(headers.remaining);
    const auto reset = parse_delay(headers.reset);
    if (remaining && *remaining >= *limit) return 0;  // Nothing is used yet: no window follows from it.
    const std::uint64_t used = remaining ? *limit - *remaining : 0;
    const double seconds = used > 0 && reset ? static_cast<double>(reset->count()) / 1000.0 *
                                                   static_cast<double>(*limit) / static_cast<double>(used)
                                             : 0;
    if (seconds < 2 * minute_seconds) {
      window.minutes = 1;
    } else if (window.first_seconds == 0) {
      window.first_seconds = seconds;
      window.first_used = used;
    } else if (used != window.first_used) {
      // A window of fixed length that is about to end looks like a long one, but not twice the same.
      const bool agree = about(seconds, window.first_seconds);
      window.minutes = agree ? long_window(seconds).value_or(1) : 1;
    }
  }
  if (window.minutes == 0) return 0;
  const double exact = static_cast<double>(*limit) / window.minutes;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(exact));
}

wire::AnnouncedLimits AnnouncedLimitReader::limits() const {
  return {requests_.believed(), tokens_.believed(), input_tokens_.believed(), output_tokens_.believed()};
}

wire::AnnouncedLimits AnnouncedLimitReader::doubted() const {
  return {requests_.doubted(), tokens_.doubted(), input_tokens_.doubted(), output_tokens_.doubted()};
}

bool AnnouncedLimitReader::read(const HttpHeaders& headers) {
  constexpr std::string_view openai = "x-ratelimit-";
  constexpr std::string_view anthropic = "anthropic-ratelimit-";
  const auto before = std::pair(limits(), doubted());
  const auto take_tokens = [](CredibleLimit& limit, std::uint64_t named) {
    if (named > 0) limit.take(named, defaults::least_token_limit);
  };
  OpenAiHeaders request_group;
  OpenAiHeaders token_group;
  for (const auto& [name, value] : headers) {
    std::string_view field = name;
    if (field.starts_with(openai)) {
      field.remove_prefix(openai.size());
      auto& group = field.ends_with("-requests") ? request_group : token_group;
      if (field == "limit-requests" || field == "limit-tokens") group.limit = value;
      if (field == "remaining-requests" || field == "remaining-tokens") group.remaining = value;
      if (field == "reset-requests" || field == "reset-tokens") group.reset = value;
    } else if (field.starts_with(anthropic)) {
      field.remove_prefix(anthropic.size());
      const auto limit = count_in(value);
      if (!limit) continue;
      if (field == "requests-limit") requests_.take(*limit, 0);
      if (field == "tokens-limit") take_tokens(tokens_, *limit);
      if (field == "input-tokens-limit") take_tokens(input_tokens_, *limit);
      if (field == "output-tokens-limit") take_tokens(output_tokens_, *limit);
    }
  }
  if (const auto limit = read_openai(request_group, request_window_); limit > 0) requests_.take(limit, 0);
  take_tokens(tokens_, read_openai(token_group, token_window_));
  return std::pair(limits(), doubted()) != before;
}

bool ModelLimits::read(const std::string& model, const HttpHeaders& headers) {
  if (!models_[model].read(headers)) return false;
  const auto before = std::pair(std::exchange(smallest_, {}), std::exchange(doubted_, {}));
  const auto take = [](wire::AnnouncedLimits& smallest, const wire::AnnouncedLimits& limits) {
    for (const auto field :
         {&wire::AnnouncedLimits::requests_per_minute, &wire::AnnouncedLimits::tokens_per_minute,
          &wire::AnnouncedLimits::input_tokens_per_minute,
          &wire::AnnouncedLimits::output_tokens_per_minute}) {
      const auto limit = limits.*field;
      if (limit > 0 && (smallest.*field == 0 || limit < smallest.*field)) smallest.*field = limit;
    }
  };
  for (const auto& [name, reader] : models_) {
    take(smallest_, reader.limits());
    take(doubted_, reader.doubted());
  }
  return std::pair(smallest_, doubted_) != before;
}

}  // namespace sluice
