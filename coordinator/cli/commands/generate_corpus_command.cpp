#include "common/checks/key_mask.hpp"
#include "common/clock.hpp"
#include "common/files.hpp"
#include "common/text/text.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/run/execute_run.hpp"
#include "coordinator/cli/run/plan_estimate.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/corpus/corpus_folder.hpp"
#include "coordinator/corpus/corpus_report.hpp"
#include "coordinator/corpus/file_list.hpp"
#include "coordinator/corpus/findings.hpp"
#include "coordinator/corpus/scan.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/report/commands/estimate_report.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/suite/selection.hpp"
#include "coordinator/suite/suite_builder.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* generate_examples =
    "Asks a model about each file that a rule selects, and makes fixtures of its\n"
    "claims; a person then goes through them with `sluice review`. The default mode\n"
    "is live. Answers are cached: the same command continues an interrupted\n"
    "generation, and pays for no answer twice.\n"
    "Examples:\n"
    "  sluice generate-corpus --scan-path . --output-dir evals/auto --dry-run\n"
    "  sluice generate-corpus --scan-path . --output-dir evals/auto\n"
    "    --provider openai --model gpt-5-mini --max-cost 5\n"
    "  sluice generate-corpus --scan-path . --output-dir evals/auto --seed 7\n"
    "    --sample-size 100 --min-confidence 0.9 --mode cached\n"
    "Exit code 0: written; 1: some files have no answer, or a budget was spent; 2:\n"
    "usage, settings, set-up, or a run that was interrupted or failed.";

/// Each with its flag; what else a run can do is nothing for one question to each file.
const std::initializer_list<std::string_view> settings_of_a_scan = {"mode",
                                                                    "provider",
                                                                    "model",
                                                                    "base_url",
                                                                    "temperature",
                                                                    "max_output_tokens",
                                                                    "seed",
                                                                    "max_concurrent",
                                                                    "max_in_flight",
                                                                    "connect_timeout_seconds",
                                                                    "request_timeout_seconds",
                                                                    "case_timeout_seconds",
                                                                    "worker_timeout_seconds",
                                                                    "drain_timeout_seconds",
                                                                    "expect_workers",
                                                                    "outage_timeout_seconds",
                                                                    "run_deadline_seconds",
                                                                    "max_run_tokens",
                                                                    "max_run_cost",
                                                                    "save_observations",
                                                                    "durable",
                                                                    "redact",
                                                                    "max_tokens_per_file",
                                                                    "max_tokens_per_scan",
                                                                    "prompt_file",
                                                                    "ontology_file",
                                                                    "prices_file",
                                                                    "home"};

tl::expected<TriggerRules, std::vector<Finding>> load_rules(const std::optional<std::string>& file) {
  if (!file) return TriggerRules::parse(embedded::triggers, "built-in triggers");
  const auto text = read_file(*file, defaults::max_fixture_bytes);
  if (!text) return tl::unexpected(std::vector<Finding>{{*file, 0, text.error().message}});
  return TriggerRules::parse(with_unix_line_ends(*text), *file);
}

/// What is taken out of all that is written: keys that this process has, and what `[redaction]` names.
MaskText mask_of(const Settings& settings, const Redactor& redactor) {
  std::vector<std::string> keys;
  for (const std::string& name : secret_variables(settings)) {
    const char* const key = std::getenv(name.c_str());
    if (key != nullptr) keys.emplace_back(key);
  }
  return [mask = KeyMask(keys), &redactor](std::string& text) {
    const bool had_key = mask.apply(text);
    return redactor.apply(text) || had_key;
  };
}

/// The fixtures as a suite, to be sampled from.
Suite suite_of_fixtures(std::vector<Case> fixtures) {
  SuiteBuilder builder;
  for (Case& one : fixtures) {
    const std::string id = one.id;
    builder.add(std::move(one), {builder.add_file(id), 0});
  }
  return builder.finish("findings", {});
}

/// What a generation was told to do.
struct Request {
  Settings settings;
  TriggerRules rules;
  std::uint32_t sample_size = 0;
  std::uint32_t seed = 0;
  double min_confidence = 0.0;
};

/// Makes fixtures of a run's answers. Errors are reported on stderr.
class CorpusMaker {
 public:
  CorpusMaker(const Request& request, std::string folder) : request_(request) {
    made_.folder = std::move(folder);
    made_.min_confidence = request.min_confidence;
    made_.seed = request.seed;
  }

  /// Returns the exit code.
  int conclude(const ConcludedRun& run) {
    auto fixtures = gather(run);
    if (!fixtures) return report_error(fixtures.error());
    if (run.facts.cut_short) return report_interruption(run);
    // As it is now: people may have reviewed it while the run went on.
    const auto corpus = read_corpus(made_.folder);
    if (!corpus) {
      const int code = report_findings(corpus.error());
      report_warning("no fixture is written; the same command goes on once they load");
      return code;
    }
    const auto sample = take_sample(*corpus, std::move(*fixtures));
    if (!sample) return report_error(sample.error());
    auto written = write_fixtures(made_.folder, *corpus, *sample);
    if (!written) return report_error(written.error());
    made_.written = std::move(*written);
    std::cout << corpus_text(made_, output_columns());
    // What is written must load, whatever stands beside it.
    if (const auto now = read_corpus(made_.folder); !now) return report_findings(now.error());
    return made_.error_count > 0 ? exit_failed : exit_ok;
  }

  /// What it would write if there were no answers but those of the run. Returns the exit code.
  int show_sample(const ConcludedRun& run) {
    // What the caches lack is not there yet; anything else is no sample.
    if (const auto& why = run.facts.cut_short; why && !is_miss(why->reason)) return report_error(*why);
    auto fixtures = gather(run);
    if (!fixtures) return report_error(fixtures.error());
    const auto corpus = read_corpus(made_.folder);
    if (!corpus) return report_findings(corpus.error());
    if (const auto sample = take_sample(*corpus, std::move(*fixtures)); !sample)
      return report_error(sample.error());
    std::cout << sample_text(made_, output_columns());
    return exit_ok;
  }

 private:
  Result<std::vector<Case>> gather(const ConcludedRun& run) {
    Findings findings(run.inputs.ontology,
                      {request_.min_confidence, wording::rfc3339(unix_now_ms()).substr(0, 10),
                       mask_of(run.options.settings, run.inputs.redactor)});
    const auto visited = visit_cases(run.results, [&](const CaseResult& result) {
      if (result.error != nullptr) return add_error(result);
      ++made_.answers;
      findings.add(result.fixture, result.unit->claims);
    });
    if (!visited) return fail(visited.error());
    made_.claims = findings.counts();
    return findings.take();
  }

  void add_error(const CaseResult& result) {
    ++made_.error_count;
    if (made_.errors.size() < defaults::listed_files)
      made_.errors.push_back(result.fixture.id + ": " + result.error->message);
  }

  int report_interruption(const ConcludedRun& run) const {
    const Error& why = *run.facts.cut_short;
    const Mode mode = run.options.settings.mode.value;
    std::string advice;
    if (mode == Mode::live && !run.options.no_cache)
      advice = "; the answers are in the cache, from where the same command goes on";
    // Beside another process that may be paying for them nobody is told to pay.
    if (mode == Mode::cached && why.reason != Reason::cache_in_use)
      advice = "; without --mode cached the others are asked about";
    report_error(why);
    report_warning("no fixture is written: " +
                   wording::counted_of(made_.answers, made_.answers + made_.error_count, "file") +
                   " answered" + advice);
    return is_run_budget(why.reason) ? exit_failed : exit_error;
  }

  /// Those that no review has rejected, sampled by category.
  Result<std::vector<Case>> take_sample(const Corpus& corpus, std::vector<Case> fixtures) {
    made_.rejected =
        std::erase_if(fixtures, [&](const Case& one) { return corpus.rejected.contains(one.id); });
    Suite suite = suite_of_fixtures(std::move(fixtures));
    for (const auto& [category, cases] : count_categories(suite))
      made_.categories.push_back({category, cases, 0});
    auto sampled =
        select(std::move(suite), {.max_cases = request_.sample_size, .sample_seed = request_.seed});
    if (!sampled) return fail(std::move(sampled.error()));
    for (const auto& [category, cases] : count_categories(*sampled)) {
      const auto known = std::ranges::find(made_.categories, category, &GeneratedCorpus::Category::name);
      known->sampled = cases;
    }
    std::vector<Case> sample;
    for (std::size_t i = 0; i < sampled->cases.size(); ++i) {
      const auto one = sampled->cases.read(i);
      if (!one) return fail(one.error());
      sample.push_back(**one);
    }
    return sample;
  }

  const Request& request_;
  GeneratedCorpus made_;
};

struct GenerateCorpus {
  SettingFlags settings;
  RunFlags flags;
  std::string scan_path;
  std::string output_dir;
  std::optional<std::string> sample_size;
  std::optional<std::string> seed;
  std::optional<std::string> min_confidence;
  std::optional<std::string> triggers;
  bool dry_run = false;

  int run(const PrepareWorkers& prepare_workers, const CacheTools& caches) {
    auto request = read_request();
    if (!request) return request.error();
    if (const auto corpus = read_corpus(output_dir); !corpus) return report_findings(corpus.error());
    if (const auto ready = make_output_folder(); !ready) return report_error(ready.error());
    auto list = files_of_tree(request->rules);
    if (!list) return report_error(list.error());
    const auto tree = open_tree(scan_path);
    if (!tree) return report_error(tree.error());
    const Scan scan =
        scan_tree(list->paths, **tree, request->rules,
                  {request->settings.max_tokens_per_file.value, request->settings.max_tokens_per_scan.value});
    std::cout << scan_text(scan, scan_path, *list, output_columns()) << std::flush;
    if (scan.files.empty()) return report_error(nothing_to_ask_about(scan, scan_path));
    auto options = options_of(request->settings, scan);
    if (!options) return report_error(options.error());
    Suite suite = suite_of(scan, "corpus of " + fs::path(options->suite_path).filename().string());
    if (dry_run) return show_plan(*request, *options, std::move(suite), prepare_workers, caches);
    CorpusMaker maker(*request, output_dir);
    RunUse use;
    use.command = generate_command;
    use.is_assessed = false;
    use.conclude = [&](const ConcludedRun& run) { return maker.conclude(run); };
    return execute_run(*options, std::move(suite), prepare_workers, &use);
  }

  void add_flags(CLI::App& app) {
    app.add_option("--scan-path", scan_path, "The folder with the code")->required()->type_name("DIR");
    app.add_option("--output-dir", output_dir,
                   "The folder for the fixtures, with a subfolder for each category")
        ->required()
        ->type_name("DIR");
    app.add_option("--sample-size", sample_size,
                   "Most fixtures to write, distributed over the categories (default 50)")
        ->type_name("N");
    app.add_option("--seed", seed, "Seed of the sample of findings (default 1)")->type_name("N");
    app.add_option("--min-confidence", min_confidence,
                   "Lowest confidence of a claim, from 0 to 1 (default 0.7)")
        ->type_name("SHARE");
    app.add_option("--triggers", triggers, "Rules that select files, instead of the built-in ones")
        ->type_name("FILE");
    app.add_flag("--dry-run", dry_run, "Only show the selected files, the highest cost and the sample");
    add_cache_flags(app, flags);
    add_distribution_flags(app, flags);
    add_log_flags(app, flags);
    settings.rename("seed", "--model-seed");
    settings.rename("max_tokens_per_file", "--max-tokens-per-file");
    settings.rename("max_tokens_per_scan", "--max-tokens-per-scan");
    settings.add_to(app, settings_of_a_scan);
  }

 private:
  /// Error: the exit code.
  tl::expected<Request, int> read_request() const {
    auto effective = settings.load();
    if (!effective) return tl::unexpected(report_findings(effective.error()));
    auto rules = load_rules(triggers);
    if (!rules) return tl::unexpected(report_findings(rules.error()));
    Request request{std::move(*effective), std::move(*rules), defaults::generated_fixtures,
                    defaults::unnamed_sample_seed, defaults::claim_confidence};
    const auto take = [](auto& value, auto read) -> Result<void> {
      if (!read) return fail(std::move(read.error()));
      value = *read;
      return {};
    };
    Result<void> read;
    if (sample_size)
      read = take(request.sample_size,
                  count_of("--sample-size", *sample_size, defaults::max_generated_fixtures));
    if (read && seed) read = take(request.seed, number_of("--seed", *seed, 0, defaults::max_sample_seed));
    if (read && min_confidence)
      read = take(request.min_confidence, fraction_of("--min-confidence", *min_confidence));
    if (read) read = adapt(request.settings);
    if (!read) return tl::unexpected(report_error(read.error()));
    std::error_code error;
    if (!fs::is_directory(scan_path, error))
      return tl::unexpected(report_error("--scan-path " + scan_path + " is no folder; name the one to scan"));
    return request;
  }

  /// One question to each file, whatever the settings say of suites.
  static Result<void> adapt(Settings& chosen) {
    if (chosen.robust && chosen.mode.origin == Origin::flag)
      return usage_error("a corpus is made of one answer for each file: --mode is live, cached or mock");
    if (chosen.mode.origin == Origin::default_value) chosen.mode.value = Mode::live;
    chosen.robust = false;
    chosen.perturb = {};
    chosen.repeat = {1};
    chosen.min_stability = {};
    return {};
  }

  /// What is certain to fail is known before anything is paid for.
  Result<void> make_output_folder() const {
    std::error_code error;
    if (!dry_run) fs::create_directories(output_dir, error);
    const auto advice = [&](const std::string& why) {
      return fail(Reason::output_failed, "--output-dir " + output_dir + " " + why + "; name another folder");
    };
    if (error) return advice("cannot be made: " + error.message());
    if (fs::exists(output_dir, error) && !fs::is_directory(output_dir, error)) return advice("is no folder");
    if (!dry_run && ::access(output_dir.c_str(), W_OK) != 0) return advice("cannot be written to");
    return {};
  }

  /// Without what earlier generations wrote.
  Result<FileList> files_of_tree(const TriggerRules& rules) const {
    auto list = list_files(scan_path, rules.excluded_folders());
    if (!list) return list;
    std::error_code error;
    const fs::path own =
        fs::weakly_canonical(output_dir, error).lexically_relative(fs::canonical(scan_path, error));
    const std::string folder = own.generic_string() + "/";
    if (error || own.empty() || folder.starts_with("../") || folder == "./") return list;
    std::erase_if(list->paths, [&](const std::string& path) { return path.starts_with(folder); });
    return list;
  }

  Result<RunOptions> options_of(const Settings& chosen, const Scan& scan) const {
    RunFlags of_scan = flags;
    // A part of no suite: its scores are nobody's baseline.
    for (const ScannedFile& file : scan.files) of_scan.only_cases.push_back(file.path);
    auto options = make_run_options(of_scan, chosen);
    if (!options) return options;
    std::error_code error;
    const fs::path whole = fs::canonical(scan_path, error);
    options->suite_path = error ? scan_path : whole.string();
    return options;
  }

  int show_plan(const Request& request, const RunOptions& options, Suite suite,
                const PrepareWorkers& prepare_workers, const CacheTools& caches) const {
    const auto inputs = load_run_inputs(options, suite);
    if (!inputs) return report_findings(inputs.error());
    const auto estimated = estimate(options, *inputs, caches);
    if (!estimated) return report_error(estimated.error());
    std::cout << estimate_text(*estimated, output_columns()) << std::flush;
    const int code = estimated->held > 0 && !options.refresh
                         ? show_sample(request, options, std::move(suite), prepare_workers)
                         : show_no_sample(*estimated);
    std::cout << "Nothing was called, and no fixture is written.\n";
    return code;
  }

  static int show_no_sample(const RunEstimate& estimated) {
    std::cout << (estimated.held == 0 ? "No sample by category yet: the caches hold no answer.\n"
                                      : "No sample by category: all files are asked anew.\n");
    return exit_ok;
  }

  /// By a run that takes what the caches hold, and leaves nothing in the ledger.
  int show_sample(const Request& request, RunOptions options, Suite suite,
                  const PrepareWorkers& prepare_workers) const {
    options.settings.mode.value = Mode::cached;
    options.settings.save_observations.value = false;
    options.listen.reset();
    options.fleet.reset();
    options.metrics_listen.reset();
    options.call_log.reset();
    options.workers = 1;
    options.progress = false;
    CorpusMaker maker(request, output_dir);
    RunUse use;
    use.command = generate_command;
    use.is_kept = false;
    use.is_assessed = false;
    use.conclude = [&](const ConcludedRun& run) { return maker.show_sample(run); };
    return execute_run(options, std::move(suite), prepare_workers, &use);
  }
};

}  // namespace

Command add_generate_corpus_command(CLI::App& program, const PrepareWorkers& prepare_workers,
                                    const CacheTools& caches) {
  auto command = std::make_shared<GenerateCorpus>();
  CLI::App* app =
      program.add_subcommand("generate-corpus", "Make fixtures from a model's findings in a code base");
  command->add_flags(*app);
  app->footer(generate_examples);
  return {app, [command, prepare_workers, caches] { return command->run(prepare_workers, caches); }};
}

}  // namespace sluice
