#include "worker/providers/announced_limits.hpp"

#include "common/defaults.hpp"
#include "worker/defaults.hpp"
#include "worker/providers/named_limits.hpp"
#include "worker/providers/retry_hints.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

namespace {

constexpr double minute_seconds = 60;

bool about(double left, double right) {
  return std::abs(left - right) <= defaults::window_tolerance * right;
}

/// An hour or a day, if it is about either; else a minute.
double long_window(double seconds) {
  for (const double length : {60 * minute_seconds, 1440 * minute_seconds}) {
    if (about(seconds, length)) return length;
  }
  return minute_seconds;
}

std::uint64_t a_minute(const NamedLimit& limit) {
  return std::max<std::uint64_t>(1, limit.quota * 60 / limit.seconds);
}

/// The least that headers name of a quantity, a minute; 0: none. `unclear` is a limit that does not say of
/// which time it is, and what that came to: it counts where no other header names the time of the same one.
std::uint64_t least_a_minute(const std::vector<NamedLimit>& named, bool of_tokens,
                             std::optional<std::uint64_t> unclear, std::uint64_t came_to) {
  std::uint64_t least = 0;
  bool is_named = false;
  for (const auto& limit : named) {
    if (limit.of_tokens != of_tokens) continue;
    is_named = is_named || limit.quota == unclear;
    if (least == 0 || a_minute(limit) < least) least = a_minute(limit);
  }
  if (is_named || came_to == 0) return least;
  return least == 0 ? came_to : std::min(least, came_to);
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

/// One use is over within a second, where a minute's limit takes a minute / limit for it, or the rest of the
/// minute: so are only those of a second, again and again.
void AnnouncedLimitReader::follow_seconds(Window& window, std::uint64_t used, double reset_seconds) {
  constexpr double clearly_no_minute = minute_seconds / 4;
  if (reset_seconds > 1) {
    window.seconds_seen = 0;
    if (window.seconds == 1) window.seconds = minute_seconds;
    return;
  }
  const double fills_in = reset_seconds * static_cast<double>(window.limit);
  if (used != 1 || reset_seconds == 0 || fills_in > clearly_no_minute) return;
  if (++window.seconds_seen >= defaults::doubted_answers) window.seconds = 1;
}

/// What the headers come to a minute; 0: nothing yet.
std::uint64_t AnnouncedLimitReader::read_openai(const OpenAiHeaders& headers, Window& window) {
  const auto limit = announced_count(headers.limit);
  if (!limit) return 0;
  if (*limit != window.limit) window = Window{*limit};
  const auto remaining = headers.remaining == "0" ? 0 : announced_count(headers.remaining);
  const auto reset = parse_delay(headers.reset);
  const std::uint64_t used = remaining && *remaining < *limit ? *limit - *remaining : 0;
  const double reset_seconds = reset ? static_cast<double>(reset->count()) / 1000.0 : 0;
  if (window.seconds == 0) {
    if (remaining && used == 0) return 0;  // Nothing is used yet: no window follows from it.
    const double seconds =
        used > 0 ? reset_seconds * static_cast<double>(*limit) / static_cast<double>(used) : 0;
    if (seconds < 2 * minute_seconds) {
      window.seconds = minute_seconds;
    } else if (window.first_seconds == 0) {
      window.first_seconds = seconds;
      window.first_used = used;
    } else if (used != window.first_used) {
      // A window of fixed length that is about to end looks like a long one, but not twice the same.
      const bool agree = about(seconds, window.first_seconds);
      window.seconds = agree ? long_window(seconds) : minute_seconds;
    }
  }
  follow_seconds(window, used, reset_seconds);
  if (window.seconds == 0) return 0;
  const double exact = static_cast<double>(*limit) * minute_seconds / window.seconds;
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
  const auto take_requests = [this](std::uint64_t named) {
    if (named == 0) return;
    are_requests_in_headers_ = true;
    requests_.take(named, 0);
  };
  const auto take_tokens = [this](CredibleLimit& limit, std::uint64_t named) {
    if (named == 0) return;
    are_tokens_in_headers_ = true;
    limit.take(named, defaults::least_token_limit);
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
      const auto limit = announced_count(value);
      if (!limit) continue;
      if (field == "requests-limit") take_requests(*limit);
      if (field == "tokens-limit") take_tokens(tokens_, *limit);
      if (field == "input-tokens-limit") take_tokens(input_tokens_, *limit);
      if (field == "output-tokens-limit") take_tokens(output_tokens_, *limit);
    }
  }
  const auto named = named_limits(headers);
  const auto least = [&](bool of_tokens, const OpenAiHeaders& group, Window& window) {
    return least_a_minute(named, of_tokens, announced_count(group.limit), read_openai(group, window));
  };
  take_requests(least(false, request_group, request_window_));
  take_tokens(tokens_, least(true, token_group, token_window_));
  return std::pair(limits(), doubted()) != before;
}

bool AnnouncedLimitReader::take(const NamedLimit& limit) {
  if (limit.of_tokens ? are_tokens_in_headers_ : are_requests_in_headers_) return false;
  const auto before = std::pair(limits(), doubted());
  limit.of_tokens ? tokens_.take(a_minute(limit), defaults::least_token_limit)
                  : requests_.take(a_minute(limit), 0);
  return std::pair(limits(), doubted()) != before;
}

bool ModelLimits::read(const std::string& model, const HttpHeaders& headers) {
  return models_[model].read(headers) && follow_models();
}

bool ModelLimits::take(const std::string& model, const NamedLimit& limit) {
  return models_[model].take(limit) && follow_models();
}

bool ModelLimits::follow_models() {
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
