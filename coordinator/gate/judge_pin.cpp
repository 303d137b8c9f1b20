#include "coordinator/gate/judge_pin.hpp"

#include "common/defaults.hpp"
#include "common/documents/json_depth.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

constexpr std::string_view fake = "fake";

/// The member's text, or an empty one where it is anything else.
std::string text_of(const nlohmann::json& meta, const char* name) {
  const auto found = meta.find(name);
  return found != meta.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

bool JudgeIdentity::is_fake() const {
  return provider == fake;
}

std::string JudgeIdentity::in_words() const {
  return model.empty() ? provider : model + " (" + shown_name() + ")";
}

JudgeIdentity judge_identity(const RunSettings& run) {
  const JudgeSettings& judge = run.judge;
  if (judge.judge == Judge::fake) return {std::string(fake), ""};
  const auto found = std::ranges::find(run.providers, judge.provider, &ProviderSettings::name);
  if (found == run.providers.end()) return {};
  return {std::string(to_string(found->kind)), judge.model, found->name};
}

std::optional<GateNotice> fake_judge_notice(const JudgeIdentity& judge) {
  if (!judge.is_fake()) return std::nullopt;
  return GateNotice{
      GateNotice::Severity::info, "fake_judge",
      "the fake judge gave the scores of judge metrics: it compares words and knows no meaning; "
      "for scores that say something name a model with `--judge PROVIDER --judge-model MODEL`.",
      true, "Judge"};
}

JudgePin parse_judge_pin(std::string_view meta) {
  JudgePin pin;
  const auto parsed = parse_tree<nlohmann::json>(meta);
  if (!parsed.is_object()) return pin;
  JudgeIdentity judge{text_of(parsed, "judge_provider"), text_of(parsed, "judge_model")};
  if (!judge.provider.empty()) pin.judge = std::move(judge);
  const auto samples = parsed.find("judge_samples");
  if (samples != parsed.end() && samples->is_number_unsigned()) pin.samples = samples->get<std::uint64_t>();
  pin.rubric_version = text_of(parsed, "rubric_version");
  pin.rubric_hash = text_of(parsed, "rubric_hash");
  return pin;
}

std::optional<std::uint32_t> pinned_samples(std::string_view meta) {
  const auto samples = parse_judge_pin(meta).samples;
  if (!samples || *samples == 0 || *samples > defaults::max_judge_samples) return std::nullopt;
  return static_cast<std::uint32_t>(*samples);
}

RunJudge::RunJudge(JudgeIdentity identity, std::span<const Rubric> rubrics) : identity_(std::move(identity)) {
  for (const Rubric& rubric : rubrics)
    rubrics_.push_back({rubric.version, to_prefixed_hex(rubric_hash(rubric))});
}

JudgePin RunJudge::pin_of(const VoteTally& votes) const {
  JudgePin pin;
  if (!identity_.provider.empty()) pin.judge = {identity_.provider, identity_.model};
  pin.samples = votes.samples;
  if (votes.rubric < rubrics_.size()) {
    pin.rubric_version = rubrics_[votes.rubric].version;
    pin.rubric_hash = rubrics_[votes.rubric].hash;
  }
  return pin;
}

std::string RunJudge::meta_of(const MetricInfo& metric, const VoteTally& votes) const {
  const JudgePin pin = pin_of(votes);
  nlohmann::json meta{{"judge_samples", votes.samples},
                      {"metric_version", metric.version},
                      {"rubric_hash", pin.rubric_hash},
                      {"rubric_version", pin.rubric_version}};
  if (pin.judge) {
    meta["judge_provider"] = pin.judge->provider;
    meta["judge_model"] = pin.judge->model;
  }
  return meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sluice
