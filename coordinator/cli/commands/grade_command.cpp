#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/run/execute_run.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/merge/run_grades.hpp"
#include "coordinator/report/commands/grade_report.hpp"
#include "coordinator/session/arm_options.hpp"
#include "coordinator/session/grade_options.hpp"
#include "coordinator/session/report_output.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* grade_examples =
    "Both arms answer the same prompts under the same settings, and --judge compares\n"
    "each pair: exact (the same text), embedding (cosine of both texts) or llm (a\n"
    "model that sees the pair in both orders).\n"
    "Examples:\n"
    "  sluice grade suite.yaml --mode live --arm old=openai:gpt-4o-mini\n"
    "    --arm new=openai:gpt-5-mini --baseline old --candidate new --judge exact\n"
    "  sluice grade suite.yaml --mode live --baseline mini --candidate haiku\n"
    "    --judge embedding --embedding-model lexical-ngrams-v1\n"
    "  sluice grade suite.yaml --mode live --baseline mini --candidate haiku\n"
    "    --judge llm --judge-provider openai --judge-model gpt-5 --judge-seed 7\n"
    "    --format json --output grades.json\n"
    "Exit code 0: every test has its grades; 1: some have none, or a budget was\n"
    "spent; 2: usage, settings, set-up, or a run that was interrupted or failed.";

/// What the answers of an arm cost, at the prices of today.
class AnswerCosts {
 public:
  AnswerCosts(const ConcludedRun& run, const RunArm& arm)
      : prices_(run.inputs.prices), model_(arm.provider), name_(arm.arm.name) {}

  std::optional<double> of(const Usage& usage) const {
    return prices_.cost(model_.provider.kind, model_.model, usage);
  }
  GradedModel model() const { return {name_, model_.provider.name, model_.model}; }
  AnswerPrice price(const GradedAnswer& answer) const {
    return {of(answer.usage), answer.cache_hit ? std::nullopt : std::optional(answer.latency_ms)};
  }
  GradedArmFacts facts(const GradedArm& arm) const {
    return {name_, model_.provider.kind, model_.provider.name, model_.model, of(arm.usage)};
  }

 private:
  const PriceTable& prices_;
  const ResolvedProvider& model_;
  const std::string& name_;
};

/// Puts grades into the ledger's quality table, some at a time.
class GradeKeeper {
 public:
  /// Keeps nothing of mock answers: they are nobody's.
  GradeKeeper(const ConcludedRun& run, const AnswerCosts& baseline, const AnswerCosts& candidate)
      : run_(run),
        baseline_(baseline),
        candidate_(candidate),
        keeps_(run.options.settings.mode.value != Mode::mock) {}

  void add(const std::string& test, const CaseResult& of_case, const TrialResult& trial,
           const GradingResult& given) {
    if (!keeps_ || problem_) return;
    grader_id_ = given.grade.grader_id;
    const auto& orders = given.grade.orders;
    grades_.push_back({trial.trial, test, of_case.fixture.category, trial.repeat, given.grade.quality_score,
                       given.grade.notes, orders ? std::optional(position_flips(*orders)) : std::nullopt,
                       baseline_.price(given.baseline), candidate_.price(given.candidate)});
    if (grades_.size() >= defaults::grades_written_at_once) write();
  }

  Result<void> finish() {
    write();
    if (problem_) return fail(std::move(*problem_));
    return {};
  }

 private:
  void write() {
    if (grades_.empty() || problem_) return;
    const QualityGroup group{run_.inputs.suite.name, std::string(to_string(run_.options.grading->judge)),
                             grader_id_, baseline_.model(), candidate_.model()};
    if (auto written = run_.ledger.note_grades(run_.facts.run_id, group, grades_); !written)
      problem_ = std::move(written.error());
    grades_.clear();
  }

  const ConcludedRun& run_;
  const AnswerCosts& baseline_;
  const AnswerCosts& candidate_;
  bool keeps_;
  std::string grader_id_;
  std::vector<QualityRecord> grades_;
  std::optional<Error> problem_;
};

/// Keeps the grades, and prints them. Returns the exit code.
int conclude_grades(const ConcludedRun& run) {
  const AnswerCosts baseline(run, run.options.grading->baseline);
  const AnswerCosts candidate(run, run.options.arms.front());
  GradeKeeper keeper(run, baseline, candidate);
  const auto grades =
      run_grades(run.results, defaults::statistics::confidence, defaults::statistics::seed,
                 [&](const std::string& test, const CaseResult& of_case, const TrialResult& trial,
                     const GradingResult& given) { keeper.add(test, of_case, trial, given); });
  if (!grades) return report_error(grades.error());
  const auto kept = keeper.finish();
  const auto& cut_short = run.facts.cut_short;
  const GradeReportInput input{*grades,
                               run.options.grading->judge,
                               run.inputs.suite.name,
                               run.facts.run_id,
                               baseline.facts(grades->all.baseline),
                               candidate.facts(grades->all.candidate),
                               defaults::statistics::confidence,
                               paid_cost(run.facts, run.price),
                               cut_short};
  int code = grades->all.errors > 0 || cut_short ? exit_failed : exit_ok;
  for (const ReportTarget& target : run.options.reports) {
    if (auto written = write_grade_report(target, input); !written) code = report_error(written.error());
  }
  if (cut_short) {
    report_error(*cut_short);
    if (!is_run_budget(cut_short->reason)) code = exit_error;
  }
  return kept ? code : report_error(kept.error());
}

struct GradeCommand {
  SettingFlags settings;
  RunFlags flags;
  GradeFlags grade;

  int run(const PrepareWorkers& prepare_workers, const CLI::App& app) {
    flags.given = given_flags(app);
    auto source = load_run_source(settings, flags);
    if (!source) return source.error();
    warn_of_unread_settings(settings, flags, source->path);
    const auto arms = run_arms(flags, source->suite);
    if (!arms) return report_error(arms.error());
    auto options = make_grade_options(flags, grade, std::move(source->settings), *arms);
    if (!options) return report_error(options.error());
    options->suite_path = source->path;
    const RunUse use{.command = "grade", .check = {}, .conclude = conclude_grades};
    return execute_run(*options, std::move(source->suite), prepare_workers, &use);
  }

  void add_flags(CLI::App& app) {
    add_suite_argument(app, flags);
    add_suite_flags(app, flags);
    app.add_option("--arm", flags.arms, "An arm; replaces the suite's arms; may be repeated")
        ->allow_extra_args(false)
        ->type_name("NAME=PROVIDER:MODEL");
    app.add_option("--baseline", grade.baseline, "The arm to compare with")->type_name("ARM");
    app.add_option("--candidate", grade.candidate, "The arm to grade")->type_name("ARM");
    app.add_option("--judge", grade.judge, "How to compare the two answers of a test")
        ->type_name("exact|embedding|llm");
    app.add_option("--judge-seed", grade.judge_seed, "Seed for each comparison of --judge llm")
        ->type_name("N");
    add_distribution_flags(app, flags);
    add_report_flags(app, flags, "table|json");
    add_log_flags(app, flags);
    settings.rename("judge", "--judge-provider");
    settings.add_to(app);
  }
};

}  // namespace

Command add_grade_command(CLI::App& program, const PrepareWorkers& prepare_workers) {
  auto command = std::make_shared<GradeCommand>();
  CLI::App* app = program.add_subcommand("grade", "Compare the answers of two arms, with a judge");
  command->add_flags(*app);
  app->footer(grade_examples);
  return {app, [command, prepare_workers, app] { return command->run(prepare_workers, *app); }};
}

}  // namespace sluice
