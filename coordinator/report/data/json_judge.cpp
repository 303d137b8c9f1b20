#include "coordinator/report/data/json_judge.hpp"

#include "coordinator/display/numbers.hpp"
#include "coordinator/report/data/json_interval.hpp"

#include <string_view>

namespace sluice {
namespace {

void write_trait(Json& json, std::string_view name, const TraitBias& trait) {
  const RankCorrelation& found = trait.correlation;
  json.line(3);
  json.key(name).open('{');
  json.member("answers", found.answers);
  json.member("cases", found.cases);
  json.member("rho", found.rho);
  write_interval(json, "interval", known(found.interval, found.rho.has_value()));
  json.member("p", found.rho ? std::optional(found.p) : std::nullopt);
  json.member("adjusted_p", found.rho ? std::optional(trait.decision.adjusted_p) : std::nullopt);
  json.member("beyond_chance", trait.decision.beyond_chance);
  json.close('}');
}

void write_votes(Json& json, const JudgedMetricBias& metric) {
  json.line(3);
  json.key("votes").open('{');
  json.member("samples", metric.votes);
  const auto& noise = metric.noise;
  json.member("answers", noise ? noise->answers : 0);
  json.member("pair_disagreement", noise ? std::optional(noise->pair_disagreement) : std::nullopt);
  json.member("flip_rate", noise ? std::optional(noise->flip_rate) : std::nullopt);
  json.member("flip_rate_upper", noise ? std::optional(noise->flip_rate_upper) : std::nullopt);
  json.member("enough_votes", noise ? noise->enough_votes : std::nullopt);
  json.close('}');
}

}  // namespace

void write_json_judge(Json& json, const ReportInput& input) {
  const JudgeBias& bias = *input.judge_bias;
  json.line(1);
  json.key("judge_bias").open('{');
  json.member("confidence", bias.confidence);
  json.key("metrics").open('[');
  for (const JudgedMetricBias& metric : bias.metrics) {
    json.line(2);
    json.open('{');
    json.member("metric", to_string(metric.score));
    json.member("rubric", metric.rubric);
    json.member("rubric_version", metric.rubric_version);
    json.member("answers", metric.answers);
    json.member("length_unit", to_string(metric.length_unit));
    write_trait(json, "length", metric.length);
    write_trait(json, "format", metric.format);
    write_votes(json, metric);
    json.close('}');
  }
  json.text() += "\n  ";
  json.close(']');
  json.close('}');
}

void write_json_calibrations(Json& json, const ReportInput& input) {
  const RunCalibrations& run = *input.calibrations;
  json.line(1);
  json.key("judge_calibration").open('{');
  json.member("min_kappa", run.required->min_kappa());
  json.key("metrics").open('[');
  for (const CheckedCalibration& one : run.metrics) {
    json.line(2);
    json.open('{');
    json.member("metric", to_string(one.score));
    json.member("rubric", one.rubric);
    json.member("rubric_version", one.rubric_version);
    json.member("samples", one.samples);
    json.member("standing", to_string(one.check.standing));
    if (one.check.found != nullptr) {
      const JudgeCalibration& found = *one.check.found;
      json.member("against", found.against);
      json.member("run_id", found.run_id);
      json.member("calibrated_at", wording::rfc3339(found.calibrated_at_ms));
      json.member("answers", found.answers);
      json.member("cases", found.cases);
      json.member("kappa", found.kappa);
      write_interval(json, "kappa_interval", Interval{found.kappa_low, found.kappa_high});
    }
    json.close('}');
  }
  json.text() += run.metrics.empty() ? "" : "\n  ";
  json.close(']');
  json.close('}');
}

}  // namespace sluice
