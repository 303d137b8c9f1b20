#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace sluice {

/// Text that many requests share (the rendered system prompt, the response schema): held once.
using SharedText = std::shared_ptr<const std::string>;

inline SharedText share(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// A provider-neutral request: what the plan renders and a worker's provider turns into HTTP.
struct ModelRequest {
  std::string provider;  ///< Name of a ProviderSettings of the run.
  std::string model;
  SharedText system;                  ///< May be null: no system prompt.
  std::string user;                   ///< The user message, whole.
  SharedText response_schema;         ///< JSON Schema of the answer; null for free text.
  std::optional<double> temperature;  ///< Nothing: not sent (some models refuse any but their own).
  std::uint32_t max_tokens = 0;       ///< Upper bound of the answer; 0 lets the provider decide.
  std::optional<std::int64_t> seed;   ///< As sent: the run's seed + the repeat index.
};

}  // namespace sluice
