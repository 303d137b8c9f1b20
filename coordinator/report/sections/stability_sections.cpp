#include "coordinator/defaults.hpp"
#include "coordinator/report/report_document.hpp"
#include "coordinator/report/wording/stability_wording.hpp"
#include "coordinator/report/wording/statistics_wording.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

using namespace document;

Tone tone_of(MetricStatus status) {
  if (status == MetricStatus::pass) return Tone::good;
  return status == MetricStatus::warn ? Tone::warning : Tone::bad;
}

Table perturbation_table(const RunStability& run, Room room) {
  const std::string p(wording::p_heading);
  Table table{.whole_names = true};
  table.columns = {column("Perturbation"), number("Cases"), number("Flips"), number("Stability")};
  const std::vector<Column> more =
      room == Room::comment
          ? std::vector{number("Interval"), number("Floor"), number(p), column("Verdict")}
          : std::vector{column("Verdict"),        spare_number("Floor"),     spare_number(p),
                        spare_number("Interval"), spare_number("Unchanged"), spare_number("Skipped")};
  table.columns.insert(table.columns.end(), more.begin(), more.end());
  table.share = {.most_bytes = defaults::max_perturbation_bytes, .rest = and_more("perturbation")};
  for (const PerturbationSummary& one : run.perturbations) {
    const auto cell = wording::words_for(one);
    const Cell name{words(cell.name, 80)};
    if (room == Room::comment) {
      table.rows.push_back(
          {{name, cell.cases, cell.flips, cell.stability, cell.interval, cell.floor, cell.p, cell.decision}});
      continue;
    }
    // In a narrow table the names of the perturbations need the room.
    const Cell decision(cell.decision, one.too_few_repeats ? "too few repeats" : "");
    table.rows.push_back({{name, cell.cases, cell.flips, cell.stability, decision, cell.floor, cell.p,
                           cell.interval, cell.unchanged, cell.skipped}});
  }
  return table;
}

Table category_table(const std::vector<wording::CategoryWords>& categories, Room room) {
  Table table{.columns = {column("Category"), number("Cases"), number("Answers"), number("Stability"),
                          spare_number(room == Room::page ? "Floor" : "Interval"),
                          spare_number(room == Room::page ? "Interval" : "Floor")},
              .whole_names = true};
  table.share = {.most_bytes = defaults::max_stability_category_bytes, .rest = more_in_json()};
  for (const auto& cell : categories) {
    const bool is_page = room == Room::page;
    table.rows.push_back({{words(cell.name, 80), cell.cases, cell.answers, cell.stability,
                           is_page ? cell.floor : cell.interval, is_page ? cell.interval : cell.floor}});
  }
  return table;
}

Fold skipped_fold(const std::vector<std::string>& skipped, Room room) {
  Notes notes{.share = {.most_bytes = defaults::max_skipped_bytes, .rest = and_more("reason")}};
  for (const std::string& line : skipped) {
    const bool has_room = room == Room::comment || notes.items.size() < defaults::listed_skips;
    has_room ? notes.items.push_back({line, Tone::quiet}) : void(++notes.share.left_out);
  }
  Fold fold{std::string(wording::skipped_heading), std::nullopt, {std::move(notes)}};
  if (room == Room::comment) fold.count = skipped.size();
  return fold;
}

/// The two answers of each flip side by side.
Table flip_table(const std::vector<wording::UnstableCase>& cases, std::uint32_t repeats) {
  Table table{.columns = {column("Least stable"), column("Perturbation"), column("Only without"),
                          column("Only with")},
              .share = {.most_bytes = defaults::max_flip_bytes, .rest = and_more("answer")}};
  for (const auto& one : cases) {
    table.share.left_out += one.more_flips;
    for (const auto& flip : one.flips) {
      table.rows.push_back(
          {.cells = {words(one.title, 120), words(wording::flip_title(flip, repeats), 120),
                     words(wording::side_without(flip.diff), 300), words(wording::side_with(flip.diff), 300)},
           .counts = flip.times});  // Repeats that differ alike share a row.
    }
  }
  return table;
}

Entry entry_of(const wording::UnstableCase& one, std::uint32_t repeats) {
  Entry entry{one.title, {{wording::figures_of(one), one.figures.unstable ? Tone::bad : Tone::plain}}};
  for (const auto& flip : one.flips) {
    entry.notes.push_back({wording::flip_title(flip, repeats), Tone::warning});
    entry.notes.push_back({.text = wording::side_without(flip.diff), .label = "Without", .level = 1});
    entry.notes.push_back({.text = wording::side_with(flip.diff), .label = "With", .level = 1});
  }
  if (one.more_flips > 0) {
    entry.notes.push_back(
        {"and " + wording::counted(one.more_flips, "more answer") + " that differ", Tone::quiet});
  }
  return entry;
}

/// A row for each mean; a column for the arms where there are any.
Table table_of(const StatisticalAssessment& statistics) {
  const auto has_arm = [](const StatisticalMetric& one) { return !one.arm.empty(); };
  const bool has_arms = std::ranges::any_of(statistics.metrics, has_arm);
  // Of one test there is nothing to adjust; of arms only one may be shown.
  const std::string p_heading(statistics.metrics.size() > 1 || has_arms ? wording::p_heading : "p");
  Table table{
      .columns = {column("Mean of"), number("Baseline"), number("Current"), number("Drop"), number(p_heading),
                  column("Verdict"), spare_number("Drop below"), spare_number("Cases")},
      .whole_names = true};
  if (has_arms) {
    table.columns.insert(table.columns.begin(), column("Arm"));
    table.keys = 2;
  }
  for (const StatisticalMetric& one : statistics.metrics) {
    const PairedComparison& compared = one.comparison;
    const double min_effect = statistics.rules.min_effect;
    const auto change = wording::change_words(compared.base, compared.current, min_effect);
    Row row{{name_of(one.mean), change.base, change.current, change.drop,
             wording::p_value(wording::shown_p(one.decision)), std::string(to_string(one.decision.decision)),
             wording::upper_limit(one.decision.drop_upper_bound, min_effect),
             wording::grouped(compared.pairs)}};
    if (has_arms) row.cells.insert(row.cells.begin(), Cell{one.arm});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Section statistics_section(const BaselineComparison& gate, Room room) {
  const StatisticalAssessment& statistics = *gate.statistics;
  Section section{.heading = "Statistical gate", .rank = Rank::whole_run};
  if (room == Room::page && !statistics.metrics.empty()) section.blocks.emplace_back(table_of(statistics));
  Notes notes{.share = {.most_bytes = defaults::max_statistics_bytes, .rest = and_more("line")}};
  for (const wording::RunLine& line : wording::statistics_lines(gate))
    notes.items.push_back({.text = words(line.words, 500), .level = line.level});
  section.blocks.emplace_back(std::move(notes));
  const std::string_view caption = statistics.metrics.empty()
                                       ? "no mean is compared: no case has a score that is tested"
                                       : wording::means_over_cases;
  section.blocks.emplace_back(
      Paragraph{std::string(caption) + (room == Room::comment ? "." : ""), Tone::quiet});
  return section;
}

Notes summary_notes(const ReportInput& input, Room room) {
  Notes notes{.share = {.most_bytes = defaults::max_summary_bytes, .rest = and_more("line")}};
  for (std::string& line : wording::stability_summary(input)) notes.items.push_back({std::move(line)});
  if (const auto assessed = wording::stability_gate(input.gate); !assessed.empty()) {
    const bool comes_first = room == Room::comment;
    notes.items.insert(comes_first ? notes.items.begin() : notes.items.end(),
                       {strong(assessed), tone_of(input.gate.stability->status)});
  }
  return notes;
}

}  // namespace

Result<std::vector<Section>> stability_sections(const ReportInput& input, Room room) {
  std::vector<Section> sections;
  if (input.gate.statistics) sections.push_back(statistics_section(input.gate, room));
  if (input.stability == nullptr) return sections;
  const RunStability& run = *input.stability;
  const bool is_perturbed = !run.perturbations.empty();
  auto& blocks =
      sections
          .emplace_back(Section{.heading = is_perturbed ? "Stability" : "Repeats", .rank = Rank::whole_run})
          .blocks;
  blocks.emplace_back(summary_notes(input, room));
  if (!is_perturbed) return sections;
  blocks.emplace_back(perturbation_table(run, room));
  const auto cases =
      wording::least_stable_cases(input, defaults::listed_unstable_cases, room == Room::page ? 3 : 2);
  if (!cases) return fail(cases.error());
  const auto categories = wording::category_words(run);
  const auto skipped = wording::skipped_words(run);
  if (room == Room::comment) {
    if (!cases->empty()) blocks.emplace_back(flip_table(*cases, run.repeats));
    if (!categories.empty()) {
      blocks.emplace_back(
          Fold{"Stability by category", categories.size(), {category_table(categories, room)}});
    }
    if (!skipped.empty()) blocks.emplace_back(skipped_fold(skipped, room));
    return sections;
  }
  if (!categories.empty()) blocks.emplace_back(category_table(categories, room));
  if (!skipped.empty()) blocks.emplace_back(skipped_fold(skipped, room));
  if (cases->empty()) return sections;
  Entries entries;
  for (const auto& one : *cases) entries.items.push_back(entry_of(one, run.repeats));
  sections.push_back({.heading = "Least stable " + std::string(wording::case_noun(input)) + "s",
                      .rank = Rank::whole_run,
                      .blocks = {std::move(entries)}});
  return sections;
}

}  // namespace sluice
