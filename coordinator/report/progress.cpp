#include "coordinator/report/progress.hpp"

#include "coordinator/report/display.hpp"
#include "coordinator/report/wording.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

// After this long an observation counts only 1/e as much.
constexpr double memory_seconds = 15.0;

std::string clock_text(std::chrono::seconds time) {
  const auto whole = time.count();
  std::array<char, 32> buffer{};
  if (whole >= 3600) {
    std::snprintf(buffer.data(), buffer.size(), "%lld:%02lld:%02lld", static_cast<long long>(whole / 3600),
                  static_cast<long long>(whole % 3600 / 60), static_cast<long long>(whole % 60));
  } else {
    std::snprintf(buffer.data(), buffer.size(), "%lld:%02lld", static_cast<long long>(whole / 60),
                  static_cast<long long>(whole % 60));
  }
  return buffer.data();
}

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

// A piece of the line; the piece with the greatest rank is left out first, rank 0 never.
struct Piece {
  int rank = 0;
  std::string text;
  std::string_view colour;
};

std::vector<Piece> pieces_of(const ProgressState& state) {
  std::vector<Piece> pieces;
  const auto add = [&](int rank, std::string text, std::string_view colour = "") {
    pieces.push_back({rank, std::move(text), colour});
  };
  add(9, bar(state, 16));
  add(0, std::to_string(state.done) + "/" + std::to_string(state.total));
  add(3, std::to_string(percent(state)) + "%");
  add(5, "✓ " + std::to_string(state.passed), "\x1b[32m");
  add(1, "✗ " + std::to_string(state.failed), state.failed > 0 ? "\x1b[31m" : "");
  add(1, "! " + std::to_string(state.errors), state.errors > 0 ? "\x1b[31m" : "");
  if (state.paused_for.count() > 0) add(2, "paused " + clock_text(state.paused_for), "\x1b[33m");
  if (state.remaining) add(4, "ETA " + clock_text(*state.remaining));
  if (state.per_second) add(6, rate_text(*state.per_second));
  add(7, std::to_string(state.workers) + (state.workers == 1 ? " worker" : " workers"),
      state.workers == 0 ? "\x1b[31m" : "");
  if (state.cost) add(8, wording::dollars(*state.cost));
  add(10, std::to_string(state.in_flight) + " in flight");
  if (state.waiting > 0) add(12, std::to_string(state.waiting) + " waiting");
  if (state.rate_limited > 0) add(11, std::to_string(state.rate_limited) + "× 429", "\x1b[33m");
  return pieces;
}

constexpr std::string_view gap = "  ";

std::size_t width_of(const std::vector<Piece>& pieces) {
  std::size_t width = gap.size() * (pieces.size() - 1);
  for (const auto& piece : pieces) width += display_width(piece.text);
  return width;
}

}  // namespace

void RateEstimate::update(Seconds elapsed, std::uint64_t done) {
  const double time = (elapsed - last_).count();
  if (started_ && time <= 0.0) return;  // Counted with the next moment.
  const double kept = std::exp(-time / memory_seconds);
  weighted_done_ = weighted_done_ * kept + static_cast<double>(done - std::min(done, done_));
  weighted_time_ = weighted_time_ * kept + time;
  last_ = elapsed;
  done_ = done;
  started_ = true;
}

std::optional<double> RateEstimate::per_second() const {
  if (weighted_time_ <= 0.0 || done_ == 0) return std::nullopt;
  return weighted_done_ / weighted_time_;
}

std::optional<RateEstimate::Seconds> RateEstimate::time_for(std::uint64_t remaining) const {
  const auto rate = per_second();
  if (!rate || *rate <= 1e-6) return std::nullopt;
  return Seconds(static_cast<double>(remaining) / *rate);
}

std::string render_live(const ProgressState& state, std::size_t columns, bool colour) {
  std::vector<Piece> pieces = pieces_of(state);
  while (width_of(pieces) > columns) {
    const auto least = std::ranges::max_element(pieces, {}, &Piece::rank);
    if (least->rank == 0) break;
    pieces.erase(least);
  }
  if (width_of(pieces) > columns) return truncated_to(pieces.front().text, columns);
  std::string line;
  for (const auto& piece : pieces) {
    if (!line.empty()) line += gap;
    const bool painted = colour && !piece.colour.empty();
    line += painted ? std::string(piece.colour) + piece.text + "\x1b[0m" : piece.text;
  }
  return line;
}

std::string render_plain(const ProgressState& state) {
  std::string line = std::to_string(state.done) + " of " + wording::counted(state.total, "case") + " done (" +
                     std::to_string(percent(state)) + "%): " + std::to_string(state.passed) + " passed, " +
                     std::to_string(state.failed) + " failed, " + wording::counted(state.errors, "error");
  const bool finished = state.done == state.total;
  if (!finished) {
    line += "; " + std::to_string(state.in_flight) + " in flight";
    if (state.waiting > 0) line += ", " + std::to_string(state.waiting) + " waiting";
    line += " on " + wording::counted(state.workers, "worker");
  }
  if (state.per_second) line += "; " + rate_text(*state.per_second);
  line += "; " + clock_text(state.elapsed) + " elapsed";
  if (state.remaining && !finished) line += ", about " + clock_text(*state.remaining) + " left";
  if (state.cost) line += "; " + wording::dollars(*state.cost);
  if (state.rate_limited > 0) line += "; rate limited " + wording::counted(state.rate_limited, "time");
  if (state.paused_for.count() > 0) line += "; paused for " + clock_text(state.paused_for) + " more";
  return line;
}

}  // namespace sluice
