#include "common/clock.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/observation_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/ledger/observation_store.hpp"
#include "coordinator/observations/observation_text.hpp"
#include "coordinator/observations/retention.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/run_outputs.hpp"

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* none_yet =
    "No observation is saved yet; `sluice run --save-observations` saves some.\n";

/// The file's observations; nothing if there is no file.
Result<std::optional<ObservationStore>> open_store(const Settings& settings) {
  return ObservationStore::open_read_only(observations_file(settings));
}

struct ListObservations {
  SettingFlags settings;
  ObservationFlags which;
  std::string limit = "20";

  int run() const {
    const auto most = count_of("--limit", limit, defaults::max_runs_named);
    if (!most) return report_error(most.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto store = open_store(*effective);
    if (!store) return report_error(store.error());
    const auto filter = which.filter(*effective, *store, unix_now_ms());
    if (!filter) return report_error(filter.error());
    if (!*store) {
      std::cout << none_yet;
      return exit_ok;
    }
    std::vector<Observation> found;
    const auto visited =
        (*store)->visit(*filter, ObservationStore::Order::newest_first, *most, [&](const Observation& one) {
          found.push_back({.timestamp = one.timestamp,
                           .model = one.model,
                           .input_tokens = one.input_tokens,
                           .output_tokens = one.output_tokens,
                           .cache_hit = one.cache_hit,
                           .latency_ms = one.latency_ms,
                           .run_id = one.run_id,
                           .case_id = one.case_id,
                           .perturbation = one.perturbation,
                           .repeat = one.repeat,
                           .status = one.status,
                           .reason_code = one.reason_code});
        });
    if (!visited) return report_error(visited.error());
    if (found.empty()) {
      std::cout << "No observation fits.\n";
      return exit_ok;
    }
    std::cout << observation_table(found, output_columns());
    return exit_ok;
  }
};

struct ExportObservations {
  SettingFlags settings;
  ObservationFlags which;
  std::string format = "jsonl";
  std::optional<std::string> output;

  int run() const {
    const auto as = choice_of("--format", format, {"jsonl", "csv"});
    if (!as) return report_error(as.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    if (output) {
      if (const auto possible = check_output("observations", *output, *effective); !possible)
        return report_error(possible.error());
    }
    const auto store = open_store(*effective);
    if (!store) return report_error(store.error());
    const auto filter = which.filter(*effective, *store, unix_now_ms());
    if (!filter) return report_error(filter.error());
    const bool is_csv = *as == 1;
    const auto write = [&](Sink& sink) -> Result<void> {
      BufferedWriter out(sink);
      if (is_csv) out.text() += observation_csv_header();
      if (!*store) return {};
      return (*store)->visit(*filter, ObservationStore::Order::oldest_first, std::nullopt,
                             [&](const Observation& one) {
                               out.text() += is_csv ? observation_as_csv(one) : observation_as_json(one);
                               out.passed();
                             });
    };
    const auto written =
        output ? write_whole_file("observations", *output, write) : write_stdout("observations", write);
    return written ? exit_ok : report_error(written.error());
  }
};

/// Why nothing was there to be removed.
std::string why_none(const Retention& retention, std::uint64_t left) {
  const std::string newest = "the newest " + wording::grouped(retention.newest);
  return left <= retention.newest ? "; all of them are among " + newest
                                  : "; those beyond " + newest + " are not older than " + retention.oldest;
}

struct PruneObservations {
  SettingFlags settings;
  std::optional<std::string> older_than;
  std::optional<std::string> keep;

  int run() const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto now = unix_now_ms();
    auto retention = retention_of(now, effective->retention_days.value, effective->retention_max_count.value);
    if (older_than) {
      const auto age = age_of("--older-than", *older_than);
      if (!age) return report_error(age.error());
      retention.oldest = wording::rfc3339(now - age->count());
    }
    if (keep) {
      const auto newest = count_of("--keep", *keep, defaults::max_observations_named);
      if (!newest) return report_error(newest.error());
      retention.newest = *newest;
    }
    const auto file = observations_file(*effective);
    const auto is_there = ObservationStore::open_read_only(file);
    if (!is_there) return report_error(is_there.error());
    std::uint64_t removed = 0;
    std::uint64_t left = 0;
    if (*is_there) {
      auto store = ObservationStore::open(file);
      if (!store) return report_error(store.error());
      const auto pruned = store->prune(retention, true);
      if (!pruned) return report_error(pruned.error());
      const auto count = store->count();
      if (!count) return report_error(count.error());
      removed = *pruned;
      left = *count;
    }
    std::cout << "removed " << wording::counted(removed, "observation") << ", " << wording::grouped(left)
              << " left" << (removed == 0 && left > 0 ? why_none(retention, left) : "") << "\n";
    return exit_ok;
  }
};

CLI::App* add_list(CLI::App& parent, ListObservations& list) {
  CLI::App* app = parent.add_subcommand("list", "List the latest observations, newest first");
  list.which.add_to(*app);
  app->add_option("--limit", list.limit, "How many to list at most (default 20)")->type_name("N");
  list.settings.add_to(*app, {"home"});
  app->footer(
      "A status belongs to the answer alone: pass, warn, fail, or the reason why there\n"
      "is no answer.\n"
      "Examples:\n"
      "  sluice observations list --run last --status fail\n"
      "  sluice observations list --case tls-001 --since 7d");
  return app;
}

CLI::App* add_export(CLI::App& parent, ExportObservations& one) {
  CLI::App* app = parent.add_subcommand("export", "Write complete observations, oldest first");
  one.which.add_to(*app);
  app->add_option("--format", one.format, "Format of the output (default jsonl)")->type_name("jsonl|csv");
  app->add_option("--output", one.output, "Write to this file instead of stdout")->type_name("FILE");
  one.settings.add_to(*app, {"home"});
  app->footer(
      "Examples:\n"
      "  sluice observations export --run last --output answers.jsonl\n"
      "  sluice observations export --model gpt-4o-mini --format csv");
  return app;
}

CLI::App* add_prune(CLI::App& parent, PruneObservations& prune) {
  CLI::App* app = parent.add_subcommand("prune", "Remove old observations");
  app->add_option("--older-than", prune.older_than,
                  "Remove what is older, in days (30d) or hours (12h), instead of by retention_days")
      ->type_name("AGE");
  app->add_option("--keep", prune.keep, "How many of the newest to keep, instead of retention_max_count")
      ->type_name("N");
  prune.settings.add_to(*app, {"home"});
  app->footer(
      "Removes what is older and not among the newest. Each run that saves observations\n"
      "does the same at its end, by retention_days and retention_max_count.\n"
      "Examples:\n"
      "  sluice observations prune\n"
      "  sluice observations prune --older-than 7d --keep 100");
  return app;
}

}  // namespace

Command add_observations_command(CLI::App& program) {
  CLI::App* app = program.add_subcommand("observations", "List, export or remove saved prompts and answers");
  auto list = std::make_shared<ListObservations>();
  auto one = std::make_shared<ExportObservations>();
  auto prune = std::make_shared<PruneObservations>();
  CLI::App* list_app = add_list(*app, *list);
  CLI::App* export_app = add_export(*app, *one);
  CLI::App* prune_app = add_prune(*app, *prune);
  app->require_subcommand(0, 1);
  app->footer(
      "Examples:\n"
      "  sluice observations list --run last\n"
      "  sluice observations export --status fail\n"
      "  sluice observations prune");
  return {app, [=] {
            if (list_app->parsed()) return list->run();
            if (export_app->parsed()) return one->run();
            if (prune_app->parsed()) return prune->run();
            return report_error(
                "`sluice observations` needs to know what: list, export or prune (see `sluice observations "
                "--help`)");
          }};
}

}  // namespace sluice
