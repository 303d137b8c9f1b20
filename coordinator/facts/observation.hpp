#pragma once

#include "common/model/request.hpp"
#include "common/model/trial.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// A text that is a JSON document.
struct JsonText {
  std::string text{};
  friend bool operator==(const JsonText&, const JsonText&) = default;
};

/// What one trial was asked, what came back and what was made of it (docs/observations.md). Texts are
/// redacted; times are RFC 3339 in UTC with milliseconds, so that their order is that of time.
struct Observation {
  std::string id{};  ///< ObservationIds.
  std::string timestamp{};
  std::string prompt_version{};
  std::string prompt_hash{};
  std::string model{};
  std::string input_hash{};
  std::string file_path{};
  std::string language{};
  std::uint64_t content_length = 0;
  std::string raw_response{};  ///< Empty where nothing came back.
  JsonText parsed_claims{"[]"};
  JsonText final_claims{"[]"};
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  bool parse_success = false;
  std::optional<std::string> parse_error{};
  bool cache_hit = false;
  std::uint64_t latency_ms = 0;

  // What a run adds.
  std::string run_id{};
  std::uint64_t trial = 0;  ///< Its place in the run's plan.
  std::string case_id{};    ///< As in reports: with arms `TEST@ARM`.
  std::string category{};
  std::string arm{};           ///< Empty without arms.
  std::string perturbation{};  ///< Empty for the case as it is.
  std::uint64_t repeat = 0;    ///< From 0.
  std::string key{};           ///< Of the request in caches: hexadecimal.
  std::string status{};        ///< `pass`, `warn`, `fail` or `error`: of this answer alone.
  std::optional<std::string> reason_code{};
  std::optional<std::string> error{};
  std::string provider{};
  std::string served_model{};
  std::string finish_reason{};
  std::optional<std::string> answered_at{};  ///< When the provider answered: for a cached one, then.
  std::string prompt{};                      ///< The user message as it was sent.
  std::string system_hash{};                 ///< Of the system prompt; empty without one.
  JsonText metrics{"[]"};
  std::uint64_t calls = 0;
  std::uint64_t retries = 0;
  std::uint64_t rate_limited = 0;
  std::uint64_t waited_ms = 0;
  std::uint64_t paid_tokens = 0;
  std::optional<double> cost{};  ///< US dollars, of the unit's calls in this run; at its first trial alone.

  /// Stored once for all that have it, and no column of their table.
  SharedText system_prompt{};  ///< Null without one.

  friend bool operator==(const Observation&, const Observation&) = default;
};

/// Calls `use(name, member)` for each column of the table, in its order. `O` is an Observation, const or not.
template <class O, class Use>
void for_each_column(O& o, Use&& use) {
  use("id", o.id);
  use("timestamp", o.timestamp);
  use("prompt_version", o.prompt_version);
  use("prompt_hash", o.prompt_hash);
  use("model", o.model);
  use("input_hash", o.input_hash);
  use("file_path", o.file_path);
  use("language", o.language);
  use("content_length", o.content_length);
  use("raw_response", o.raw_response);
  use("parsed_claims", o.parsed_claims);
  use("final_claims", o.final_claims);
  use("input_tokens", o.input_tokens);
  use("output_tokens", o.output_tokens);
  use("parse_success", o.parse_success);
  use("parse_error", o.parse_error);
  use("cache_hit", o.cache_hit);
  use("latency_ms", o.latency_ms);
  use("run_id", o.run_id);
  use("trial", o.trial);
  use("case_id", o.case_id);
  use("category", o.category);
  use("arm", o.arm);
  use("perturbation", o.perturbation);
  use("repeat", o.repeat);
  use("key", o.key);
  use("status", o.status);
  use("reason_code", o.reason_code);
  use("error", o.error);
  use("provider", o.provider);
  use("served_model", o.served_model);
  use("finish_reason", o.finish_reason);
  use("answered_at", o.answered_at);
  use("prompt", o.prompt);
  use("system_hash", o.system_hash);
  use("metrics", o.metrics);
  use("calls", o.calls);
  use("retries", o.retries);
  use("rate_limited", o.rate_limited);
  use("waited_ms", o.waited_ms);
  use("paid_tokens", o.paid_tokens);
  use("cost", o.cost);
}

/// Which observations are wanted: those that fit all that is given.
struct ObservationFilter {
  std::string run{};      ///< A run's id, or its first digits.
  std::string case_id{};  ///< Whole; without its arm it stands for the test under every arm.
  std::string status{};
  std::string model{};
  std::string since{};   ///< A timestamp: at or after it.
  std::string before{};  ///< A timestamp: before it.
};

/// What stays when observations are pruned: what is not older than `oldest`, and the newest `newest` whatever
/// their age.
struct Retention {
  std::string oldest{};  ///< A timestamp.
  std::uint64_t newest = 0;
};

/// The status that the gate gave a trial's answer.
struct TrialStatus {
  TrialId trial = 0;
  std::string_view status;  ///< As Observation::status has it.
};

}  // namespace sluice
