#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/report/case_texts.hpp"
#include "coordinator/report/report_document.hpp"
#include "coordinator/report/wording/pass_rate_wording.hpp"
#include "coordinator/report/wording/statistics_wording.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace document;

std::string points(double difference) {
  return wording::fixed(100.0 * difference, 1, true);
}

std::string milliseconds(const std::optional<std::uint32_t>& latency) {
  return latency ? wording::grouped(*latency) + " ms" : std::string(wording::dash);
}

/// `mini: gpt-x (openai), temperature 0.7, prompt short "Answer in one word: {{question}}"`
std::string arm_words(const std::string& name, const ArmIdentity& identity, const ReportInput& input) {
  std::string text = name + ": " + identity.model + " (" + identity.provider_name + ")";
  if (!identity.parameters.empty()) {
    text += ", " + excerpt(one_line(shown_text(identity.parameters, input)), defaults::first_line_bytes);
  }
  if (identity.prompt.empty()) return text;
  text += ", prompt " + identity.prompt;
  const auto& prompts = input.results.suite.prompts;
  const auto prompt = std::ranges::find(prompts, identity.prompt, &PromptVariant::id);
  if (prompt == prompts.end() || input.prompts_are_lost) return text;
  return text + " \"" + excerpt(one_line(shown_text(prompt->prompt, input)), defaults::first_line_bytes) +
         '"';
}

/// A line an arm: columns would not hold it on a narrow page.
Notes arm_list(const ReportInput& input) {
  Notes notes;
  for (std::size_t i = 0; i < input.arms->arms.size() && i < input.identity.arms.size(); ++i) {
    notes.items.push_back({words(arm_words(input.arms->arms[i].name, input.identity.arms[i], input), 300)});
  }
  return notes;
}

Table arm_table(const ReportInput& input) {
  const RunArms& run = *input.arms;
  std::uint64_t warned = 0;
  std::uint64_t flaky = 0;
  std::uint64_t known_failures = 0;
  std::uint64_t not_started = 0;
  for (const ArmSummary& arm : run.arms) {
    warned += arm.totals.warned();
    flaky += arm.totals.statuses.flaky;
    known_failures += arm.totals.known_failures;
    not_started += arm.totals.not_started;
  }
  Table table{.columns = {column("Arm"), number("Passed"), number("Failed")}, .whole_names = true};
  if (warned > 0) table.columns.push_back(number("Warned"));
  if (flaky > 0) table.columns.push_back(number("Flaky"));
  if (known_failures > 0) table.columns.push_back(number("Known failures"));
  table.columns.push_back(number("Errors"));
  if (not_started > 0) table.columns.push_back(number("Not started"));
  table.columns.push_back(spare_number("Pass rate"));
  std::map<ComparedMean, std::optional<double>> metrics;
  for (const ArmSummary& arm : run.arms) metrics.insert(arm.means.begin(), arm.means.end());
  metrics.erase(ComparedMean());
  for (const auto& [metric, mean] : metrics) {
    const bool first = metric == metrics.begin()->first;
    table.columns.push_back(first ? number(name_of(metric)) : spare_number(name_of(metric)));
  }
  table.columns.push_back(number("Cost"));
  table.columns.push_back(spare_number("p50"));
  table.columns.push_back(spare_number("p95"));
  for (const ArmSummary& arm : run.arms) {
    const StatusCounts& statuses = arm.totals.statuses;
    Row row{{words(arm.name, 80), wording::grouped(statuses.passed), wording::grouped(statuses.failed)}};
    if (warned > 0) row.cells.emplace_back(wording::grouped(arm.totals.warned()));
    if (flaky > 0) row.cells.emplace_back(wording::grouped(statuses.flaky));
    if (known_failures > 0) row.cells.emplace_back(wording::grouped(arm.totals.known_failures));
    row.cells.emplace_back(wording::grouped(arm.totals.errors()));
    if (not_started > 0) row.cells.emplace_back(wording::grouped(arm.totals.not_started));
    row.cells.emplace_back(wording::rate_of(arm.totals));
    for (const auto& [metric, mean] : metrics) {
      const auto own = arm.means.find(metric);
      row.cells.emplace_back(wording::score(own != arm.means.end() ? own->second : std::nullopt));
    }
    row.cells.emplace_back(arm.estimated_cost ? wording::dollars(*arm.estimated_cost)
                                              : std::string(wording::dash));
    row.cells.emplace_back(milliseconds(arm.latency_p50));
    row.cells.emplace_back(milliseconds(arm.latency_p95));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// What no score (0/0) looks like in arm_table, and what it counts for.
Notes undefined_notes(const RunArms& run) {
  const bool any_undefined = std::ranges::any_of(run.arms, [](const ArmSummary& arm) {
    return std::ranges::any_of(arm.means, [](const auto& one) { return !one.second; });
  });
  Notes notes;
  if (any_undefined) {
    notes.items.push_back(
        {"A dash under a score of claims is 0/0: precision without a claim that was made, "
         "recall without one that is expected, F1 without either. Where none is expected, an "
         "answer without claims is the best.",
         Tone::quiet});
  }
  if (run.counts_silence) {
    notes.items.push_back(
        {"Where no claim is expected, precision and F1 of an answer without claims count as "
         "1, though they are 0/0; those of an answer with claims are 0.",
         Tone::quiet});
  }
  return notes;
}

std::string interval_words(const ArmMetricComparison& one) {
  const auto interval = one.gain_interval();
  if (!interval) return wording::dash;
  return points(interval->low) + " to " + points(interval->high);
}

/// How many tests would tell, where these do not.
std::string tests_needed(const ArmMetricComparison& one) {
  const auto& needed = one.decision.units_needed;
  const bool is_short = one.verdict == ArmVerdict::undecided && needed && *needed > one.comparison.units;
  return is_short ? wording::grouped(*needed) : std::string(wording::dash);
}

/// It tells nothing, and its means stand in the table of arms.
bool says_nothing(const ArmMetricComparison& one) {
  return one.verdict == ArmVerdict::undecided &&
         one.comparison.pairs < defaults::statistics::fewest_interval_units;
}

/// `20 more comparisons, each over fewer than 5 tests, are undecided; --format json has them`
std::string undecided_words(std::uint64_t count, bool are_all) {
  std::string words = wording::counted(count, are_all ? "comparison" : "more comparison");
  const std::string few =
      "fewer than " + std::to_string(defaults::statistics::fewest_interval_units) + " tests";
  words += count == 1 ? " over " + few + " is" : ", each over " + few + ", are";
  return words + " undecided; `--format json` has " + (count == 1 ? "it" : "them");
}

/// The second arm beside the first, metric by metric.
Table pair_table(const RunArms& run) {
  Table table{.columns = {column("Arms"), column("Metric"), number("Difference"), spare_number("Interval"),
                          number("Tests"), column("Verdict"), spare_number("Tests needed")},
              .whole_names = true,
              .keys = 2};
  table.share = {.most_bytes = defaults::max_perturbation_bytes, .rest = and_more("line")};
  for (const ArmPair& pair : run.pairs) {
    bool is_first = true;
    for (const ArmMetricComparison& one : pair.metrics) {
      if (says_nothing(one)) continue;
      const auto gain = one.gain();
      Row row{{words(is_first ? run.arms[pair.second].name + " vs " + run.arms[pair.first].name : "", 160),
               name_of(one.metric), gain ? points(*gain) : std::string(wording::dash), interval_words(one),
               wording::grouped(one.comparison.pairs), std::string(to_string(one.verdict)),
               tests_needed(one)}};
      row.with_previous = !std::exchange(is_first, false);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table difference_table(const RunArms& run) {
  Table table{.columns = {column("Test")}, .whole_names = true};
  for (const ArmSummary& arm : run.arms) {
    const bool is_first = &arm == run.arms.data();
    table.columns.push_back({.heading = arm.name, .droppable = !is_first});
  }
  table.share = {.left_out = run.differing - run.differences.size(), .rest = and_more("test")};
  for (const DifferingTest& one : run.differences) {
    Row row{{words(one.test, 120)}};
    for (const auto& status : one.statuses)
      row.cells.emplace_back(status ? std::string(to_string(*status)) : std::string("not started"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Some test was answered under two arms.
bool are_compared(const RunArms& run) {
  return std::ranges::any_of(run.pairs, [](const ArmPair& pair) {
    return std::ranges::any_of(pair.metrics,
                               [](const ArmMetricComparison& one) { return one.comparison.pairs > 0; });
  });
}

/// The interval, which is of one comparison alone, leaves out 0, and the verdict tells no difference.
bool seems_decided(const ArmMetricComparison& one) {
  const auto interval = one.gain_interval();
  return one.verdict == ArmVerdict::undecided && interval && (interval->low > 0.0 || interval->high < 0.0);
}

/// What the columns of pair_table are.
Notes pair_notes(const RunArms& run) {
  const std::string confidence = wording::in_percent(run.confidence);
  const std::string effect = wording::fixed(100.0 * run.rules.min_effect, 1) + " points";
  std::uint64_t comparisons = 0;
  std::uint64_t empty = 0;
  bool is_puzzling = false;
  for (const ArmPair& pair : run.pairs) {
    comparisons += pair.metrics.size();
    empty += static_cast<std::uint64_t>(std::ranges::count_if(pair.metrics, says_nothing));
    is_puzzling = is_puzzling || std::ranges::any_of(pair.metrics, seems_decided);
  }
  Notes notes;
  const auto add = [&](std::string words) { notes.items.push_back({std::move(words), Tone::quiet}); };
  if (empty > 0) notes.items.push_back({sentence(undecided_words(empty, empty == comparisons)), Tone::quiet});
  if (empty == comparisons) return notes;
  const std::string all =
      comparisons == 1 ? "" : " for all " + wording::grouped(comparisons) + " comparisons together";
  add("Difference: between the means over the tests that both arms answered, in points of 100. The interval "
      "of " +
      confidence + " is that of one comparison by itself.");
  add("Better or worse is a difference of " + effect + " or more that chance does not explain, at " +
      confidence + all +
      "; equivalent is less than that either way; undecided is neither. Tests needed: so "
      "many exclude a difference of " +
      effect + " in about four of five runs of arms that are alike.");
  if (is_puzzling) add("So undecided may stand beside an interval without 0.");
  return notes;
}

}  // namespace

std::vector<Section> arm_sections(const ReportInput& input) {
  if (input.arms == nullptr) return {};
  Section arms{
      .heading = "Arms", .count = input.arms->arms.size(), .rank = Rank::scores, .before_verdict = true};
  arms.blocks.emplace_back(arm_table(input));
  if (Notes notes = undefined_notes(*input.arms); !notes.items.empty())
    arms.blocks.emplace_back(std::move(notes));
  arms.blocks.emplace_back(arm_list(input));
  return {std::move(arms)};
}

std::vector<Section> arm_comparison_sections(const ReportInput& input) {
  if (input.arms == nullptr) return {};
  const RunArms& run = *input.arms;
  std::vector<Section> sections;
  if (are_compared(run)) {
    const bool is_gated = input.gate.kind != BaselineKind::none;
    Section pairs{.heading = "Arms compared",
                  .rank = is_gated ? Rank::whole_run : Rank::scores,
                  .before_verdict = !is_gated};
    if (Table table = pair_table(run); !table.rows.empty()) pairs.blocks.emplace_back(std::move(table));
    pairs.blocks.emplace_back(pair_notes(run));
    sections.push_back(std::move(pairs));
  }
  if (run.differing > 0) {
    Section differing{
        .heading = "Tests that differ between arms", .count = run.differing, .rank = Rank::whole_run};
    differing.blocks.emplace_back(difference_table(run));
    if (run.differing_by_errors > 0) {
      const std::string tests = wording::counted(run.differing_by_errors, "more test");
      const std::string verb = run.differing_by_errors == 1 ? " differs" : " differ";
      differing.blocks.emplace_back(Paragraph{tests + verb + " by errors alone", Tone::quiet});
    }
    sections.push_back(std::move(differing));
  }
  return sections;
}

}  // namespace sluice
