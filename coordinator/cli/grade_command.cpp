#include "coordinator/cli/command.hpp"
#include "coordinator/cli/execute_run.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/session/grade_options.hpp"

#include <memory>
#include <utility>

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
    "Exit code 0: every test has its grades; 1: some have not, or a budget was spent;\n"
    "2: usage, settings, set-up, or a run that was interrupted or could not go on.";

struct GradeCommand {
  SettingFlags settings;
  RunFlags flags;
  GradeFlags grade;

  int run(const StartWorkers& start_workers) const {
    auto source = load_run_source(settings, flags);
    if (!source) return source.error();
    const auto arms = run_arms(flags, source->suite);
    if (!arms) return report_error(arms.error());
    auto options = make_grade_options(flags, grade, std::move(source->settings), *arms);
    if (!options) return report_error(options.error());
    options->suite_path = source->path;
    return execute_run(*options, std::move(source->suite), start_workers);
  }

  void add_flags(CLI::App& app) {
    add_suite_flags(app, flags);
    app.add_option("--arm", flags.arms, "An arm, in place of the suite's; may be given often")
        ->allow_extra_args(false)
        ->type_name("NAME=PROVIDER:MODEL");
    app.add_option("--baseline", grade.baseline, "The arm whose answers are compared with")->type_name("ARM");
    app.add_option("--candidate", grade.candidate, "The arm whose answers are graded")->type_name("ARM");
    app.add_option("--judge", grade.judge, "Who compares the two answers of a test")
        ->type_name("exact|embedding|llm");
    app.add_option("--judge-seed", grade.judge_seed, "Sent with each comparison of --judge llm")
        ->type_name("N");
    add_distribution_flags(app, flags);
    add_report_flags(app, flags, "table|json");
    add_log_flags(app, flags);
    settings.rename("judge", "--judge-provider");
    settings.add_to(app);
  }
};

}  // namespace

Command add_grade_command(CLI::App& program, const StartWorkers& start_workers) {
  auto command = std::make_shared<GradeCommand>();
  CLI::App* app = program.add_subcommand("grade", "Grade an arm's answers against those of another arm");
  command->add_flags(*app);
  app->footer(grade_examples);
  return {app, [command, start_workers] { return command->run(start_workers); }};
}

}  // namespace sluice
