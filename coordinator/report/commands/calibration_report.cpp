#include "coordinator/report/commands/calibration_report.hpp"

#include "common/model/judge.hpp"
#include "common/text/printable.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/data/json_interval.hpp"
#include "coordinator/suite/score_id.hpp"

namespace sluice {
namespace {

std::uint64_t disagreements_of(const CalibratedMetric& metric) {
  return metric.counts.judge_alone + metric.counts.label_alone;
}

std::string within(double low, double high) {
  return wording::fixed(low, 2) + " to " + wording::fixed(high, 2);
}

/// `faithfulness v1`, `rubric:kind (tone v1)`: as reports call it.
std::string judged_by(const CalibrationKey& key) {
  const MetricInfo* metric = parts_of_score(key.metric).metric;
  const MetricId id = metric != nullptr ? metric->id : MetricId::rubric;
  return score_with_rubric(printable(key.metric), id, printable(key.rubric), printable(key.rubric_version));
}

/// `  Label      words`, with the words broken into lines that stand under one another.
void append_line(const std::string& label, const std::string& words, std::size_t columns, std::string& text) {
  constexpr std::size_t label_column = 13;
  std::string lead = padded_right("  " + label, label_column);
  for (const std::string& line : wrapped(words, columns - label_column)) {
    text += lead + line + '\n';
    lead.assign(label_column, ' ');
  }
}

void append_metric(const CalibratedMetric& metric, const std::string& confidence, std::size_t columns,
                   std::string& text) {
  const JudgeCalibration& one = metric.calibration;
  const VerdictCounts& counts = metric.counts;
  text += "\n" + judged_by(one.key) + ", " + wording::counted(one.key.samples, "vote") + " on an answer\n";
  append_line("Compared",
              wording::counted(one.answers, "answer") + " of " + wording::counted(one.cases, "case") +
                  ": both pass " + wording::grouped(counts.both_pass) + ", both fail " +
                  wording::grouped(counts.both_fail) + ", the judge alone passes " +
                  wording::grouped(counts.judge_alone) + ", the judge alone fails " +
                  wording::grouped(counts.label_alone),
              columns, text);
  append_line("Agreement",
              wording::fixed(one.agreement, 2) + " (" + confidence + ": " +
                  within(one.agreement_low, one.agreement_high) + ")",
              columns, text);
  append_line("Kappa",
              one.kappa ? wording::fixed(*one.kappa, 2) + " (" + confidence + ": " +
                              within(one.kappa_low, one.kappa_high) + ")"
                        : "undefined: all verdicts of both are the same; add answers that should come out "
                          "otherwise",
              columns, text);
  if (metric.disagreements.empty()) return;
  text += "  Disagree\n";
  for (const Disagreement& answer : metric.disagreements) {
    text += "    " + printable(answer.test) + ": the judge " + (answer.judge_passes ? "passes" : "fails") +
            " it\n";
  }
  const std::uint64_t more = disagreements_of(metric) - metric.disagreements.size();
  if (more > 0) text += "    and " + wording::grouped(more) + " more\n";
}

void write_calibrated(Json& json, const CalibratedMetric& metric) {
  const JudgeCalibration& one = metric.calibration;
  json.open('{');
  json.member("metric", one.key.metric);
  json.member("rubric", one.key.rubric);
  json.member("rubric_version", one.key.rubric_version);
  json.member("rubric_hash", one.key.rubric_hash);
  json.member("samples", one.key.samples);
  json.line(3);
  json.member("answers", one.answers);
  json.member("cases", one.cases);
  json.member("both_pass", metric.counts.both_pass);
  json.member("both_fail", metric.counts.both_fail);
  json.member("judge_alone_passes", metric.counts.judge_alone);
  json.member("judge_alone_fails", metric.counts.label_alone);
  json.line(3);
  json.member("agreement", one.agreement);
  write_interval(json, "agreement_interval", Interval{one.agreement_low, one.agreement_high});
  json.member("kappa", one.kappa);
  write_interval(json, "kappa_interval", Interval{one.kappa_low, one.kappa_high});
  json.line(3);
  json.member("disagreements", disagreements_of(metric));
  json.key("first_disagreements").open('[');
  for (const Disagreement& answer : metric.disagreements) {
    json.open('{');
    json.member("id", answer.test);
    json.member("judge_passes", answer.judge_passes);
    json.close('}');
  }
  json.close(']');
  json.close('}');
}

}  // namespace

std::string calibration_text(const CalibrationReport& report, std::size_t columns) {
  const bool is_labels = report.against == "labels";
  std::string text = "Judge " + printable(report.judge.in_words()) + " beside " +
                     (is_labels ? "labels" : "the metric " + report.against) + ", suite " +
                     printable(report.suite) + "\n";
  const std::string confidence = wording::in_percent(report.confidence);
  for (const CalibratedMetric& metric : report.metrics) append_metric(metric, confidence, columns, text);
  if (report.errors > 0) text += "\n" + wording::counted(report.errors, "case") + " with an error left out\n";
  return text;
}

std::string calibration_json(const CalibrationReport& report) {
  std::string text;
  Json json(text);
  json.open('{');
  json.line(1);
  json.member("suite", report.suite);
  json.line(1);
  json.key("judge").open('{');
  json.member("provider", report.judge.provider);
  json.member("provider_name", report.judge.shown_name());
  json.member("model", report.judge.model);
  json.close('}');
  json.line(1);
  json.member("against", report.against);
  json.line(1);
  json.member("confidence", report.confidence);
  json.line(1);
  json.member("errors", report.errors);
  json.line(1);
  json.key("metrics").open('[');
  for (const CalibratedMetric& metric : report.metrics) {
    json.line(2);
    write_calibrated(json, metric);
  }
  text += "\n  ";
  json.close(']');
  text += "\n}\n";
  return text;
}

}  // namespace sluice
