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
std::string verdict_on(const PerturbationSummary& one, const std::string& verdict, std::size_t width) {
  constexpr std::size_t wide_enough = 80;
  return one.too_few_repeats && width < wide_enough ? "too few repeats" : verdict;
}

TextTable perturbation_table(const RunStability& run, std::size_t width) {
  TextTable table;
  table.columns = {{.heading = "Perturbation"},
                   {.heading = "Cases", .numeric = true},
                   {.heading = "Flips", .numeric = true},
                   {.heading = "Stability", .numeric = true},
                   {.heading = "Verdict"},
                   {.heading = "Floor", .numeric = true, .droppable = true},
                   {.heading = std::string(wording::p_heading), .numeric = true, .droppable = true},
                   {.heading = "Interval", .numeric = true, .droppable = true},
                   {.heading = "Unchanged", .numeric = true, .droppable = true},
                   {.heading = "Skipped", .numeric = true, .droppable = true}};
  for (const PerturbationSummary& one : run.perturbations) {
    const auto words = wording::words_for(one);
    table.rows.push_back({printable(words.name), words.cases, words.flips, words.stability,
                          verdict_on(one, words.verdict, width), words.floor, words.p, words.interval,
                          words.unchanged, words.skipped});
  }
  return table;
}

TextTable category_table(const std::vector<wording::CategoryWords>& categories) {
  TextTable table;
  table.columns = {{.heading = "Category"},
                   {.heading = "Cases", .numeric = true},
                   {.heading = "Answers", .numeric = true},
                   {.heading = "Stability", .numeric = true},
                   {.heading = "Floor", .numeric = true, .droppable = true},
                   {.heading = "Interval", .numeric = true, .droppable = true}};
  for (const auto& words : categories) {
    table.rows.push_back(
        {printable(words.name), words.cases, words.answers, words.stability, words.floor, words.interval});
  }
  return table;
}

void write_skipped(const RunStability& run, TablePage& page) {
  const auto skipped = wording::skipped_words(run);
  if (skipped.empty()) return;
  page.entry("", std::string(wording::skipped_heading) + ":", 0, Colour::none);
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
  if (const auto categories = wording::category_words(run); !categories.empty()) {
    page.text() += drawn(fitted(category_table(categories), page.width()), page.width());
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
