#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::sim {

/// What is done to an answer on purpose.
enum class Fault : std::uint8_t { none, hang, drop, truncate_body, malformed, refusal, length, error };

std::string_view to_string(Fault fault);

/// One rule of a script file. What is not set is as without the script.
struct ScriptRule {
  std::string contains;      ///< Substring of the user message; empty matches all.
  std::optional<bool> vote;  ///< Only requests for votes, or only others; unset: both.
  std::optional<std::string> text;
  std::optional<int> status;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::string> body;         ///< The whole HTTP body, as it is.
  std::optional<std::int64_t> latency_ms;  ///< Instead of the configured latency.
  std::optional<double> retry_after;       ///< Seconds, named in the provider's way.
  std::optional<std::uint64_t> times;      ///< The rule holds for so many requests.
  std::string finish;                      ///< "length", "stop" or a provider's own word.
  Fault fault = Fault::none;

  /// True if the rule names what to answer; one with only a latency leaves that to the built-in rules.
  bool answers() const { return text || status || body || fault != Fault::none || !finish.empty(); }
};

/// Reads a script: JSON Lines, one rule a line, or one JSON array of rules. `origin` names it in errors.
Result<std::vector<ScriptRule>> parse_script(std::string_view content, std::string_view origin);
/// Reads a script from a file.
Result<std::vector<ScriptRule>> load_script(const std::string& path);

}  // namespace sluice::sim
