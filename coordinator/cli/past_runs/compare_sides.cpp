#include "coordinator/cli/past_runs/compare_sides.hpp"

#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/past_report.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/gate/stability_gate.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/gate/verdict_input.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

namespace sluice {
namespace {

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

/// A baseline is that of a whole run: a part of a suite pins none.
bool is_selection(const ScoreFile& file) {
  const auto* report = std::get_if<ReportScores>(&file);
  return report != nullptr && report->is_selection;
}

/// Another one has not each test that its suite had.
bool is_whole_report(const ScoreFile& file) {
  return std::holds_alternative<ReportScores>(file) && !is_selection(file);
}

/// A baseline says it of a mock run, and is one of a model's answers else.
bool names_mode(const ScoreFile& file) {
  const auto* report = std::get_if<ReportScores>(&file);
  return report == nullptr || report->names_mode;
}

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

ComparedSide side_of(const LoadedSide& side) {
  return {side.name, std::holds_alternative<Baseline>(side.file) ? "baseline" : "report",
          header_of(side.file), is_selection(side.file), side.run_id};
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

/// The comparison's verdict with what concerns it as a whole.
void decide(CompareReportInput& input, bool cut_short) {
  VerdictInput& verdict = input.summary.verdict_input;
  verdict.cut_short = cut_short;
  count_comparison(input.gate, verdict);
  input.summary.verdict = run_verdict(verdict);
  input.exit_code = exit_code(input.summary.verdict, verdict, {.strict = input.gate.strict});
}

GatedRun gated_run(const LoadedSide& base, const LoadedSide& current, const CompareRequest& request) {
  const BaselineHeader& header = header_of(current.file);
  return {.suite = header.suite,
          .config_fingerprint = header.config_fingerprint,
          .tool_version = header.assay_version,
          .suite_path = "SUITE",
          .baseline_file = base.name,
          .strict = request.strict,
          .current_file = current.name,
          .current_is_baseline = std::holds_alternative<Baseline>(current.file),
          .base_is_report = std::holds_alternative<ReportScores>(base.file),
          .base_is_run = !base.run_id.empty(),
          .suite_place = header.suite_path,
          .takes_mock_base = header.mode == "mock" || !names_mode(current.file),
          .fingerprint_parts = header.fingerprint_parts};
}

/// A baseline of another tool, or of an early sluice, may pin scores alone.
bool has_checks(const ScoreFile& file) {
  const auto* baseline = std::get_if<Baseline>(&file);
  if (baseline == nullptr) return true;
  for (std::size_t i = 0; i < baseline->size(); ++i) {
    if (baseline->entry(i).kind == PinKind::checks) return true;
  }
  return false;
}

/// Refers to both sides.
CompareRules rules_of(const LoadedSide& base, const LoadedSide& current, bool strict) {
  CompareRules rules;
  rules.strict = strict;
  rules.seed = defaults::statistics::seed;
  if (const auto* report = std::get_if<ReportScores>(&current.file)) {
    rules.min_pass_rates = report->min_pass_rates;
    rules.arms = report->arms;
    rules.tests = report->tests;
  } else if (const auto* of_base = std::get_if<ReportScores>(&base.file)) {
    rules.arms = of_base->arms;  // A baseline names none.
  }
  rules.base_is_selection = is_selection(base.file);
  rules.base_has_checks = has_checks(base.file);
  rules.current_is_selection = is_selection(current.file);
  rules.base_lost = base.cases.lost;
  rules.current_lost = current.cases.lost;
  return rules;
}

/// What is said of both before a case is looked at; `notices` are those of the base.
std::vector<GateNotice> notices_of(const LoadedSide& base, const LoadedSide& current,
                                   std::vector<GateNotice> notices) {
  for (const LoadedSide* one : {&base, &current})
    notices.insert(notices.end(), one->notices.begin(), one->notices.end());
  const bool is_mock_beside_real =
      header_of(current.file).mode == "mock" && header_of(base.file).mode != "mock" && names_mode(base.file);
  if (is_mock_beside_real) notices.push_back(mock_run_notice(base.name, current.name));
  return notices;
}

/// Tests that only one of the two has, or that are judged otherwise; of parts of a suite the latter alone.
void add_tests(const LoadedSide& base, const LoadedSide& current, const CompareSummary& summary, bool is_part,
               bool strict, CompareReportInput& input) {
  TestChanges named;
  std::size_t lost_failed = 0;
  if (is_part) {
    named.judged_otherwise = summary.tests.judged_otherwise;
  } else if (std::holds_alternative<ReportScores>(current.file)) {
    input.tests = summary.tests;
    // What a baseline has no score of is counted as unpinned.
    if (!is_whole_report(base.file)) input.tests->added.clear();
    named = *input.tests;
    lost_failed = current.cases.lost_failed;
  } else {
    // A baseline pins every check; the scores that it lacks are counted one by one.
    named.gone = summary.gone_checks;
    named.judged_otherwise = summary.tests.judged_otherwise;
  }
  std::ranges::move(test_notices(named, base.name, current.name, lost_failed, strict),
                    std::back_inserter(input.gate.notices));
}

/// As the run of CURRENT says it beside its baseline; of a part of a suite nobody asks that it is enough, and
/// a drop that a flag allows goes before the tests.
std::optional<GateNotice> nothing_tested_notice(const CompareRules& rules, const CompareSummary& summary,
                                                const CompareRequest& request) {
  if (rules.tests.mode != ThresholdMode::statistical || request.limits.max_drop) return std::nullopt;
  if (rules.base_is_selection || rules.current_is_selection) return std::nullopt;
  return nothing_paired_notice(summary.statistics.value_or(StatisticalAssessment{}),
                               summary.verdict_input.statuses.errors, request.strict);
}

}  // namespace

tl::expected<LoadedSide, int> side_of_run(const PastRun& past, const std::string& name, const RunPlace& place,
                                          const std::vector<ReportTarget>& targets, const UseReport& also) {
  StringSink report;
  std::vector<GateNotice> notices;
  const auto use = [&](const ReportInput& input) {
    notices = notices_of_run(name, input.gate.notices);
    if (const auto made = write_json_report(input, report); !made) return std::vector{made.error()};
    return also ? also(input) : std::vector<Error>();
  };
  RunPlace shared_tests = place;
  shared_tests.tests = Tests::shared;
  auto cases = report_past_run(past, shared_tests, targets, use);
  if (!cases) return tl::unexpected(cases.error());
  std::istringstream text(report.text());
  auto scores = parse_report(text, name);
  if (!scores) return tl::unexpected(report_findings({scores.error()}));
  return LoadedSide{name, std::move(*scores), std::move(notices), past.run.run_id, std::move(*cases)};
}

Result<void> check_are_two_runs(const std::string& base_run_id, const std::string& current_run_id) {
  if (base_run_id.empty() || base_run_id != current_run_id) return {};
  return fail(Reason::usage_invalid, "run " + short_id(base_run_id) +
                                         " cannot be compared with itself: name another run beside it; "
                                         "`sluice runs list` shows them");
}

int compare_sides(const LoadedSide& base, const LoadedSide& current, const CompareRequest& request,
                  const std::function<Result<void>(const CompareReportInput&)>& write) {
  const ScoreFile& left = base.file;
  const ScoreFile& right = current.file;
  if (const auto reason = cut_short_by(left); !reason.empty()) {
    return report_error(base.name + " is the report of a run that was cut short (" + reason +
                        "), which nothing can be measured against; name a whole one");
  }
  const GatedRun run = gated_run(base, current, request);
  auto notices = check_baseline(header_of(left), run);
  if (!notices) return report_error(notices.error());
  CompareReportInput input{side_of(base), side_of(current), {}, {}, 0, {}};
  input.gate.kind = BaselineKind::scores;
  input.gate.strict = request.strict;
  input.gate.notices = notices_of(base, current, std::move(*notices));
  CompareRules rules = rules_of(base, current, request.strict);
  const auto otherwise = judged_otherwise(base.cases.judged, current.cases.judged);
  rules.judged_otherwise = otherwise;
  input.visit = [&](const std::function<void(const ScoreComparison&)>& visit) {
    return compare(cases_in(left), with_limits(cases_in(right), request.limits), rules, visit);
  };
  const auto summary = input.visit([](const ScoreComparison&) {});
  if (!summary) return report_error(summary.error());
  const bool is_part = rules.base_is_selection || rules.current_is_selection;
  if (summary->shares_no_case && !is_part) return report_error(shares_no_case(run));
  add_tests(base, current, *summary, is_part, request.strict, input);
  std::ranges::move(summary->judges.finish(run), std::back_inserter(input.gate.notices));
  if (!summary->has_scores)
    input.gate.notices.push_back(no_scores_notice(std::array{base.name, current.name}));
  if (auto lacking = uncalibrated_notice(*summary, current.name, request.strict))
    input.gate.notices.push_back(std::move(*lacking));
  if (auto nothing = nothing_tested_notice(rules, *summary, request))
    input.gate.notices.push_back(std::move(*nothing));
  if (auto lost = repeats_incomplete_notice(summary->lost_repeats, request.strict))
    input.gate.notices.push_back(std::move(*lost));
  rules.runs_tests = false;  // What is visited once more are the rows.
  input.summary = *summary;
  input.gate.statistics = summary->statistics;
  StabilityQuestion question = stability_question(right);
  question.baseline = &stability_of(left);
  question.base_is_selection = is_selection(left);
  if (request.limits.max_drop) question.suite = request.limits;
  input.gate.stability = assess_stability(question, run, input.gate.notices);
  decide(input, !cut_short_by(right).empty());
  if (const auto written = write(input); !written) return report_error(written.error());
  if (const auto reason = cut_short_by(right); !reason.empty()) {
    return report_error(current.name + " is the report of a run that was cut short (" + reason +
                        "); run the suite again");
  }
  return input.exit_code;
}

}  // namespace sluice
