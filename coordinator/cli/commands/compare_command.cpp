#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/compare_sides.hpp"
#include "coordinator/cli/past_runs/named_runs.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/report/commands/compare_report.hpp"
#include "coordinator/report/commands/several_runs.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/report_options.hpp"
#include "coordinator/session/report_output.hpp"
#include "coordinator/session/run_outputs.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* compare_examples =
    "BASE, CURRENT and MORE are each a baseline (--export-baseline), a JSON report\n"
    "(--format json), or a run of the ledger: its id, its first digits, last or\n"
    "last~N, or a suite's name for its newest complete run, NAME~N for the Nth\n"
    "before. If a file and a suite have the same name, the file counts. A suite's\n"
    "name alone compares its newest complete run with an earlier one that fits: of\n"
    "the whole suite, or of the same part. Three or more are each gated against\n"
    "BASE, with the differences side by side. Tests that only one side has are\n"
    "named, and the others are compared. A report's cases are judged by its own\n"
    "thresholds; flags override them for all scores.\n"
    "Exit code 0: no regression; 1: regressions, failures and case errors, with\n"
    "--strict also warnings; 2: usage, unreadable files, another suite, a run that\n"
    "was cut short, the same run twice.\n"
    "Examples:\n"
    "  sluice compare baseline.json report.json\n"
    "  sluice compare last~1 last\n"
    "  sluice compare capitals\n"
    "  sluice compare last~2 last~1 last\n"
    "  sluice compare main.json branch.json --max-drop 0.02 --strict\n"
    "  sluice compare main.json branch.json --format markdown --output comment.md";

/// Words that look like a path.
bool looks_like_file(const std::string& name) {
  return name.find_first_of("/.") != std::string::npos;
}

/// Or a pipe. A folder may be called like a suite.
bool is_file(const std::string& name) {
  std::error_code none;
  return std::filesystem::exists(name, none) && !std::filesystem::is_directory(name, none);
}

/// What names of runs are looked up in, read for the first that asks. Errors are exit codes: they were
/// reported.
class OpenedHome {
 public:
  explicit OpenedHome(const SettingFlags& flags) : flags_(flags) {}

  tl::expected<const Settings*, int> settings() {
    if (!settings_) {
      auto loaded = flags_.load();
      if (!loaded) return tl::unexpected(report_findings(loaded.error()));
      settings_ = std::move(*loaded);
    }
    return &*settings_;
  }

  /// Null: no run is recorded yet.
  tl::expected<const Ledger*, int> ledger() {
    const auto effective = settings();
    if (!effective) return tl::unexpected(effective.error());
    const auto opened = open_ledger(**effective);
    if (!opened) return tl::unexpected(report_error(opened.error()));
    return *opened;
  }

  /// The same, and what is wrong with it is not reported.
  Result<const Ledger*> open_ledger(const Settings& effective) {
    if (!is_opened_) {
      auto opened = open_past_runs(effective);
      if (!opened) return fail(std::move(opened.error()));
      ledger_ = std::move(*opened);
      is_opened_ = true;
    }
    return ledger_ ? &*ledger_ : nullptr;
  }

  /// Of the first side that was looked for: the others pass over the same.
  void warn_of(const std::string& passed_over) {
    if (passed_over.empty() || has_warned_) return;
    has_warned_ = true;
    report_warning(passed_over);
  }

 private:
  const SettingFlags& flags_;
  std::optional<Settings> settings_;
  std::optional<Ledger> ledger_;
  bool is_opened_ = false;
  bool has_warned_ = false;
};

struct CompareCommand {
  SettingFlags settings;
  const CLI::App* app = nullptr;
  std::string base;
  std::optional<std::string> current;
  std::vector<std::string> more;
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
    OpenedHome home(settings);
    if (to_file()) {
      const auto effective = home.settings();
      if (!effective) return effective.error();
      if (const auto possible = check_output("report", *output, **effective); !possible)
        return report_error(possible.error());
    }
    const auto names = side_names(home);
    if (!names) return names.error();
    for (const std::string& side : *names) {
      if (to_file() && is_same_file(side, *output)) {
        return report_error("--output would write over " + side + ", which is compared: name another file");
      }
    }
    std::vector<LoadedSide> sides;
    for (const std::string& name : *names) {
      auto loaded = side(name, home, sides.empty() ? "" : sides.front().run_id);
      if (!loaded) return loaded.error();
      sides.push_back(std::move(*loaded));
    }
    const CompareRequest request{*limits, strict};
    if (sides.size() > 2) return compare_several(sides, request, *as);
    return compare_sides(sides[0], sides[1], request,
                         [&](const CompareReportInput& input) { return write(input, *as); });
  }

 private:
  bool to_file() const { return output && *output != "-"; }

  /// What is compared; of a suite's name alone its newest complete run and the one before that fits it.
  tl::expected<std::vector<std::string>, int> side_names(OpenedHome& home) const {
    if (!current) {
      const auto is_run = may_be_run(base, home);
      if (!is_run) return tl::unexpected(is_run.error());
      if (!*is_run || base == "last" || base.find('~') != std::string::npos) {
        return tl::unexpected(report_error("compare takes two files or runs, and " + base +
                                           " is one: name what it is compared with as well"));
      }
      const auto ledger = home.ledger();
      if (!ledger) return tl::unexpected(ledger.error());
      if (*ledger == nullptr) return std::vector{base + "~1", base};
      const auto found = base_of_suite(**ledger, base);
      if (!found) return tl::unexpected(report_error(found.error()));
      home.warn_of(found->passed_over);
      return std::vector{found->name, base};
    }
    std::vector<std::string> names{base, *current};
    names.insert(names.end(), more.begin(), more.end());
    return names;
  }

  /// Each side against the first. The exit code is that of the worst.
  int compare_several(const std::vector<LoadedSide>& sides, const CompareRequest& request,
                      std::size_t as) const {
    SeveralRuns several;
    int worst = exit_ok;
    // The first is compared with itself for what its own cases came to, which decides nothing.
    for (const LoadedSide& one : sides) {
      bool is_added = false;
      const int code = compare_sides(sides.front(), one, request, [&](const CompareReportInput& input) {
        is_added = true;
        return several.add(input);
      });
      if (!is_added) return code;
      if (&one != &sides.front()) worst = std::max(worst, code);
    }
    const auto written = write_as([&](const TableStyle& style, Sink& sink) {
      if (as == 1) return several.write_json(worst, sink);
      return as == 2 ? several.write_markdown(sink) : several.write_table(style, sink);
    });
    return written ? worst : report_error(written.error());
  }

  /// A file, or else a run of the ledger, whose report is made again; not `base_run`. Error: the exit code,
  /// after it was reported.
  tl::expected<LoadedSide, int> side(const std::string& name, OpenedHome& home,
                                     const std::string& base_run) const {
    const auto is_run = may_be_run(name, home);
    if (!is_run) return tl::unexpected(is_run.error());
    if (!*is_run) {
      auto file = load_score_file(name);
      if (!file) return tl::unexpected(report_findings({file.error()}));
      return LoadedSide{name, std::move(*file)};
    }
    const auto effective = home.settings();
    if (!effective) return tl::unexpected(effective.error());
    const auto ledger = home.ledger();
    if (!ledger) return tl::unexpected(ledger.error());
    if (*ledger == nullptr)
      return tl::unexpected(report_error("there is no file " + name + ", and " + no_run_yet));
    std::vector<PastRun> passed_over;
    const auto past = find_run_or_suite(**ledger, name, &passed_over);
    if (!passed_over.empty())
      home.warn_of(passed_over_words(passed_over.front(), past ? *past : PastRun(), passed_over.size()));
    if (!past) return tl::unexpected(report_error(past.error()));
    if (const auto two = check_are_two_runs(base_run, past->run.run_id); !two)
      return tl::unexpected(report_error(two.error()));
    std::vector<ReportTarget> targets;
    if (to_file()) targets.push_back({ReportFormat::table, output});
    return side_of_run(*past, name, {*app, **effective, **ledger}, targets);
  }

  /// Words that look like a path are missed as one, unless a suite that ran is called so. Error: the exit
  /// code, after it was reported.
  static tl::expected<bool, int> may_be_run(const std::string& name, OpenedHome& home) {
    if (is_file(name)) return false;
    if (!looks_like_file(name)) return true;
    const auto effective = home.settings();
    if (!effective) return tl::unexpected(effective.error());
    // A ledger that cannot be read has no such suite either: it is the file that is missing.
    const auto ledger = home.open_ledger(**effective);
    if (!ledger || *ledger == nullptr) return false;
    return is_suite_that_ran(**ledger, name).value_or(false);
  }

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

  Result<void> write(const CompareReportInput& input, std::size_t as) const {
    return write_as([&](const TableStyle& style, Sink& sink) {
      if (as == 1) return write_compare_json(input, sink);
      return as == 2 ? write_compare_markdown(input, sink) : write_compare_table(input, style, sink);
    });
  }

  Result<void> write_as(const std::function<Result<void>(const TableStyle& style, Sink&)>& write_to) const {
    ReportTarget target;
    if (to_file()) target.file = output;
    const TableStyle style = table_style(target);
    const ContentWriter writer = [&](Sink& sink) { return write_to(style, sink); };
    return to_file() ? write_whole_file("report", *output, writer) : write_stdout("report", writer);
  }
};

}  // namespace

Command add_compare_command(CLI::App& program) {
  auto command = std::make_shared<CompareCommand>();
  CLI::App* app =
      program.add_subcommand("compare", "Gate one run or file of scores against another, offline");
  app->add_option("BASE", command->base, "The reference: a file or a run")->required()->type_name("");
  app->add_option("CURRENT", command->current, "The side to judge: a file or a run")->type_name("");
  app->add_option("MORE", command->more, "Further sides, judged against BASE too")->type_name("");
  app->add_option("--max-drop", command->max_drop, "Largest drop below BASE that passes (default 0.05)")
      ->type_name("X");
  app->add_option("--min-floor", command->min_floor, "Lowest score that passes, whatever BASE has")
      ->type_name("X");
  app->add_option("--min-score", command->min_score, "The lowest score that passes")->type_name("X");
  app->add_flag("--strict", command->strict, "Warnings fail too");
  app->add_option("--format", command->format, "Format of the output (default table)")
      ->type_name("table|json|markdown");
  app->add_option("--output", command->output, "Write to this file instead of stdout")->type_name("FILE");
  command->settings.add_to(*app, {"home"});
  command->app = app;
  app->footer(compare_examples);
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
