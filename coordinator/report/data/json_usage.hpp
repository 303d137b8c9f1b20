#pragma once

#include "common/model/completion.hpp"
#include "coordinator/output/json_writer.hpp"

#include <optional>

namespace sluice {

/// The members `input_tokens` and `output_tokens`, which are `null` where nobody knows them.
inline void write_usage(Json& json, const std::optional<Usage>& usage) {
  json.member("input_tokens", usage ? std::optional(usage->input_tokens) : std::nullopt);
  json.member("output_tokens", usage ? std::optional(usage->output_tokens) : std::nullopt);
}

}  // namespace sluice
