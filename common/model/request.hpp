#pragma once

#include "common/model/request_extras.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// Text that many requests share (the rendered system prompt, the response schema): held once.
using SharedText = std::shared_ptr<const std::string>;

inline SharedText share(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// The name of config/schemas/claims.schema.json.
inline constexpr std::string_view claims_schema_name = "claims";

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
  /// What `response_schema` is called, which decides what answers are read as; empty without one. No part of
  /// the cache key, which holds the schema itself.
  std::string schema_name = {};
  RequestExtras extras = {};  ///< All that most requests do without.
};

}  // namespace sluice
