#include "coordinator/report/table_stability.hpp"

#include "coordinator/report/display.hpp"
#include "coordinator/report/stability_wording.hpp"
#include "coordinator/report/statistics_wording.hpp"
#include "coordinator/report/text_table.hpp"
#include "coordinator/report/wording.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t listed_cases = 5;
constexpr std::size_t listed_flips = 3;
constexpr std::size_t listed_skips = 12;

std::optional<Interval> known(const StabilityFigures& figures) {
  return figures.stability ? std::optional(figures.interval) : std::nullopt;
}

/// Without the droppable columns that are too many for the width, last ones first: names are worth more than
/// they are, and a table would cut its first column before it drops any.
TextTable fitted(TextTable table, std::size_t width) {
  const auto natural_width = [&] {
    std::size_t sum = 1;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      std::size_t widest = display_width(table.columns[i].heading);
      for (const auto& row : table.rows) widest = std::max(widest, display_width(row[i]));
      sum += widest + 3;
    }
    return sum;
  };
  while (natural_width() > width && table.columns.back().droppable) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.pop_back();
  }
  return table;
}

/// In a narrow table the names of the perturbations need the room.
std::string verdict_on(const PerturbationSummary& one, std::size_t width) {
  constexpr std::size_t wide_enough = 80;
  if (one.too_few_repeats && width < wide_enough) return "too few repeats";
  return wording::stability_word(one);
}

TextTable perturbation_table(const RunStability& run, std::size_t width) {
  TextTable table;
  table.columns = {{.heading = "Perturbation"},
                   {.heading = "Cases", .numeric = true},
                   {.heading = "Flips", .numeric = true},
                   {.heading = "Stability", .numeric = true},
                   {.heading = "Verdict"},
                   {.heading = "Floor", .numeric = true, .droppable = true},
                   {.heading = "p", .numeric = true, .droppable = true},
                   {.heading = "Interval", .numeric = true, .droppable = true},
                   {.heading = "Unchanged", .numeric = true, .droppable = true},
                   {.heading = "Skipped", .numeric = true, .droppable = true}};
  for (const PerturbationSummary& one : run.perturbations) {
    const StabilityFigures figures = one.stability ? one.stability->figures : StabilityFigures{};
    table.rows.push_back({printable(one.facts.name), wording::grouped(one.facts.changed),
                          wording::grouped(one.flips), wording::share(figures.stability),
                          verdict_on(one, width), wording::share(figures.floor),
                          wording::p_value(one.stability ? one.stability->adjusted_p : std::nullopt),
                          wording::interval(known(figures)), wording::grouped(one.facts.unchanged),
                          wording::grouped(one.facts.skipped_cases())});
  }
  return table;
}

TextTable category_table(const RunStability& run) {
  TextTable table;
  table.columns = {{.heading = "Category"},
                   {.heading = "Cases", .numeric = true},
                   {.heading = "Answers", .numeric = true},
                   {.heading = "Stability", .numeric = true},
                   {.heading = "Floor", .numeric = true, .droppable = true},
                   {.heading = "Interval", .numeric = true, .droppable = true}};
  for (const auto& [number, figures] : run.analysis.categories) {
    const std::string& name = run.categories.at(number);
    table.rows.push_back({printable(name.empty() ? "(none)" : name), wording::grouped(figures.cases),
                          wording::grouped(figures.answers), wording::share(figures.stability),
                          wording::share(figures.floor), wording::interval(known(figures))});
  }
  return table;
}

void write_skipped(const RunStability& run, TablePage& page) {
  const auto skipped = wording::skipped_words(run);
  if (skipped.empty()) return;
  page.entry("", "Skipped, since it could have changed the meaning:", 0, Colour::none);
  for (std::size_t i = 0; i < std::min(listed_skips, skipped.size()); ++i) {
    page.entry("", skipped[i], 2, Colour::dim);
  }
  if (skipped.size() > listed_skips) {
    page.entry("",
               "and " + wording::counted(skipped.size() - listed_skips, "more reason") +
                   ", which the JSON report has",
               2, Colour::dim);
  }
}

void write_case(const wording::UnstableCase& one, std::uint32_t repeats, TablePage& page) {
  page.title(one.title);
  page.entry("", wording::figures_of(one), 4, one.figures.unstable ? Colour::red : Colour::none);
  for (const auto& flip : one.flips) {
    page.entry("", wording::flip_title(flip, repeats), 4, Colour::yellow);
    page.entry("Without:", wording::side_without(flip.diff), 6, Colour::none);
    page.entry("With:", wording::side_with(flip.diff), 6, Colour::none);
  }
  if (one.more_flips > 0) {
    page.entry("", "and " + wording::counted(one.more_flips, "more answer") + " that differ", 4, Colour::dim);
  }
}

Result<void> write_stability(const ReportInput& input, TablePage& page) {
  const RunStability& run = *input.stability;
  page.heading(run.perturbations.empty() ? "Repeats" : "Stability");
  for (const std::string& line : wording::stability_summary(input)) page.entry("", line, 0, Colour::none);
  if (const auto judged = wording::stability_gate(input.gate); !judged.empty()) {
    const MetricStatus status = input.gate.stability->status;
    page.entry("", judged, 0,
               status == MetricStatus::pass   ? Colour::green
               : status == MetricStatus::warn ? Colour::yellow
                                              : Colour::red);
  }
  if (run.perturbations.empty()) return {};
  page.text() += drawn(fitted(perturbation_table(run, page.width()), page.width()), page.width());
  if (run.analysis.categories.size() > 1) {
    page.text() += drawn(fitted(category_table(run), page.width()), page.width());
  }
  write_skipped(run, page);
  const auto cases = wording::least_stable_cases(input, listed_cases, listed_flips);
  if (!cases) return fail(cases.error());
  if (cases->empty()) return {};
  page.heading("Least stable " + std::string(wording::case_noun(input)) + "s");
  for (const auto& one : *cases) write_case(one, run.repeats, page);
  return {};
}

void write_statistics(const ReportInput& input, TablePage& page) {
  const StatisticalJudgement& statistics = *input.gate.statistics;
  page.heading("Statistical gate");
  TextTable table;
  table.columns = {{.heading = "Mean of"},
                   {.heading = "Baseline", .numeric = true},
                   {.heading = "Current", .numeric = true},
                   {.heading = "Drop", .numeric = true},
                   {.heading = "p", .numeric = true},
                   {.heading = "Verdict"},
                   {.heading = "Drop below", .numeric = true, .droppable = true},
                   {.heading = "Cases", .numeric = true, .droppable = true}};
  for (const StatisticalMetric& one : statistics.metrics) {
    const PairedComparison& compared = one.comparison;
    const double min_effect = statistics.rules.min_effect;
    const auto change = wording::change_words(compared.base, compared.current, min_effect);
    table.rows.push_back(
        {std::string(info(one.metric).name), change.base, change.current, change.drop,
         wording::p_value(wording::shown_p(one.verdict)), std::string(to_string(one.verdict.verdict)),
         wording::upper_limit(one.verdict.drop_upper_bound, min_effect), wording::grouped(compared.pairs)});
  }
  page.text() += drawn(fitted(table, page.width()), page.width());
  for (const wording::RunLine& line : wording::statistics_lines(input.gate)) {
    page.entry("", line.words, 2 * line.level, Colour::none);
  }
  page.entry("", std::string(wording::means_over_cases), 0, Colour::dim);
}

}  // namespace

Result<void> write_table_stability(const ReportInput& input, TablePage& page) {
  if (input.gate.statistics) write_statistics(input, page);
  if (input.stability == nullptr) return {};
  return write_stability(input, page);
}

}  // namespace sluice
