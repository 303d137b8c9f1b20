#include "common/defaults.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_report.hpp"
#include "coordinator/cli/past_runs.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/stability_gate.hpp"
#include "coordinator/gate/verdict_input.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/report/compare_report.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/report_options.hpp"
#include "coordinator/session/run_outputs.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t piped_columns = 100;
constexpr std::size_t least_columns = 60;
constexpr std::size_t most_columns = 120;  // Longer lines are hard to read.

constexpr const char* compare_examples =
    "BASE and CURRENT are each a baseline (--export-baseline), a JSON report\n"
    "(--format json), or a run of the ledger: its id, its first digits, last or\n"
    "last~N. A report's cases are judged by the thresholds that it names; a\n"
    "flag goes before them, for all scores.\n"
    "Exit code 0: no regression; 1: regressions, failures and case errors, under\n"
    "--strict also warnings; 2: usage, files that cannot be read, another suite, a\n"
    "run that was cut short.\n"
    "Examples:\n"
    "  sluice compare baseline.json report.json\n"
    "  sluice compare last~1 last\n"
    "  sluice compare main.json branch.json --max-drop 0.02 --strict\n"
    "  sluice compare main.json branch.json --format markdown --output comment.md";

NextCase cases_in(const ScoreFile& file) {
  return std::visit([](const auto& scores) { return cases_of(scores); }, file);
}

const BaselineHeader& header_of(const ScoreFile& file) {
  return std::visit([](const auto& scores) -> const BaselineHeader& { return scores.header; }, file);
}

const std::optional<BaselineStability>& stability_of(const ScoreFile& file) {
  return std::visit(
      [](const auto& scores) -> const auto& { return scores.stability; }, file);
}

/// What the stability of a file is assessed by: of a report what its run recorded, of a baseline the
/// defaults.
StabilityQuestion stability_question(const ScoreFile& file) {
  if (const auto* report = std::get_if<ReportScores>(&file)) return report->stability_question;
  StabilityQuestion question;
  const auto& pinned = std::get<Baseline>(file).stability;
  if (!pinned) return question;
  question.score = pinned->score;
  question.perturbations = pinned->perturbations;
  return question;
}

std::string cut_short_by(const ScoreFile& file) {
  const auto* report = std::get_if<ReportScores>(&file);
  return report == nullptr ? "" : report->reason_code;
}

/// Of a report whose run asked for one.
std::optional<double> min_pass_rate_of(const ScoreFile& file) {
  const auto* report = std::get_if<ReportScores>(&file);
  return report == nullptr ? std::nullopt : report->min_pass_rate;
}

/// A baseline is that of a whole run: a part of a suite pins none.
bool is_selection(const ScoreFile& file) {
  const auto* report = std::get_if<ReportScores>(&file);
  return report != nullptr && report->is_selection;
}

/// A baseline says it of a mock run, and is one of a model's answers else.
bool names_mode(const ScoreFile& file) {
  const auto* report = std::get_if<ReportScores>(&file);
  return report == nullptr || report->names_mode;
}

/// A side, and what is to be known of a run that it was made of.
struct LoadedSide {
  ScoreFile file;
  std::vector<GateNotice> notices;
};

/// Those that concern the run itself, rather than the baseline of that time.
std::vector<GateNotice> notices_of_run(const std::string& name, const std::vector<GateNotice>& notices) {
  std::vector<GateNotice> kept;
  for (GateNotice one : notices) {
    if (one.subject != past_run_subject) continue;
    one.message = name + ": " + one.message;
    kept.push_back(std::move(one));
  }
  return kept;
}

ComparedSide side_of(const std::string& name, const ScoreFile& file) {
  return {name, std::holds_alternative<Baseline>(file) ? "baseline" : "report", header_of(file),
          is_selection(file)};
}

/// The metric with the flags' thresholds over its own.
void put_over(const Thresholding& flags, ComparedMetric& metric) {
  if (flags.min_score) {
    metric.min_score = flags.min_score;
    metric.thresholding.min_score.reset();
  }
  if (!flags.max_drop && !flags.min_floor) return;
  if (flags.max_drop) metric.thresholding.max_drop = flags.max_drop;
  if (flags.min_floor) metric.thresholding.min_floor = flags.min_floor;
  // `absolute` would switch them off, and under `statistical` no drop of a case alone counts.
  const bool is_statistical = metric.thresholding.mode == ThresholdMode::statistical;
  if (flags.max_drop || !is_statistical) metric.thresholding.mode.reset();
}

NextCase with_limits(NextCase next, const Thresholding& flags) {
  if (flags == Thresholding{}) return next;
  return [next = std::move(next), flags,
          at = std::make_shared<ComparedCase>()]() -> Result<const ComparedCase*> {
    const auto found = next();
    if (!found) return fail(found.error());
    if (*found == nullptr) return nullptr;
    *at = **found;
    for (ComparedMetric& metric : at->metrics) put_over(flags, metric);
    return at.get();
  };
}

struct CompareCommand {
  SettingFlags settings;
  const CLI::App* app = nullptr;
  std::string base;
  std::string current;
  std::optional<std::string> max_drop;
  std::optional<std::string> min_floor;
  std::optional<std::string> min_score;
  bool strict = false;
  std::string format = "table";
  std::optional<std::string> output;

  int run() const {
    const auto as = choice_of("--format", format, {"table", "json", "markdown"});
    if (!as) return report_error(as.error());
    const auto limits = flag_limits();
    if (!limits) return report_error(limits.error());
    if (output && output->empty()) return report_error("--output must name a file");
    if (to_file()) {
      const auto effective = settings.load();
      if (!effective) return report_findings(effective.error());
      if (const auto possible = check_report_output(*output, *effective); !possible)
        return report_error(possible.error());
    }
    for (const std::string& side : {base, current}) {
      if (to_file() && is_same_file(side, *output)) {
        return report_error("--output would write over " + side + ", which is compared: name another file");
      }
    }
    const auto left = side(base);
    if (!left) return left.error();
    const auto right = side(current);
    if (!right) return right.error();
    if (const auto reason = cut_short_by(left->file); !reason.empty()) {
      return report_error(base + " is the report of a run that was cut short (" + reason +
                          "), which nothing can be measured against; name a whole one");
    }
    return compare_files(*left, *right, *limits, *as);
  }

 private:
  bool to_file() const { return output && *output != "-"; }

  /// A file, or else a run of the ledger, whose report is made again. Error: the exit code, after it was
  /// reported.
  tl::expected<LoadedSide, int> side(const std::string& name) const {
    std::error_code none;
    if (std::filesystem::exists(name, none) || !may_be_run(name)) {
      auto file = load_score_file(name);
      if (!file) return tl::unexpected(report_findings({file.error()}));
      return LoadedSide{std::move(*file), {}};
    }
    const auto effective = settings.load();
    if (!effective) return tl::unexpected(report_findings(effective.error()));
    const auto past = find_past_run(*effective, name);
    if (!past) return tl::unexpected(report_error(past.error()));
    if (!*past) return tl::unexpected(report_error("there is no file " + name + ", and " + no_run_yet));
    std::vector<ReportTarget> targets;
    if (to_file()) targets.push_back({ReportFormat::table, output});
    StringSink report;
    std::vector<GateNotice> notices;
    const auto written = report_past_run(**past, *app, *effective, targets, [&](const ReportInput& input) {
      notices = notices_of_run(name, input.gate.notices);
      const auto made = write_json_report(input, report);
      return made ? std::vector<Error>() : std::vector{made.error()};
    });
    if (!written) return tl::unexpected(written.error());
    std::istringstream text(report.text());
    auto scores = parse_report(text, name);
    if (!scores) return tl::unexpected(report_findings({scores.error()}));
    return LoadedSide{std::move(*scores), std::move(notices)};
  }

  /// Words that look like a path are meant as one, and missed as one.
  static bool may_be_run(const std::string& name) { return name.find_first_of("/.") == std::string::npos; }

  Result<Thresholding> flag_limits() const {
    Thresholding limits;
    const auto read = [](std::string_view flag, const std::optional<std::string>& text,
                         std::optional<double>& target) -> Result<void> {
      if (!text) return {};
      const auto number = fraction_of(flag, *text);
      if (!number) return fail(number.error());
      target = *number;
      return {};
    };
    auto well = read("--max-drop", max_drop, limits.max_drop);
    if (well) well = read("--min-floor", min_floor, limits.min_floor);
    if (well) well = read("--min-score", min_score, limits.min_score);
    if (!well) return fail(well.error());
    return limits;
  }

  int compare_files(const LoadedSide& loaded_base, const LoadedSide& loaded_current,
                    const Thresholding& limits, std::size_t format_number) const {
    const ScoreFile& left = loaded_base.file;
    const ScoreFile& right = loaded_current.file;
    const BaselineHeader& header = header_of(right);
    const GatedRun run{header.suite,
                       header.config_fingerprint,
                       header.assay_version,
                       "SUITE",
                       base,
                       strict,
                       current,
                       std::holds_alternative<ReportScores>(left),
                       header.suite_path,
                       header.mode == "mock" || !names_mode(right)};
    auto notices = check_baseline(header_of(left), run);
    if (!notices) return report_error(notices.error());
    CompareReportInput input{side_of(base, left), side_of(current, right), {}, {}, 0, {}};
    input.gate.kind = BaselineKind::scores;
    input.gate.strict = strict;
    input.gate.notices = std::move(*notices);
    for (const LoadedSide* one : {&loaded_base, &loaded_current})
      input.gate.notices.insert(input.gate.notices.end(), one->notices.begin(), one->notices.end());
    CompareRules rules;
    rules.strict = strict;
    rules.seed = defaults::statistics_seed;
    rules.min_pass_rate = min_pass_rate_of(right);
    rules.base_is_selection = is_selection(left);
    rules.current_is_selection = is_selection(right);
    input.visit = [&](const std::function<void(const ScoreComparison&)>& visit) {
      return compare(cases_in(left), with_limits(cases_in(right), limits), rules, visit);
    };
    const auto summary = input.visit([](const ScoreComparison&) {});
    if (!summary) return report_error(summary.error());
    const bool is_part = rules.base_is_selection || rules.current_is_selection;
    if (summary->shares_no_case && !is_part) return report_error(shares_no_case(run));
    if (!summary->has_scores) input.gate.notices.push_back(no_scores_notice(base, current));
    if (auto lacking = uncalibrated_notice(*summary, current, strict))
      input.gate.notices.push_back(std::move(*lacking));
    rules.runs_tests = false;  // What is visited once more are the rows.
    input.summary = *summary;
    input.gate.statistics = summary->statistics;
    StabilityQuestion question = stability_question(right);
    question.baseline = &stability_of(left);
    question.base_is_selection = is_selection(left);
    if (limits.max_drop) question.suite = limits;
    input.gate.stability = assess_stability(question, run, input.gate.notices);
    decide(input, !cut_short_by(right).empty());
    if (const auto written = write(input, format_number); !written) return report_error(written.error());
    if (const auto reason = cut_short_by(right); !reason.empty()) {
      return report_error(current + " is the report of a run that was cut short (" + reason +
                          "); run the suite again");
    }
    return input.exit_code;
  }

  /// The comparison's verdict with what concerns it as a whole.
  void decide(CompareReportInput& input, bool cut_short) const {
    VerdictInput& verdict = input.summary.verdict_input;
    verdict.cut_short = cut_short;
    count_comparison(input.gate, verdict);
    input.summary.verdict = run_verdict(verdict);
    input.exit_code = exit_code(input.summary.verdict, verdict, {.strict = strict});
  }

  Result<void> write(const CompareReportInput& input, std::size_t format_number) const {
    std::size_t columns = piped_columns;
    if (!to_file()) columns = detect_terminal(STDOUT_FILENO).columns.value_or(piped_columns);
    columns = std::clamp(columns, least_columns, most_columns);
    const ContentWriter writer = [&](Sink& sink) {
      if (format_number == 1) return write_compare_json(input, sink);
      if (format_number == 2) return write_compare_markdown(input, sink);
      return write_compare_table(input, columns, sink);
    };
    return to_file() ? write_whole_file("report", *output, writer) : write_stdout("report", writer);
  }
};

}  // namespace

Command add_compare_command(CLI::App& program) {
  auto command = std::make_shared<CompareCommand>();
  CLI::App* app =
      program.add_subcommand("compare", "Gate one run or file of scores against another, offline");
  app->add_option("BASE", command->base, "What is compared with: a file or a run")->required()->type_name("");
  app->add_option("CURRENT", command->current, "What is judged: a file or a run")->required()->type_name("");
  app->add_option("--max-drop", command->max_drop, "Largest drop below BASE that passes (default 0.05)")
      ->type_name("X");
  app->add_option("--min-floor", command->min_floor, "No score may be lower")->type_name("X");
  app->add_option("--min-score", command->min_score, "The lowest score that passes")->type_name("X");
  app->add_flag("--strict", command->strict, "Warnings fail too");
  app->add_option("--format", command->format, "What it is written as (default table)")
      ->type_name("table|json|markdown");
  app->add_option("--output", command->output, "Write to this file instead of stdout")->type_name("FILE");
  command->settings.add_to(*app, {"home"});
  command->app = app;
  app->footer(compare_examples);
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
