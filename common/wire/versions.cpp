#include "common/wire/versions.hpp"

#include <algorithm>

namespace sluice::wire {

namespace {

/// `worker gpu-7 (sluice 0.1.0)`
std::string named(const std::string& peer, const std::string& version) {
  return version.empty() ? peer : peer + " (sluice " + version + ")";
}

/// A metric that is judged by the rubric of its own name, and no answer.
bool is_of_context(const Rubric& rubric) {
  const MetricInfo* metric = find_metric(rubric.id);
  return metric != nullptr && judges_context(metric->id);
}

std::string number(std::uint8_t version) {
  return std::to_string(static_cast<int>(version));
}

}  // namespace

std::optional<std::string> other_version(const std::string& peer, const std::string& version,
                                         std::uint8_t protocol) {
  if (protocol != protocol_version) {
    return named(peer, version) + " speaks version " + number(protocol) +
           " of the protocol, and this side (sluice " SLUICE_VERSION ") " + number(protocol_version) +
           ": they go on by " + number(protocol) + ", and the next version of sluice will not";
  }
  if (version == SLUICE_VERSION) return std::nullopt;
  return named(peer, version) + " is of another version than this side (sluice " SLUICE_VERSION
                                "): they speak the same protocol, and go on";
}

std::optional<std::string> beyond_protocol(const RunSettings& settings, const LaterParts& parts,
                                           std::uint8_t protocol) {
  std::string what;
  if (settings.judge.gives_context && protocol < first_with_judged_context)
    what = "a judge metric has a context of its own";
  if (std::ranges::any_of(settings.judge.rubrics, is_of_context) && protocol < first_with_judged_context)
    what = "a metric judges the context alone";
  if (parts.recorded_calls && protocol < first_with_recorded_calls) what = "its recorded answers call tools";
  if (parts.checks_of_all_calls && protocol < first_with_checks_of_all_calls)
    what = "a check is about all calls of tools";
  if (parts.non_answers && protocol < first_with_refusals)
    what = "a test checks for a refusal, or expects an empty answer";
  if (parts.labels && protocol < first_with_labels) what = "a test expects a label";
  const bool uses_responses = std::ranges::find(settings.providers, ProviderKind::openai_responses,
                                                &ProviderSettings::kind) != settings.providers.end();
  if (uses_responses && protocol < first_with_openai_responses)
    what = "a provider has the format openai-responses";
  if (what.empty()) return std::nullopt;
  return "this run needs a later version of sluice (" + what + ", which version " + number(protocol) +
         " of the protocol does not know): install " SLUICE_VERSION " on the worker";
}

std::string unspoken_version(const std::string& peer, const std::string& version, std::uint8_t protocol,
                             const std::string& self) {
  return named(peer, version) + " speaks version " + number(protocol) + " of the protocol, and " +
         named(self, SLUICE_VERSION) + " speaks " + number(oldest_protocol_version) + " and " +
         number(protocol_version) + ": install the same version on both sides";
}

}  // namespace sluice::wire
