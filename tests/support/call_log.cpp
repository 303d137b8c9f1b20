#include "tests/support/call_log.hpp"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace sluice::support {

std::vector<LoggedCall> read_call_log(std::string_view text) {
  std::vector<LoggedCall> calls;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("started_us") || !json.contains("provider")) {
      throw std::runtime_error("no line of a call log: " + std::string(line));
    }
    calls.push_back({json.at("started_us"), json.at("provider")});
  }
  return calls;
}

std::vector<std::int64_t> merged_starts(std::span<const std::string> logs, std::string_view provider) {
  std::vector<std::int64_t> starts;
  for (const auto& log : logs) {
    for (const auto& call : read_call_log(log)) {
      if (call.provider == provider) starts.push_back(call.started_us);
    }
  }
  std::ranges::sort(starts);
  return starts;
}

StartWindow worst_window(std::span<const std::int64_t> starts, double rate, double burst) {
  // The excess of [i, j] is (j + 1 - rate x t_j) - (i - rate x t_i) - burst: for each j, the i with the least
  // i - rate x t_i is the worst, and that is known when j comes.
  const auto origin = starts.front();
  const auto fill = [&](std::size_t i) {
    return static_cast<double>(i) - rate * static_cast<double>(starts[i] - origin) * 1e-6;
  };
  std::size_t lowest = 0;
  StartWindow worst{origin, origin, 1, 1 - burst};
  for (std::size_t j = 0; j < starts.size(); ++j) {
    if (fill(j) < fill(lowest)) lowest = j;
    const double excess = fill(j) + 1 - fill(lowest) - burst;
    if (excess > worst.excess) worst = {starts[lowest], starts[j], j - lowest + 1, excess};
  }
  return worst;
}

}  // namespace sluice::support
