#pragma once

#include "common/completion.hpp"
#include "common/saturating.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace sluice {

/// Tokens that calls are charged for: those of the run's model, and those of the model that embeds, which
/// costs something else. Sums never wrap.
struct PaidTokens {
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t embedding_tokens = 0;

  PaidTokens& operator+=(const PaidTokens& more) {
    input_tokens = saturating_add(input_tokens, more.input_tokens);
    output_tokens = saturating_add(output_tokens, more.output_tokens);
    embedding_tokens = saturating_add(embedding_tokens, more.embedding_tokens);
    return *this;
  }
  PaidTokens& operator-=(const PaidTokens& less) {
    input_tokens = saturating_subtract(input_tokens, less.input_tokens);
    output_tokens = saturating_subtract(output_tokens, less.output_tokens);
    embedding_tokens = saturating_subtract(embedding_tokens, less.embedding_tokens);
    return *this;
  }
  /// Of one answer of the run's model.
  PaidTokens& operator+=(const Usage& usage) { return *this += {usage.input_tokens, usage.output_tokens, 0}; }
  /// Those of the run's model.
  std::uint64_t model_tokens() const { return saturating_add(input_tokens, output_tokens); }
  std::uint64_t total() const { return saturating_add(model_tokens(), embedding_tokens); }
  friend bool operator==(const PaidTokens&, const PaidTokens&) = default;
};

/// What tokens cost in US dollars; nothing if a price that they need is not known.
using Price = std::function<std::optional<double>(const PaidTokens&)>;

}  // namespace sluice
