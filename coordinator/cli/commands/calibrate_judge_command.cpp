#include "common/clock.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/merge/judge_agreement_fold.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/report/commands/calibration_report.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/suite/answers/labels_file.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* calibrate_examples =
    "Examples:\n"
    "  sluice calibrate-judge suite.yaml --labels labels.jsonl --mode live\n"
    "    --judge openai --judge-model gpt-4o-mini --judge-samples 5\n"
    "  sluice calibrate-judge suite.yaml --labels labels.jsonl --mode cached\n"
    "  sluice calibrate-judge suite.yaml --against must_contain --format json\n"
    "A line of labels: {\"id\": \"TEST\", \"passed\": true}, with \"metric\" for one of\n"
    "several judge scores, such as \"rubric:tone\".\n"
    "Exit code 0: compared; 2: bad labels, nothing to compare, or as `sluice run`.";

/// The metric, or the score, that --against names. usage_invalid for one that there is not, and for a judge's
/// own.
Result<ScoreId> score_to_compare(const std::string& text) {
  const auto [metric, name] = parts_of_score(text);
  if (metric != nullptr && !is_judge_metric(metric->id)) return ScoreId{metric->id, std::string(name)};
  std::vector<std::string_view> names;
  for (const MetricInfo& one : metric_catalogue()) {
    if (!is_judge_metric(one.id)) names.push_back(one.name);
  }
  const std::string given = "--against names \"" + excerpt(text, defaults::quoted_flag_bytes) + "\", ";
  if (metric != nullptr) return usage_error(given + "a judge's own metric: name one that needs no judge");
  std::string meant = did_you_mean(text, names);
  if (meant.empty()) {
    for (const std::string_view name : names)
      meant += (meant.empty() ? "; there are " : ", ") + std::string(name);
  }
  return usage_error(given + "no metric that there is" + meant);
}

struct CalibrateJudge {
  SettingFlags settings;
  RunFlags flags;
  std::optional<std::string> labels_file;
  std::optional<std::string> against;
  std::string format = "table";

  int calibrate(const PrepareWorkers& prepare_workers, const CLI::App& app) {
    flags.given = given_flags(app);
    const auto as = choice_of("--format", format, {"table", "json"});
    if (!as) return report_error(as.error());
    if (labels_file.has_value() == against.has_value()) {
      return report_error(
          "`sluice calibrate-judge` compares with --labels FILE or --against METRIC: name one of them");
    }
    Labels labels;
    CalibrationStandard standard;
    if (labels_file) {
      auto loaded = load_labels(*labels_file);
      if (!loaded) return report_findings(loaded.error());
      labels = std::move(*loaded);
      standard.labels = &labels;
    } else {
      const auto score = score_to_compare(*against);
      if (!score) return report_error(score.error());
      standard.score = *score;
    }
    RunUse use;
    use.command = "calibrate-judge";
    use.check = [&](const RunOptions& options, const RunInputs& inputs) {
      return problems_of(standard, options, inputs);
    };
    use.conclude = [&](const ConcludedRun& run) { return compare(standard, *as == 1, run); };
    return run_suite(settings, flags, prepare_workers, &use);
  }

 private:
  /// A calibration of fewer cases takes the place of one that says more.
  static Result<void> warn_of_replaced(const Ledger& ledger, const std::vector<JudgeCalibration>& latest) {
    const auto known = ledger.calibrations_of(latest.front().key.suite);
    if (!known) return fail(known.error());
    for (const JudgeCalibration& one : latest) {
      const auto before = std::ranges::find(*known, one.key, &JudgeCalibration::key);
      if (before == known->end() || before->cases <= one.cases) continue;
      report_warning("the calibration of `" + one.key.metric + "` by " + wording::counted(one.cases, "case") +
                     " takes the place of one by " + std::to_string(before->cases) + " of " +
                     wording::rfc3339(before->calibrated_at_ms) +
                     ": compare all labels again to have that back");
    }
    return {};
  }

  /// What would leave nothing to compare, or labels without a test.
  static std::vector<Finding> problems_of(const CalibrationStandard& standard, const RunOptions& options,
                                          const RunInputs& inputs) {
    const auto& metrics = inputs.suite.metrics;
    if (std::ranges::none_of(metrics, is_judge_metric))
      return {{options.suite_path, 0,
               "no test of the suite has a judge metric: there is no judge to calibrate; give tests one "
               "(docs/judges.md), or name another suite"}};
    if (standard.labels == nullptr) {
      const ScoreId& score = *standard.score;
      const bool is_scored = info(score.metric).kind == MetricKind::scored;
      const auto& scores = inputs.suite.scores;
      if (is_scored ? std::ranges::count(scores, score) > 0 : std::ranges::count(metrics, score.metric) > 0)
        return {};
      std::string others;
      for (const ScoreId& one : scores) {
        if (one.metric == score.metric) others += (others.empty() ? "; there is " : ", ") + to_string(one);
      }
      return {{"--against", 0,
               "no test of the suite has the metric `" + to_string(score) + "`" + others +
                   "; name one that tests with judge metrics have, or give labels with --labels"}};
    }
    return standard.labels->check_tests(inputs.suite.cases, options.is_selection());
  }

  static int compare(const CalibrationStandard& standard, bool as_json, const ConcludedRun& run) {
    if (run.facts.cut_short) return report_error(*run.facts.cut_short);
    const RunResults& results = run.results;
    JudgeAgreementFold fold(standard, !run.options.arms.empty(), defaults::statistics::confidence);
    CalibrationReport report;
    const auto visited = visit_cases(results, [&](const CaseResult& result) {
      report.errors += result.status == CaseStatus::error ? 1 : 0;
      fold.add(result);
    });
    if (!visited) return report_error(visited.error());
    report.suite = results.suite.name;
    report.judge = run.gate.judge.identity();
    report.against = standard.labels != nullptr ? "labels" : to_string(*standard.score);
    report.confidence = defaults::statistics::confidence;
    report.metrics = fold.finish(report.suite, results.suite.rubrics, report.judge);
    if (report.metrics.empty()) {
      return report_error(
          "there is nothing to compare: no answer has both a judge's verdict and one of " +
          (standard.labels != nullptr ? std::string("the labels; label tests that have judge metrics")
                                      : "`" + report.against + "`; name a metric of the same tests") +
          (report.errors > 0 ? " (some cases ended in an error: `sluice run` shows why)" : ""));
    }
    if (const auto fake = fake_judge_notice(report.judge)) report_warning(fake->message);
    const bool is_mock = run.options.settings.mode.value == Mode::mock;
    if (is_mock)
      report_warning("the answers of a mock run are no model's: what the judge is worth on them is not kept");
    std::vector<JudgeCalibration> calibrations;
    for (const CalibratedMetric& one : report.metrics) {
      JudgeCalibration& calibration = calibrations.emplace_back(one.calibration);
      calibration.run_id = run.facts.run_id;
      calibration.calibrated_at_ms = unix_now_ms();
    }
    if (!is_mock) {
      if (auto warned = warn_of_replaced(run.ledger, calibrations); !warned)
        return report_error(warned.error());
      const auto kept = run.ledger.note_calibrations(calibrations);
      if (!kept) return report_error(kept.error());
    }
    const auto written = write_stdout("calibration", [&](Sink& sink) -> Result<void> {
      sink.write(as_json ? calibration_json(report) : calibration_text(report, output_columns()));
      return {};
    });
    return written ? exit_ok : report_error(written.error());
  }
};

}  // namespace

Command add_calibrate_judge_command(CLI::App& program, const PrepareWorkers& prepare_workers) {
  auto command = std::make_shared<CalibrateJudge>();
  CLI::App* app = program.add_subcommand("calibrate-judge",
                                         "Compare a judge with labels, or with a metric that needs no judge");
  add_suite_argument(*app, command->flags);
  add_suite_flags(*app, command->flags);
  app->add_option("--labels", command->labels_file, "People's verdicts: JSON Lines with id and passed")
      ->type_name("FILE");
  app->add_option("--against", command->against, "Compare with this metric of the same tests")
      ->type_name("METRIC");
  app->add_option("--format", command->format, "Format of the output (default table)")
      ->type_name("table|json");
  add_answer_flags(*app, command->flags);
  add_distribution_flags(*app, command->flags);
  add_log_flags(*app, command->flags);
  command->settings.add_to(*app);
  app->footer(calibrate_examples);
  return {app, [command, prepare_workers, app] { return command->calibrate(prepare_workers, *app); }};
}

}  // namespace sluice
