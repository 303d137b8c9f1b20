#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

/// The providers of promptfoo by what they send where a `config` says nothing.
enum class SamplingFamily : std::uint8_t {
  none,  ///< Nothing: Gemini, Ollama.
  openai,
  azure,
  groq,
  xai,
  anthropic,
  mistral,
  localai,
};

/// What promptfoo asks a model with where its `config` says nothing (docs/promptfoo.md).
struct ForeignSampling {
  std::optional<double> temperature{};        ///< Nothing: it sends none.
  std::optional<double> max_output_tokens{};  ///< The same.
  bool drops_temperature = false;             ///< It sends none, whatever the config says.
  bool drops_max_tokens = false;              ///< It does not send `max_tokens` of the config.
  bool has_top_p_alone = false;               ///< Beside a `top_p` it sends no temperature.
  bool is_reasoning =
      false;  ///< A bound is `max_completion_tokens`; to others in OpenAI's format `max_tokens`.
};

ForeignSampling foreign_sampling(SamplingFamily family, std::string_view model);

}  // namespace sluice
