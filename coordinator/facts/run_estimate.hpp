#pragma once

#include "common/model/paid_tokens.hpp"
#include "common/model/run_settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What a run's calls of one kind to one model take at most.
struct EstimatedCalls {
  CallKind kind = CallKind::answer;
  ProviderKind provider = ProviderKind::openai;
  std::string provider_name;
  std::string model;
  std::uint64_t wanted = 0;    ///< Answers, texts to embed, or votes.
  std::uint64_t held = 0;      ///< Of these: in the home's caches, so that they are not called for.
  Usage most;                  ///< Tokens of the others, estimated from above.
  std::optional<double> cost;  ///< US dollars for these tokens; nothing: a price is not known.

  std::uint64_t calls() const { return wanted - held; }
};

/// How long calls to a provider take at what its settings allow.
struct EstimatedTime {
  std::string provider_name;
  std::optional<double> seconds;  ///< Nothing: no limit is named.
  std::string limit{};            ///< The one that it comes from: `requests_per_minute`
};

/// What a run would take (docs/commands.md, "sluice plan"), before its first call.
struct RunEstimate {
  std::string suite;
  Mode mode = Mode::live;
  std::uint64_t cases = 0;
  std::uint64_t trials = 0;
  std::uint64_t answers = 0;          ///< Different requests; trials that share one share its answer.
  std::uint64_t held = 0;             ///< Of these: in the home's caches.
  std::uint64_t recorded = 0;         ///< And so many came with the suite (`--answers`): nobody is asked.
  std::vector<EstimatedCalls> calls;  ///< Empty where nothing is called for, as in cached mode.
  std::vector<EstimatedTime> times;   ///< By provider.
  std::optional<double> max_cost;     ///< US dollars that the run may cost at most; nothing: not limited.

  /// US dollars for all calls; nothing: a price is not known.
  std::optional<double> cost() const {
    double sum = 0.0;
    for (const EstimatedCalls& one : calls) {
      if (!one.cost) return std::nullopt;
      sum += *one.cost;
    }
    return sum;
  }
  /// US dollars that the run may cost, its budget taken into account.
  std::optional<double> bill() const {
    const auto all = cost();
    return all && max_cost && *max_cost < *all ? max_cost : all;
  }
};

}  // namespace sluice
