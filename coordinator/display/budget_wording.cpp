#include "coordinator/display/budget_wording.hpp"

#include "coordinator/display/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace sluice::wording {
namespace {

/// With as many digits as show a rate: 100, 8.3, 0.25.
std::string short_number(double number) {
  std::array<char, 32> buffer{};
  const char* format = number < 9.95 ? "%.2g" : "%.0f";
  std::snprintf(buffer.data(), buffer.size(), format, number);
  return buffer.data();
}

std::string requests_rate(double per_minute) {
  return per_minute < 60.0 ? short_number(per_minute) + "/min" : short_number(per_minute / 60.0) + "/s";
}

// `1/s (configured) and 30,000 tokens/min (announced)`
std::string with_sources(const std::vector<NamedLimit>& limits) {
  std::string text;
  for (const NamedLimit& limit : limits) {
    text += (text.empty()               ? ""
             : &limit == &limits.back() ? " and "
                                        : ", ") +
            rate(limit) + " (" + std::string(to_string(limit.limit.source)) + ")";
  }
  return text;
}

// `3/min, 1 tokens/min`
std::string in_a_row(const std::vector<NamedLimit>& limits) {
  std::string text;
  for (const NamedLimit& limit : limits) text += (text.empty() ? "" : ", ") + rate(limit);
  return text;
}

// Rounded down: 100 % means that nothing was left.
std::string percent(double fraction) {
  return std::to_string(static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 100.0)) + "%";
}

// What a user can do where a limit is not what was thought.
std::string refusals(const BudgetFacts& facts) {
  std::string text = counted(facts.rate_limited, "call") + " refused";
  if (facts.announced_below) {
    text +=
        "; the provider announces " + requests_rate(*facts.announced_below) + ": lower requests_per_minute";
  } else if (facts.found_below_limit) {
    const bool configured = facts.requests && facts.requests->source == LimitSource::configured;
    text += ", as if the limit were " + requests_rate(*facts.found_below_limit);
    if (configured) text += ": lower requests_per_minute";
  } else if (facts.requests ? facts.requests->source == LimitSource::found
                            : facts.effective_per_minute.has_value()) {
    text += ": name requests_per_minute if you know it";
    // A refusal does not say which limit it is of.
    if (!facts.max_in_flight) text += ", or max_in_flight where the provider limits calls at a time";
  } else if (facts.found_concurrency && !facts.requests) {
    text += ": name max_in_flight if you know it";
  }
  return text;
}

}  // namespace

std::string clock(std::chrono::seconds time) {
  const auto whole = static_cast<long long>(time.count());
  std::array<char, 32> buffer{};
  if (whole >= 3600) {
    std::snprintf(buffer.data(), buffer.size(), "%lld:%02lld:%02lld", whole / 3600, whole % 3600 / 60,
                  whole % 60);
  } else {
    std::snprintf(buffer.data(), buffer.size(), "%lld:%02lld", whole / 60, whole % 60);
  }
  return buffer.data();
}

std::vector<NamedLimit> limits_of(const BudgetFacts& facts) {
  std::vector<NamedLimit> limits;
  if (facts.requests) limits.push_back({"requests", *facts.requests});
  if (facts.tokens) limits.push_back({"tokens", *facts.tokens});
  if (facts.input_tokens) limits.push_back({"input_tokens", *facts.input_tokens});
  if (facts.output_tokens) limits.push_back({"output_tokens", *facts.output_tokens});
  return limits;
}

std::vector<NamedLimit> doubted_limits(const wire::AnnouncedLimits& doubted) {
  std::vector<NamedLimit> limits;
  const auto add = [&](std::string_view of, std::uint64_t per_minute) {
    if (per_minute > 0) limits.push_back({of, {static_cast<double>(per_minute), LimitSource::announced}});
  };
  add("requests", doubted.requests_per_minute);
  add("tokens", doubted.tokens_per_minute);
  add("input_tokens", doubted.input_tokens_per_minute);
  add("output_tokens", doubted.output_tokens_per_minute);
  return limits;
}

std::optional<double> burst_seconds(const LearnedLimits& learned) {
  if (!learned.burst || !learned.requests_per_minute) return std::nullopt;
  return *learned.burst / *learned.requests_per_minute * 60;
}

std::vector<std::string> settings_lines(const LearnedLimits& learned) {
  std::vector<std::string> lines;
  if (const auto rate = learned.requests_per_minute) {
    const auto whole = static_cast<std::uint64_t>(std::max(1.0, std::floor(*rate)));
    lines.push_back("requests_per_minute = " + std::to_string(whole));
  }
  if (const auto burst = burst_seconds(learned)) {
    std::array<char, 32> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.3g", *burst);
    lines.push_back("burst_seconds = " + std::string(buffer.data()));
  }
  if (learned.in_flight) lines.push_back("max_in_flight = " + std::to_string(*learned.in_flight));
  return lines;
}

std::string_view to_string(LimitSource source) {
  switch (source) {
    case LimitSource::announced:
      return "announced";
    case LimitSource::found:
      return "found";
    default:
      return "configured";
  }
}

std::string rate(const NamedLimit& limit) {
  if (limit.of == "requests") return requests_rate(limit.limit.per_minute);
  std::string of(limit.of);
  std::ranges::replace(of, '_', ' ');
  return grouped(static_cast<std::uint64_t>(std::llround(limit.limit.per_minute))) + " " + of + "/min";
}

std::string budget_use(const BudgetFacts& facts) {
  const auto limits = limits_of(facts);
  if (limits.empty()) {
    return facts.found_concurrency ? std::to_string(*facts.found_concurrency) + " at a time" : "";
  }
  const bool found = limits.size() == 1 && limits.front().limit.source == LimitSource::found;
  if (found) return "about " + rate(limits.front());
  const std::string of = limits.size() == 1 ? rate(limits.front()) : std::string("its limits");
  return facts.utilisation ? percent(*facts.utilisation) + " of " + of : of;
}

std::string hold(const BudgetFacts& facts) {
  if (facts.given_up) return "given up";
  const auto left_of = [](BootTime time) { return clock(std::chrono::ceil<std::chrono::seconds>(time)); };
  const std::string left = left_of(facts.hold_left);
  if (facts.hold == wire::HoldReason::named_delay) return "paused " + left;
  if (facts.hold != wire::HoldReason::outage) {
    const bool are_wanted =
        facts.waiting_calls > 0 && facts.in_flight + facts.left_behind >= facts.max_in_flight.value_or(0);
    if (facts.left_behind == 0 || !are_wanted) return "";
    return counted(facts.left_behind, "place") + " left by a run that died, free in " +
           left_of(facts.left_behind_for);
  }
  // The time that is left is until one more try, and stays at 0 where nobody has a call to try with.
  if (facts.probing) return "down, being tried";
  return facts.hold_left > BootTime::zero() ? "down, next try in " + left : "down, next try due";
}

std::string notice(const BudgetNotice& notice) {
  const std::string provider = "provider \"" + notice.provider + "\" ";
  const double seconds = std::chrono::duration<double>(notice.after).count();
  switch (notice.event) {
    case BudgetEvent::went_down:
      return provider + "is down: its last calls failed; single calls try whether it is back";
    case BudgetEvent::came_back:
      return provider + "is back after " + duration(seconds);
    case BudgetEvent::was_given_up:
      return provider + "has been down for " + duration(seconds) +
             " (outage_timeout_seconds); what waits for it ends as errors";
    case BudgetEvent::doubts_limits:
      return provider + "announced a limit of " + in_a_row(doubted_limits(notice.doubted)) +
             ", which is not believed unless more answers say the same; set it in the settings if it is true";
    default:
      return provider + "refuses calls (429 or 529)" +
             (notice.after < std::chrono::seconds(1)
                  ? "; fewer are made until it takes them"
                  : ": as it asks, none is made for " + duration(seconds) + ", then as many as it takes");
  }
}

std::vector<BudgetNotice> BudgetNews::take(std::vector<BudgetNotice> notices,
                                           std::span<const BudgetFacts> budgets, BootTime now) {
  std::vector<BudgetNotice> news;
  for (BudgetNotice& one : notices) {
    const bool is_refusal = one.event == BudgetEvent::refuses_calls;
    if (is_refusal || one.event == BudgetEvent::paused) {
      const auto budget = std::ranges::find(budgets, one.provider, &BudgetFacts::provider);
      if (is_refusal && budget != budgets.end() && budget->hold == wire::HoldReason::named_delay)
        one.after = budget->hold_left;
      Pause& told = told_[one.provider];
      if (now < told.until && one.after < 2 * told.length) continue;
      told = {now + one.after, one.after};
    }
    news.push_back(std::move(one));
  }
  return news;
}

std::string budget_summary(const BudgetFacts& facts, std::optional<std::uint64_t> requests) {
  std::string text;
  const auto add = [&](const std::string& part, std::string_view before) {
    text.append(text.empty() ? "" : before).append(part);
  };
  const auto limits = limits_of(facts);
  if (limits.size() == 1) {
    add(budget_use(facts) + " (" + std::string(to_string(limits.front().limit.source)) + ")", "");
  } else if (!limits.empty()) {
    add(facts.utilisation ? percent(*facts.utilisation) + " of " + with_sources(limits)
                          : with_sources(limits),
        "");
  } else if (facts.found_concurrency) {
    add(budget_use(facts) + " (found)", "");
  }
  if (facts.max_in_flight) add("at most " + grouped(*facts.max_in_flight) + " in flight", ", ");
  if (facts.permits_granted > 0) {
    add(counted(facts.permits_granted, "permit"), ", ");
    if (facts.permits_unused > 0) add(grouped(facts.permits_unused) + " unused", ", ");
    // Before a limit is known calls need none; without them permits and requests look wrong.
    const auto with_one = facts.permits_granted - std::min(facts.permits_granted, facts.permits_unused);
    if (requests && *requests > with_one) add(counted(*requests - with_one, "call") + " without one", ", ");
  }
  if (facts.rate_limited > 0) add(refusals(facts), "; ");
  if (facts.doubted != wire::AnnouncedLimits{})
    add("announced " + in_a_row(doubted_limits(facts.doubted)) + ", which was doubted", "; ");
  if (facts.paused_time > BootTime::zero())
    add("paused " + duration(std::chrono::duration<double>(facts.paused_time).count()), "; ");
  if (facts.outage_time > BootTime::zero())
    add("down " + duration(std::chrono::duration<double>(facts.outage_time).count()), "; ");
  if (facts.given_up) add("given up", ", ");
  if (facts.other_runs > 0) add("shared with " + counted(facts.other_runs, "other run"), "; ");
  return text;
}

}  // namespace sluice::wording
