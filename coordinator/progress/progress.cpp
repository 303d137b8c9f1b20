#include "coordinator/progress/progress.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/display/budget_wording.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

std::string rate_text(double per_second) {
  std::array<char, 32> buffer{};
  const char* format = per_second < 9.95 ? "%.1f/s" : "%.0f/s";
  std::snprintf(buffer.data(), buffer.size(), format, per_second);
  return buffer.data();
}

std::uint64_t percent(const ProgressState& state) {
  // Rounded down: 100 % means that nothing is left.
  return state.total == 0 ? 100 : std::min(state.done, state.total) * 100 / state.total;
}

std::string bar(const ProgressState& state, std::size_t width) {
  const std::size_t filled =
      state.total == 0 ? width : std::min(state.done, state.total) * width / state.total;
  std::string out;
  for (std::size_t i = 0; i < width; ++i) out += i < filled ? "━" : "─";
  return out;
}

constexpr int bar_rank = 6;
/// By the terminal alone: one that took what the counts leave would jump with them.
std::size_t bar_columns(std::size_t terminal) {
  return terminal < 120 ? 8 : 16;
}

std::uint32_t connected_workers(const ProgressState& state) {
  return state.workers + state.unfit_workers;
}

std::string workers_in_words(const ProgressState& state) {
  const std::uint32_t connected = connected_workers(state);
  const std::uint32_t at_work = state.workers - std::min(state.idle_workers, state.workers);
  std::string words = wording::counted(connected, "worker");
  // A run's only worker has no work for a moment now and then.
  const bool differ = at_work < connected && (connected > 1 || state.unfit_workers > 0);
  if (differ) words += ", " + std::to_string(at_work) + " at work";
  return words;
}

// A piece of the line; the piece with the greatest rank is left out first, rank 0 never.
struct Piece {
  int rank = 0;
  std::string text;
  std::string_view colour;
};

std::string with_waiting(const BudgetFacts& budget) {
  if (budget.waiting_calls == 0) return "";
  return " (" + std::to_string(budget.waiting_calls) + (budget.waiting_calls == 1 ? " waits)" : " wait)");
}

/// For how long the provider's oldest call is out, if that is clearly longer than what answers take; else
/// empty.
std::string late_call(const BudgetFacts& budget) {
  const auto late = std::max(std::chrono::duration_cast<BootTime>(defaults::clearly_late),
                             defaults::late_latencies * budget.mean_latency);
  if (budget.oldest_call < late) return "";
  return wording::clock(std::chrono::floor<std::chrono::seconds>(budget.oldest_call));
}

/// Where no limit is known: how many calls may be in flight, as far as somebody may wonder.
std::string places_in_use(const BudgetFacts& budget) {
  const bool is_told = budget.found_concurrency || budget.waiting_calls > 0;
  if (!is_told || budget.places == 0 || !wording::limits_of(budget).empty()) return "";
  return std::to_string(budget.places) + " at a time";
}

/// While the number is searched for it may be another than the one that was found.
std::string use_now(const BudgetFacts& budget) {
  std::string places = places_in_use(budget);
  return places.empty() ? wording::budget_use(budget) : places;
}

std::vector<Piece> pieces_of(const ProgressState& state, std::size_t columns) {
  std::vector<Piece> pieces;
  const auto add = [&](int rank, std::string text, std::string_view colour = "") {
    pieces.push_back({rank, std::move(text), colour});
  };
  add(bar_rank, bar(state, bar_columns(columns)));
  add(0, std::to_string(state.done) + "/" + std::to_string(state.total) + (state.cases ? " trials" : ""));
  add(13, std::to_string(percent(state)) + "%");
  if (state.is_assessed) {
    add(5, "✓ " + std::to_string(state.passed), ansi::green);
    add(1, "✗ " + std::to_string(state.failed), state.failed > 0 ? ansi::red : "");
    if (state.is_gated) add(16, "before the gate");
  } else {
    add(5, "✓ " + std::to_string(state.passed + state.failed) + " answered", ansi::green);
  }
  if (state.perturbed > 0) add(6, std::to_string(state.perturbed) + " perturbed");
  add(1, "! " + std::to_string(state.errors), state.errors > 0 ? ansi::red : "");
  for (const BudgetFacts& budget : state.budgets) {
    const std::string hold = wording::hold(budget);
    if (!hold.empty()) add(2, budget.provider + " " + hold + with_waiting(budget), ansi::yellow);
  }
  if (state.waits_for_budget) add(2, "rest of the budget reserved", ansi::yellow);
  if (state.remaining) add(4, "ETA " + wording::clock(*state.remaining));
  if (state.stalled) add(4, "no result for " + wording::clock(*state.stalled), ansi::yellow);
  for (const BudgetFacts& budget : state.budgets) {
    const std::string out = late_call(budget);
    const std::string whose = state.budgets.size() > 1 ? budget.provider + " " : "";
    if (!out.empty()) add(5, whose + "oldest call " + out, ansi::yellow);
  }
  if (state.per_second) add(8, rate_text(*state.per_second));
  for (const BudgetFacts& budget : state.budgets) {
    const std::string use = use_now(budget);
    const bool holds = !wording::hold(budget).empty();
    if (!use.empty()) {
      add(7, budget.provider + " " + use + (holds ? "" : with_waiting(budget)));
    } else if (!holds && budget.waiting_calls > 0) {
      add(7, budget.provider + with_waiting(budget));
    }
  }
  for (const BudgetFacts& budget : state.budgets) {
    if (budget.backing_off_calls > 0)
      add(8, budget.provider + " " + std::to_string(budget.backing_off_calls) + " to retry", ansi::yellow);
  }
  // Workers go as soon as nothing is left to do.
  if (state.done < state.total) {
    add(10, std::to_string(state.in_flight) + " in flight");
    if (state.in_check > 0) add(9, std::to_string(state.in_check) + " in check");
    const bool some_are_awaited = state.expected_workers > 0;
    add(11,
        some_are_awaited ? std::to_string(connected_workers(state)) + " of " +
                               std::to_string(state.expected_workers) + " workers"
                         : workers_in_words(state),
        state.workers == 0 || some_are_awaited ? ansi::red : "");
  }
  if (state.cost) add(12, wording::dollars(*state.cost));
  if (state.waiting > 0) add(15, std::to_string(state.waiting) + " queued");
  if (state.rate_limited > 0) add(14, std::to_string(state.rate_limited) + "× rate-limited", ansi::yellow);
  std::uint64_t timed_out = 0;
  for (const BudgetFacts& budget : state.budgets) timed_out += budget.timed_out;
  if (timed_out > 0) add(14, std::to_string(timed_out) + "× timed out", ansi::yellow);
  return pieces;
}

std::string in_words(const BudgetFacts& budget) {
  std::string words;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) words += (words.empty() ? "; " + budget.provider + ": " : ", ") + part;
  };
  const std::string places = places_in_use(budget);
  add(places.empty() ? wording::budget_use(budget) : "at most " + places + " now");
  add(wording::hold(budget));
  if (budget.waiting_calls > 0) {
    const bool several = budget.waiting_workers > 1;
    add(wording::counted(budget.waiting_calls, places.empty() ? "call" : "more call") +
        (several ? " of " + std::to_string(budget.waiting_workers) + " workers waiting" : " waiting"));
  }
  if (budget.backing_off_calls > 0)
    add(wording::counted(budget.backing_off_calls, "failed call") + " waiting to be tried again");
  if (const std::string out = late_call(budget); !out.empty()) add("the oldest call out for " + out);
  if (budget.timed_out > 0) add(wording::counted(budget.timed_out, "call") + " timed out");
  return words;
}

constexpr std::string_view gap = "  ";

std::size_t width_of(const std::vector<Piece>& pieces) {
  std::size_t width = gap.size() * (pieces.size() - 1);
  for (const auto& piece : pieces) width += display_width(piece.text);
  return width;
}

}  // namespace

bool stands_still(std::span<const BudgetFacts> providers) {
  const auto is_down = [](const BudgetFacts& one) {
    return one.given_up || one.hold == wire::HoldReason::outage;
  };
  const auto is_on_hold = [](const BudgetFacts& one) { return one.hold != wire::HoldReason::none; };
  return std::ranges::any_of(providers, is_down) ||
         (!providers.empty() && std::ranges::all_of(providers, is_on_hold));
}

void set_in_flight(ProgressState& state) {
  std::uint64_t queued = state.waiting;
  std::uint64_t held_up = 0;
  std::uint64_t sent = 0;
  std::vector<std::uint64_t> taken_out;
  for (BudgetFacts& budget : state.budgets) {
    auto& twice = taken_out.emplace_back(0);
    if (budget.waiting_has_queued) {
      twice = std::min<std::uint64_t>(queued, budget.waiting_calls);
      budget.waiting_calls -= static_cast<std::uint32_t>(twice);
      queued -= twice;
      budget.waiting_workers = 0;  // Some may only have a queue.
    }
    held_up += std::uint64_t{budget.waiting_calls} + budget.backing_off_calls;
    sent += budget.in_flight;
  }
  // The queues of a fleet have changed since its workers said how much waits. What was begun waits if nothing
  // of it is sent; before the first call nobody knows.
  const std::uint64_t known = sent + held_up;
  std::uint64_t idle = sent > 0 ? state.begun - std::min(known, state.begun) : 0;
  for (std::size_t i = 0; i < taken_out.size(); ++i) {
    const auto waits = std::min(idle, taken_out[i]);
    state.budgets[i].waiting_calls += static_cast<std::uint32_t>(waits);
    held_up += waits;
    idle -= waits;
  }
  // What the workers report is up to a heartbeat old: what they have given back since may be counted as
  // waiting still, but what they have sent is sent.
  state.in_flight = std::min(state.begun, std::max(sent, state.begun - std::min(held_up, state.begun)));
}

void end_with(ProgressState& state, std::uint64_t unanswered) {
  state.errors += unanswered;
  state.done += unanswered;
  state.is_over = true;
}

void RateEstimate::update(Seconds elapsed, std::uint64_t done, bool goes_on) {
  now_ = elapsed;
  if (goes_on && stopped_at_) {
    if (is_stopped()) leave_out_the_stop(done);
    stopped_at_.reset();
  }
  const bool in_a_stop = stopped_at_.has_value();
  if (done > done_ && !in_a_stop) samples_.push_back({elapsed, done});
  done_ = done;
  if (in_a_stop) return;
  if (!goes_on) stopped_at_ = Sample{elapsed, done};
  const auto is_enough = [&](const Sample& begin) {
    return elapsed - begin.at >= defaults::rate_window && done - begin.done >= defaults::rate_trials;
  };
  while (samples_.size() > 1 && is_enough(samples_[1])) samples_.pop_front();
}

bool RateEstimate::is_stopped() const {
  return stopped_at_ && now_ - stopped_at_->at >= defaults::long_stop;
}

/// As if no time had passed in it, and what was finished in spite of it (answers of a cache) had been before.
void RateEstimate::leave_out_the_stop(std::uint64_t done) {
  for (Sample& one : samples_) {
    one.at += now_ - stopped_at_->at;
    one.done += done - stopped_at_->done;
  }
  done_ = done;
}

std::optional<RateEstimate::Seconds> RateEstimate::stalled() const {
  if (stopped_at_) return std::nullopt;
  Seconds longest{};
  for (std::size_t i = 1; i < samples_.size(); ++i)
    longest = std::max(longest, samples_[i].at - samples_[i - 1].at);
  const Seconds quiet = now_ - samples_.back().at;
  if (quiet < std::max(defaults::clearly_late, 2 * longest)) return std::nullopt;
  return quiet;
}

std::optional<double> RateEstimate::per_second() const {
  const std::uint64_t finished = done_ - samples_.front().done;
  if (is_stopped() || stalled() || finished == 0 || window() <= Seconds::zero()) return std::nullopt;
  return static_cast<double>(finished) / window().count();
}

RateEstimate::Seconds RateEstimate::window() const {
  const Seconds since_first = now_ - samples_.front().at;
  const bool enough_are_recent = samples_.size() > 1 && now_ - samples_[1].at < defaults::rate_window &&
                                 done_ - samples_.front().done >= defaults::rate_trials;
  // What lies before, a time in which every call hung, is then no part of it.
  return enough_are_recent ? std::min(since_first, defaults::rate_window) : since_first;
}

std::optional<RateEstimate::Seconds> RateEstimate::time_for(std::uint64_t remaining) const {
  const auto rate = per_second();
  if (!rate) return std::nullopt;
  return Seconds(static_cast<double>(remaining) / *rate);
}

std::string render_live(const ProgressState& state, std::size_t columns, bool colour) {
  std::vector<Piece> pieces = pieces_of(state, columns);
  while (width_of(pieces) > columns) {
    const auto least = std::ranges::max_element(pieces, {}, &Piece::rank);
    if (least->rank == 0) break;
    pieces.erase(least);
  }
  if (width_of(pieces) > columns) return truncated_to(pieces.front().text, columns);
  std::string line;
  for (const auto& piece : pieces) {
    if (!line.empty()) line += gap;
    line += in_colour(colour ? piece.colour : "", piece.text);
  }
  return line;
}

std::string render_plain(const ProgressState& state) {
  std::string line = std::to_string(state.done) + " of ";
  line += state.cases
              ? wording::counted(state.total, "trial") + " of " + wording::counted(*state.cases, "case")
              : wording::counted(state.total, "case");
  line += " done (" + std::to_string(percent(state)) + "%): ";
  line += state.is_assessed ? std::to_string(state.passed) + " passed and " + std::to_string(state.failed) +
                                  (state.is_gated ? " failed before the gate, " : " failed, ")
                            : std::to_string(state.passed + state.failed) + " answered, ";
  if (state.perturbed > 0) line += std::to_string(state.perturbed) + " perturbed, ";
  line += wording::counted(state.errors, "error");
  const bool finished = state.is_over || state.done == state.total;
  if (state.done < state.total && state.is_over)
    line += ", " + std::to_string(state.total - state.done) + " not started";
  if (!finished) {
    line += "; " + std::to_string(state.in_flight) + " in flight";
    if (state.waiting > 0) line += ", " + std::to_string(state.waiting) + " queued";
    line +=
        state.expected_workers > 0
            ? "; waiting for workers: " + std::to_string(connected_workers(state)) + " of " +
                  std::to_string(state.expected_workers) + " are there"
            : " on " + workers_in_words(state) + (connected_workers(state) == 0 ? ", waiting for one" : "");
    if (state.in_check > 0) line += "; commands check " + wording::counted(state.in_check, "answer");
  }
  if (state.per_second) line += "; " + rate_text(*state.per_second);
  line += "; " + wording::clock(state.elapsed) + " elapsed";
  if (state.remaining && !finished) line += ", about " + wording::clock(*state.remaining) + " left";
  if (state.stalled && !finished) line += ", no result for " + wording::clock(*state.stalled);
  if (state.cost) line += "; " + wording::dollars(*state.cost);
  if (state.waits_for_budget && !finished)
    line +=
        "; what is left of the run's budget is reserved for calls under way, until they say what they took";
  if (state.rate_limited > 0) line += "; rate limited " + wording::counted(state.rate_limited, "time");
  // What the workers last reported is past when they are done, or gone.
  if (finished || state.workers == 0) return line;
  for (const BudgetFacts& budget : state.budgets) line += in_words(budget);
  return line;
}

}  // namespace sluice
