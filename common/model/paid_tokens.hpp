#pragma once

#include "common/model/completion.hpp"
#include "common/saturating.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace sluice {

/// What a call is made for. Each kind has its own model, price and sums.
/// `baseline`: an answer that the run's own are graded against.
enum class CallKind : std::uint8_t { answer = 0, embedding = 1, judge = 2, baseline = 3 };
inline constexpr std::size_t call_kinds = 4;

/// Tokens that calls are charged for, by what the calls were for. Sums never wrap.
struct PaidTokens {
  std::array<Usage, call_kinds> by_kind{};

  Usage& of(CallKind kind) { return by_kind[static_cast<std::size_t>(kind)]; }
  const Usage& of(CallKind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }

  PaidTokens& operator+=(const PaidTokens& more) {
    for (std::size_t i = 0; i < call_kinds; ++i) by_kind[i] += more.by_kind[i];
    return *this;
  }
  PaidTokens& operator-=(const PaidTokens& less) {
    for (std::size_t i = 0; i < call_kinds; ++i) by_kind[i] -= less.by_kind[i];
    return *this;
  }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& usage : by_kind) sum = saturating_add(sum, usage.total());
    return sum;
  }
  friend bool operator==(const PaidTokens&, const PaidTokens&) = default;
};

/// A number of PaidTokens that is written by itself: on the wire, in the ledger, in reports and in metrics,
/// all of which loop over `paid_columns`. A kind that is charged for its output has a row for that, too.
struct PaidColumn {
  std::string_view
      name;  ///< "input": `paid_input_tokens` in reports and the ledger, `kind="input"` in metrics.
  CallKind kind;
  std::uint64_t Usage::*tokens;

  std::uint64_t& in(PaidTokens& paid) const { return paid.of(kind).*tokens; }
  std::uint64_t in(const PaidTokens& paid) const { return paid.of(kind).*tokens; }
};
inline constexpr std::array paid_columns = {
    PaidColumn{"input", CallKind::answer, &Usage::input_tokens},
    PaidColumn{"output", CallKind::answer, &Usage::output_tokens},
    PaidColumn{"embedding", CallKind::embedding, &Usage::input_tokens},
    PaidColumn{"judge_input", CallKind::judge, &Usage::input_tokens},
    PaidColumn{"judge_output", CallKind::judge, &Usage::output_tokens},
    PaidColumn{"baseline_input", CallKind::baseline, &Usage::input_tokens},
    PaidColumn{"baseline_output", CallKind::baseline, &Usage::output_tokens},
};

/// What tokens cost in US dollars; nothing if a price that they need is not known.
using Price = std::function<std::optional<double>(const PaidTokens&)>;

}  // namespace sluice
