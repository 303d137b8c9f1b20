#include "common/clock.hpp"
#include "common/files.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/home/cache_ledger.hpp"
#include "coordinator/cli/home/cache_text.hpp"
#include "coordinator/cli/past_runs/run_entries.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/run_outputs.hpp"

#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

/// What all of them share: where the caches lie.
struct CacheSubcommand {
  CLI::App* app = nullptr;
  SettingFlags settings;

  void add_to(CLI::App& cache, const std::string& name, const std::string& what,
              const std::string& examples) {
    app = cache.add_subcommand(name, what);
    settings.add_to(*app, {"home"});
    app->footer("Examples:\n" + examples);
  }

  /// Runs what needs the home's path, and prints the text that it returns.
  int with_home(const std::function<Result<std::string>(const std::filesystem::path&)>& run) const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto text = run(effective->home.value);
    if (!text) return report_error(text.error());
    std::cout << *text;
    return exit_ok;
  }
};

/// `so_that`: what cannot be done then.
Result<void> check_writable(const std::filesystem::path& home, const std::string& so_that) {
  if (!is_read_only_folder(home)) return {};
  return fail(Reason::usage_invalid, "the home " + home.string() + " is read-only, so that " + so_that);
}

struct ExportCommand : CacheSubcommand {
  std::string output;
  std::optional<std::string> run_id;

  explicit ExportCommand(CLI::App& cache) {
    add_to(cache, "export", "Write the entries of the caches as one cassette",
           "  sluice cache export --output answers.cassette\n"
           "  sluice cache export --output answers.cassette --run 3f2a90c1\n"
           "The caches must not be in use. With --run the cassette holds only what that\n"
           "run's cases need. If that includes embeddings or votes, the ledger must have a\n"
           "copy of the run's suite, or the suite must not have changed.");
    app->add_option("--output", output, "The cassette's file, replaced completely or not at all")
        ->required()
        ->type_name("FILE");
    app->add_option("--run", run_id, "Only what this run used: its id, its first digits, last, or last~N")
        ->type_name("ID");
  }

  int run(const CacheTools& tools) const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    if (const auto possible = check_output("cassette", output, *effective); !possible)
      return report_error(possible.error());
    const std::filesystem::path home = effective->home.value;
    CacheLedger ledger(home);
    CassetteExport request{.home = home, .pins = ledger.find_pins(), .used = std::nullopt, .write = {}};
    if (run_id) {
      const auto past = ledger.find_run(*run_id);
      if (!past) return report_error(past.error());
      const auto opened = ledger.open();
      if (!opened) return report_error(opened.error());
      auto used = entries_of_run(*past, *app, *effective, **opened, tools);
      if (!used) return used.error();
      request.used = std::move(*used);
    }
    ExportedCassette done;
    const auto written = write_whole_file("cassette", output, [&](Sink& sink) -> Result<void> {
      request.write = [&](std::string_view bytes) { sink.write(bytes); };
      const auto result = tools.export_cassette(request);
      if (!result) return fail(result.error());
      done = *result;
      return {};
    });
    if (!written) return report_error(written.error());
    std::cout << cache_text::exported(done, output, run_id.has_value());
    return exit_ok;
  }
};

struct ImportCommand : CacheSubcommand {
  std::string file;

  explicit ImportCommand(CLI::App& cache) {
    add_to(cache, "import", "Merge a cassette into the first free cache",
           "  sluice cache import answers.cassette\n"
           "  sluice cache import answers.cassette --home ci-home &&\n"
           "    sluice run --mode cached --home ci-home\n"
           "Of two answers to the same request the later one stays, so the order of imports\n"
           "does not matter.");
    app->add_option("FILE", file, "A file that `sluice cache export` wrote")->required()->type_name("");
  }

  int run(const CacheTools& tools) const {
    return with_home([&](const std::filesystem::path& home) -> Result<std::string> {
      if (auto may = check_writable(home, "nothing can be imported"); !may) return fail(may.error());
      CacheLedger ledger(home);
      const auto done = tools.import_cassette(
          {.home = home, .file = file, .pins = ledger.find_pins_in_own(), .move_pins = ledger.move_pins()});
      if (!done) return fail(done.error());
      return cache_text::imported(*done, file);
    });
  }
};

struct StatsCommand : CacheSubcommand {
  std::string format = "table";

  explicit StatsCommand(CLI::App& cache) {
    add_to(cache, "stats", "Show what each cache holds",
           "  sluice cache stats\n"
           "  sluice cache stats --format json");
    app->add_option("--format", format, "Format of the output (default table)")->type_name("table|json");
  }

  int run(const CacheTools& tools) const {
    const auto as = choice_of("--format", format, {"table", "json"});
    if (!as) return report_error(as.error());
    return with_home([&](const std::filesystem::path& home) -> Result<std::string> {
      const auto caches = tools.stats(home);
      if (!caches) return fail(caches.error());
      return *as == 1 ? cache_text::stats_json(*caches) : cache_text::stats_text(*caches);
    });
  }
};

struct PruneCommand : CacheSubcommand {
  std::string older_than;
  bool dry_run = false;
  bool pinned = false;

  explicit PruneCommand(CLI::App& cache) {
    add_to(cache, "prune", "Remove old entries from all caches",
           "  sluice cache prune --older-than 30d --dry-run\n"
           "  sluice cache prune --older-than 12h\n"
           "The caches must not be in use. Entries that the ledger pins stay, so that\n"
           "offline runs still find them. Damaged entries are removed whatever their age.");
    app->add_option("--older-than", older_than, "Days (30d) or hours (12h)")->required()->type_name("AGE");
    app->add_flag("--dry-run", dry_run, "Only say what would be removed");
    app->add_flag("--pinned", pinned, "Also remove what the ledger pins");
  }

  int run(const CacheTools& tools) const {
    const auto age = age_of("--older-than", older_than);
    if (!age) return report_error(age.error());
    return with_home([&](const std::filesystem::path& home) -> Result<std::string> {
      auto may = dry_run ? Result<void>()
                         : check_writable(home, "no entry can be removed; --dry-run shows what would go");
      if (!may) return fail(may.error());
      CacheLedger ledger(home);
      const auto done = tools.prune({.home = home,
                                     .created_before_ms = unix_now_ms() - age->count(),
                                     .dry_run = dry_run,
                                     .pinned_too = pinned,
                                     .pins = ledger.find_pins()});
      if (!done) return fail(done.error());
      return cache_text::pruned(*done, dry_run);
    });
  }
};

struct CacheCommand {
  explicit CacheCommand(CLI::App& cache)
      : export_command(cache), import_command(cache), stats(cache), prune(cache) {}

  int run(const CacheTools& tools) const {
    if (export_command.app->parsed()) return export_command.run(tools);
    if (import_command.app->parsed()) return import_command.run(tools);
    if (stats.app->parsed()) return stats.run(tools);
    if (prune.app->parsed()) return prune.run(tools);
    return report_error(
        "no command is given for the cache: export, import, stats or prune (see `sluice cache --help`)");
  }

  ExportCommand export_command;
  ImportCommand import_command;
  StatsCommand stats;
  PruneCommand prune;
};

}  // namespace

Command add_cache_command(CLI::App& program, const CacheTools& tools) {
  CLI::App* app =
      program.add_subcommand("cache", "Export and import answers in cassettes, show and prune the caches");
  const auto command = std::make_shared<CacheCommand>(*app);
  app->footer(
      "Examples:\n"
      "  sluice cache export --output answers.cassette\n"
      "  sluice cache import answers.cassette\n"
      "  sluice cache stats\n"
      "  sluice cache prune --older-than 30d --dry-run\n"
      "`sluice cache COMMAND --help` shows a command's flags.");
  return {app, [command, tools] { return command->run(tools); }};
}

}  // namespace sluice
