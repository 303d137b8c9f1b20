#pragma once

#include "common/model/run_settings.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice::wire {

/// What this sluice speaks where both sides can.
inline constexpr std::uint8_t protocol_version = 9;
/// The oldest that it also speaks: a peer is served one version back (docs/protocol.md, "Versions").
inline constexpr std::uint8_t oldest_protocol_version = 8;
/// The version in which the layout of a result last changed: ledgers keep results in it.
inline constexpr std::uint8_t result_version = 7;

/// The first versions with JudgeExpectation::context and metrics that judge it, with RecordedAnswer::calls,
/// with metrics of all calls (checks_all_calls), with MetricId::refusal, with MetricId::label, with
/// ProviderKind::openai_responses, with Reason::provider_changed, with UnitResult::stored_baseline, with
/// Goodbye::error, and with CallOutcomes::timed_out and latency_deviation_us, and Demand::oldest_ms.
inline constexpr std::uint8_t first_with_judged_context = 9;
inline constexpr std::uint8_t first_with_recorded_calls = 9;
inline constexpr std::uint8_t first_with_checks_of_all_calls = 9;
inline constexpr std::uint8_t first_with_refusals = 9;
inline constexpr std::uint8_t first_with_labels = 9;
inline constexpr std::uint8_t first_with_openai_responses = 9;
inline constexpr std::uint8_t first_with_changed_programs = 9;
inline constexpr std::uint8_t first_with_stored_baselines = 9;
inline constexpr std::uint8_t first_with_errors_of_goodbyes = 9;
inline constexpr std::uint8_t first_with_times_of_calls = 9;

/// What units may hold, beside their run's settings, that a worker of the version before does not know.
struct LaterParts {
  bool recorded_calls = false;  ///< Some of the recorded answers call tools, which a check would not see.
  bool checks_of_all_calls = false;  ///< A case has a metric of all calls, which would not be read.
  bool non_answers = false;          ///< Some test checks for a refusal, or expects an empty answer.
  bool labels = false;               ///< Some test expects a label.
};

constexpr bool is_spoken(std::uint8_t version) {
  return version >= oldest_protocol_version && version <= protocol_version;
}

/// What is to be said of a peer that goes on with this side though its sluice or its protocol is another: one
/// sentence. `peer` names it ("worker gpu-7"), `version` is its sluice's, empty if it does not say. Nothing
/// where both are the same.
std::optional<std::string> other_version(const std::string& peer, const std::string& version,
                                         std::uint8_t protocol);
/// Why a worker of a protocol that is spoken cannot take part in this run, for it to say; nothing if it can.
std::optional<std::string> beyond_protocol(const RunSettings& settings, const LaterParts& parts,
                                           std::uint8_t protocol);
/// What is said of one whose protocol is not spoken: one sentence. `self`: this side ("the coordinator").
std::string unspoken_version(const std::string& peer, const std::string& version, std::uint8_t protocol,
                             const std::string& self);

}  // namespace sluice::wire
