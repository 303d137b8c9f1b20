#include "coordinator/report/wording/stability_wording.hpp"
#include "coordinator/report/wording/statistics_wording.hpp"
#include "tests/unit/report/perturbed_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using enum sample::Reply;
using nlohmann::json;
using sample::PerturbedRun;

/// A run whose second case flips under both perturbations, with everything that a report needs.
class StabilityReport : public ::testing::Test {
 protected:
  StabilityReport()
      : run({it, it, /**/ it, it, /**/ it, it, /**/ nothing, it, /**/ other, other}),
        results(run.results()),
        aggregates(*aggregate(results, nullptr)),
        stability(run.stability()),
        input(sample::input_of(results, aggregates)) {
    input.stability = &stability;
    input.gate.stability = StabilityAssessment{.score = stability.stability(),
                                               .baseline = 0.9,
                                               .limit = 0.85,
                                               .min_stability = std::nullopt,
                                               .status = MetricStatus::fail,
                                               .cause = MetricCause::dropped};
  }

  PerturbedRun run;
  RunResults results;
  Aggregates aggregates;
  RunStability stability;
  ReportInput input;
};

TEST_F(StabilityReport, JsonHasTheNumberAndWhatItRestsOn) {
  const json report = json::parse(json_of(input));
  EXPECT_EQ(report["stability"], 0.5) << "a: 2 of 2, b: 1 of 4";
  const json& details = report["stability_details"];
  EXPECT_EQ(details["repeats"], 2);
  EXPECT_EQ(details["trials"], 10);
  EXPECT_EQ(details["overall"]["flips"], 3);
  EXPECT_EQ(details["most_flipping"], "blank-lines");
  EXPECT_EQ(details["gate"]["status"], "fail");
  EXPECT_EQ(details["gate"]["cause"], "dropped");
  EXPECT_EQ(details["gate"]["delta"], -0.4);
  ASSERT_EQ(details["perturbations"].size(), 2u);
  EXPECT_EQ(details["perturbations"][1]["skipped"][0]["language"], "make");
  EXPECT_EQ(details["perturbations"][0]["failed"], 0);
  EXPECT_EQ(details["perturbations"][0]["first_failure"], nullptr);
  EXPECT_EQ(details["perturbations"][1]["failed"], 2);
  EXPECT_EQ(details["perturbations"][1]["first_failure"],
            "the perturbation command \"exit 3\" ended with exit code 3");
  EXPECT_EQ(details["pass_curve"].size(), 2u);
  const json& b = report["fixture_results"][1];
  EXPECT_EQ(b["repeats"]["passed"], 2);
  EXPECT_EQ(b["stability"]["stability"], 0.25);
  ASSERT_EQ(b["flips"].size(), 3u);
  EXPECT_EQ(b["flips"][0]["perturbation"], "crlf");
  EXPECT_EQ(b["flips"][0]["repeat"], 1);
  EXPECT_EQ(b["flips"][0]["unperturbed"]["only"], json::array({"a/b/c = true"}));
  EXPECT_EQ(b["flips"][0]["perturbed"]["only"], json::array());
  EXPECT_EQ(b["flips"][1]["perturbed"]["only"], json::array({"a/b/c = false"}));
  EXPECT_EQ(b["flips"][1]["perturbed"]["status"], "fail");
  EXPECT_EQ(b["metrics"][1]["repeat_scores"], json::array({1.0, 1.0}));
}

/// Lines that were broken, in one.
std::string unwrapped(const std::string& text) {
  std::string joined;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n';
    if (!is_space || !joined.ends_with(' ')) joined += is_space ? ' ' : c;
  }
  return joined;
}

TEST_F(StabilityReport, TheTableFitsAnyTerminalAndShowsBothAnswers) {
  for (const std::size_t columns : {60u, 80u, 200u}) {
    const std::string table = table_of(input, {columns, false});
    expect_lines_within(table, columns);
    for (const char* words :
         {"Stability 0.50", "Flips most: blank-lines", "a/b/c = true", "a/b/c = false",
          "dropped by more than is allowed", "Repeats of the unperturbed inputs agree 1.00"}) {
      EXPECT_NE(unwrapped(table).find(words), std::string::npos) << words << "\n" << table;
    }
  }
}

TEST_F(StabilityReport, NamesOfPerturbationsAreWhole) {
  EXPECT_NE(table_of(input, {80, false}).find("│ blank-lines  │"), std::string::npos)
      << table_of(input, {80, false});
}

// It counted the cases that were planned, and said 2 where one had been answered.
TEST_F(StabilityReport, CasesOfAPerturbationAreThoseThatWereAssessed) {
  EXPECT_EQ(wording::words_for(stability.perturbations[0]).cases, "2");
  stability.perturbations[0].stability->figures.cases = 1;
  EXPECT_EQ(wording::words_for(stability.perturbations[0]).cases, "1");
  stability.perturbations[0].stability.reset();
  EXPECT_EQ(wording::words_for(stability.perturbations[0]).cases, "0") << "no answer at all";
}

// A stability of prose looked like one under eight perturbations, and was that of final-newline.
TEST_F(StabilityReport, OneThatRestsOnOnePerturbationOfSeveralSaysSo) {
  const PerturbedRun sole({it, it, /**/ it, it, /**/ it, it, /**/ it, it, /**/ error, error});
  RunStability of_one = sole.stability();
  input.stability = &of_one;
  EXPECT_EQ(wording::stability_summary(input).at(1),
            "It rests on crlf alone: no answer under the other perturbation was compared");
  of_one.perturbations.push_back(of_one.perturbations.back());
  EXPECT_EQ(wording::stability_summary(input).at(1),
            "It rests on crlf alone: no answer under the other 2 perturbations was compared");
  of_one.perturbations.resize(1);
  EXPECT_EQ(wording::stability_summary(input).at(1).find("rests on"), std::string::npos)
      << "no other was asked for";
  input.stability = &stability;
  EXPECT_EQ(wording::stability_summary(input).at(1).find("rests on"), std::string::npos);
}

TEST_F(StabilityReport, MarkdownHasBothAnswersSideBySide) {
  const std::string markdown = markdown_of(input);
  EXPECT_NE(markdown.find("### Stability"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| blank-lines | 1 | 2 | 0.00 | 0.00 to "), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| a/b/c = true | a/b/c = false |"), std::string::npos) << markdown;
}

TEST_F(StabilityReport, MarkdownHasWhatTheTableHas) {
  const std::string markdown = markdown_of(input);
  for (const std::string words :
       {"| Interval | Floor | Holm p | Verdict |",
        "<details><summary>Stability by category (2)</summary>\n\n| Category | Cases | Answers | Stability |",
        "\n| b | 1 | 4 | 0.25 | ",
        "<details><summary>Skipped, since it could have changed the meaning (1)</summary>\n\n"
        "- blank-lines: 1 case (make): sluice does not know the comments and strings of \"make\"\n"}) {
    EXPECT_NE(markdown.find(words), std::string::npos) << words << "\n" << markdown;
  }
  const auto& crlf = stability.perturbations[0];
  EXPECT_NE(markdown.find(" | " + wording::words_for(crlf).p + " | "), std::string::npos) << markdown;
  EXPECT_NE(table_of(input, {200, false}).find("Holm p │"), std::string::npos);
}

// Of a prompt in prose six lines said the same.
TEST_F(StabilityReport, AReasonThatPerturbationsShareIsSaidOnce) {
  for (PerturbationSummary& one : stability.perturbations) one.facts.skipped = {{{"", "it is prose"}, 3}};
  stability.perturbations[1].facts.skipped[{"", "it is empty"}] = 1;
  EXPECT_EQ(wording::skipped_words(stability),
            (std::vector<std::string>{"crlf, blank-lines: 3 cases: it is prose",
                                      "blank-lines: 1 case: it is empty"}));
}

TEST_F(StabilityReport, MarkdownStaysSmallWhateverIsSkipped) {
  const std::string plain = markdown_of(input);
  for (int i = 0; i < 200; ++i) {
    stability.perturbations[1].facts.skipped[{"<b>" + std::to_string(i), std::string(300, '|')}] = 1;
    stability.categories.push_back("category " + std::to_string(i));
    stability.analysis.categories[static_cast<std::uint32_t>(stability.categories.size() - 1)] = {};
  }
  const std::string markdown = markdown_of(input);
  EXPECT_LT(markdown.size(), plain.size() + 3000);
  EXPECT_EQ(markdown.find("<b>"), std::string::npos);
  EXPECT_NE(markdown.find(" more reasons; `--format json` has all._"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find(" more; `--format json` has all._"), std::string::npos) << markdown;
}

TEST_F(StabilityReport, ReviewProgramsGetWhatNoCaseShows) {
  const std::string words = "Stability 0.50, baseline 0.90, limit 0.85: dropped by more than is allowed";
  EXPECT_NE(junit_of(input).find("name=\"baseline comparison\""), std::string::npos);
  EXPECT_NE(junit_of(input).find(words), std::string::npos) << junit_of(input);
  EXPECT_NE(github_of(input).find("::error title=The run as a whole::" + words), std::string::npos)
      << github_of(input);
  input.gate.stability->status = MetricStatus::warn;
  input.gate.stability->cause = MetricCause::missing_in_baseline;
  EXPECT_EQ(junit_of(input).find("baseline comparison"), std::string::npos);
  EXPECT_NE(github_of(input).find("::warning title=The run as a whole::Stability 0.50"), std::string::npos);
}

TEST_F(StabilityReport, ARunWithoutPerturbationsShowsNoStability) {
  input.stability = nullptr;
  input.gate.stability.reset();
  EXPECT_EQ(json_of(input).find("\"stability"), std::string::npos);
  EXPECT_EQ(table_of(input, {80, false}).find("tability"), std::string::npos);
  EXPECT_EQ(markdown_of(input).find("tability"), std::string::npos);
}

TEST_F(StabilityReport, LeastStableCasesComeFirst) {
  const auto cases = wording::least_stable_cases(input, 5, 1);
  ASSERT_TRUE(cases);
  ASSERT_EQ(cases->size(), 1u) << "a is stable";
  EXPECT_EQ(cases->front().title, "b-1: two");
  EXPECT_EQ(cases->front().flips.size(), 1u);
  EXPECT_EQ(cases->front().more_flips, 2u);
  const auto all = wording::least_stable_cases(input, 5, 5);
  ASSERT_EQ(all->front().flips.size(), 2u);
  EXPECT_EQ(all->front().flips[1].times, 2u) << "both repeats of blank-lines differ in the same way";
  EXPECT_EQ(all->front().more_flips, 0u);
  EXPECT_EQ(wording::flip_title(cases->front().flips[0], 2), "crlf, 1 of 2 repeats (pass → fail)");
}

// It looked like that of each arm.
TEST_F(StabilityReport, PassAtKSaysThatItIsOverAllArms) {
  stability.pass_curve = {{.k = 1, .cases = 2, .pass_at_k = 0.5, .pass_hat_k = 0.5}};
  const auto has = [&](const std::string& line) {
    const auto lines = wording::stability_summary(input);
    return std::ranges::count(lines, line) == 1;
  };
  EXPECT_TRUE(has("pass@1 0.50"));
  const RunArms arms;
  input.arms = &arms;
  EXPECT_TRUE(has("pass@1 0.50, over all arms"));
}

/// A run of which an answer is refused under a perturbation, and one trial is lost.
TEST(StabilityReportOfNonAnswers, ShowsThemBesideTheAnswer) {
  const PerturbedRun run({it, it, /**/ it, refused, /**/ it, it, /**/ it, it, /**/ cut_off, error});
  const RunResults results = run.results();
  const Aggregates aggregates = *aggregate(results, nullptr);
  const RunStability stability = run.stability();
  ReportInput input = sample::input_of(results, aggregates);
  input.stability = &stability;
  const json report = json::parse(json_of(input));
  EXPECT_EQ(report["stability"], 0.6) << "3 of 5";
  EXPECT_EQ(report["stability_details"]["trial_errors"], 3);
  EXPECT_EQ(report["stability_details"]["non_answers"], 2);
  EXPECT_EQ(report["stability_details"]["left_out"], 1);
  const json& flip = report["fixture_results"][0]["flips"][0];
  EXPECT_EQ(flip["perturbed"]["status"], "error");
  EXPECT_EQ(flip["perturbed"]["reason_code"], "refusal");
  EXPECT_EQ(flip["unperturbed"]["reason_code"], nullptr);
  EXPECT_EQ(flip["unperturbed"]["only"], json::array({"a/b/c = true"}));
  const std::string table = unwrapped(table_of(input, {80, false}));
  for (const char* words : {"crlf, 1 of 2 repeats (pass → refused)", "With: (refused)", "With: (cut off)",
                            "2 trials of 10 were refused, cut off or unreadable",
                            "1 trial of 10 ended in another error and is left out"}) {
    EXPECT_NE(table.find(words), std::string::npos) << words << "\n" << table;
  }
  EXPECT_NE(markdown_of(input).find("| a/b/c = true | (refused) |"), std::string::npos) << markdown_of(input);
}

/// The line on the trials that are left out of a run of ten.
std::string left_out_of(const ReportInput& input) {
  for (const std::string& line : wording::stability_summary(input)) {
    if (line.find("left out") != std::string::npos) return line;
  }
  return "(none)";
}

// An interrupted run said that they had ended in an error, where nothing had failed.
TEST_F(StabilityReport, TrialsThatWereNotStartedEndedInNoError) {
  EXPECT_EQ(left_out_of(input), "(none)");
  stability.left_out = stability.not_started = 4;
  EXPECT_EQ(left_out_of(input), "4 trials of 10 were not started and are left out");
  stability.left_out = 5;
  EXPECT_EQ(left_out_of(input), "1 trial of 10 ended in an error, and 4 were not started: they are left out");
  stability.left_out = stability.not_started = 1;
  EXPECT_EQ(left_out_of(input), "1 trial of 10 was not started and is left out");
}

TEST(StabilityOfAnInterruptedRun, CountsTheTrialsThatWereNotStartedAmongThoseLeftOut) {
  const PerturbedRun run({it, it, /**/ it, it, /**/ it, error});
  RunResults results = run.results();
  results.not_started = [](TrialId) { return true; };
  results.unfinished = [](TrialId) { return Error{Reason::interrupted, "interrupted by SIGINT"}; };
  RunStabilityFold fold({run.facts, run.table.repeats(), {}});
  ASSERT_TRUE(visit_cases(results, [&](const CaseResult& result) { fold.add(result); }));
  const RunStability stability = fold.finish();
  EXPECT_EQ(stability.left_out, 5u);
  EXPECT_EQ(stability.not_started, 4u) << "one ended in an error";
}

TEST_F(StabilityReport, TooFewRepeatsAreNotTakenForNoise) {
  EXPECT_EQ(wording::stability_word(stability.perturbations[1]), "too few repeats to tell");
  const std::string table = unwrapped(table_of(input, {80, false}));
  EXPECT_NE(table.find("unstable beyond that: 0 cases; 2 repeats are too few to tell of 1 case whose answers "
                       "differ: --repeat 6 would tell of the least stable, if its answers go on like this"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("repeats agree 1.00, too few repeats to tell"), std::string::npos) << table;
  EXPECT_EQ(table.find("within noise"), std::string::npos) << table;
  EXPECT_NE(markdown_of(input).find("| too few repeats to tell |"), std::string::npos) << markdown_of(input);
  const json report = json::parse(json_of(input));
  const json& details = report["stability_details"];
  EXPECT_EQ(details["perturbations"][1]["too_few_repeats"], true);
  EXPECT_EQ(details["overall"]["undecided_cases"], 1);
  EXPECT_EQ(details["overall"]["bounded_cases"], 0);
  EXPECT_EQ(details["enough_repeats"], 6);
  EXPECT_EQ(report["fixture_results"][0]["stability"]["too_few_repeats"], false);
  EXPECT_EQ(report["fixture_results"][1]["stability"]["too_few_repeats"], true);
}

PerturbationSummary with_figures(double share, std::optional<double> p) {
  PerturbationSummary one;
  one.stability.emplace();
  one.stability->figures.stability = share;
  one.stability->p = p;
  return one;
}

TEST_F(StabilityReport, EightyColumnsHoldTheTestBesideTheLongestName) {
  for (PerturbationSummary& one : stability.perturbations) {
    one.too_few_repeats = false;
    one.facts.name = "trailing-whitespace";
    one.stability->unstable = true;
    one.stability->figures.stability = 0.5;
    one.stability->adjusted_p = 0.0001;
  }
  const std::string table = table_of(input, {80, false});
  EXPECT_NE(table.find("│ Verdict  │ Floor │  Holm p │"), std::string::npos) << table;
  EXPECT_NE(table.find("│ trailing-whitespace │"), std::string::npos) << table;
}

TEST(StabilityWords, NoiseIsNamedOnlyWhereAnswersDiffer) {
  EXPECT_EQ(wording::stability_word(with_figures(1.0, 1.0)), "stable");
  EXPECT_EQ(wording::stability_word(with_figures(1.0, std::nullopt)), "stable") << "with one repeat";
  EXPECT_EQ(wording::stability_word(with_figures(0.9, 0.4)), "within noise");
  EXPECT_EQ(wording::stability_word(with_figures(0.9, std::nullopt)), "floor unknown");
  PerturbationSummary unanswered;
  unanswered.facts.changed = 2;
  EXPECT_EQ(wording::stability_word(unanswered), "no answers");
}

// Repeats were advised where there had been some.
TEST(StabilityWords, AnUnknownFloorSaysWhy) {
  const auto floor_of = [](const RunStability& stability) {
    const sample::SampleRun sample;
    const Aggregates aggregates = sample.aggregates();
    ReportInput input = sample.input(aggregates);
    input.stability = &stability;
    return wording::stability_summary(input).at(1);
  };
  RunStability stability =
      PerturbedRun({error, error, /**/ it, it, /**/ error, it, /**/ it, it, /**/ it, it}).stability();
  EXPECT_EQ(floor_of(stability), "Noise floor unknown: no case has two scored repeats");
  stability.repeats = 1;
  EXPECT_EQ(floor_of(stability),
            "Noise floor unknown: --repeat N (2 or more) tells how far plain repetition agrees");
}

TEST_F(StabilityReport, APerturbationThatChangedNoCaseSaysSo) {
  PerturbationSummary& crlf = stability.perturbations[0];
  crlf.facts.changed = 0;
  crlf.facts.unchanged = 2;
  crlf.stability.reset();
  EXPECT_EQ(wording::stability_word(crlf), "changed no case");
  EXPECT_NE(table_of(input, {80, false}).find("changed no case"), std::string::npos);
  EXPECT_EQ(table_of(input, {80, false}).find("no answers"), std::string::npos);
  EXPECT_NE(markdown_of(input).find("| changed no case |"), std::string::npos) << markdown_of(input);
  stability.perturbations[1].facts.changed = 0;
  stability.analysis.all = {};
  EXPECT_EQ(wording::stability_summary(input).at(0), "No perturbation changed any case");
}

TEST_F(StabilityReport, ExplainsTheNumber) {
  EXPECT_TRUE(wording::stability_summary(input).at(0).ends_with(
      "): the share of 6 perturbed answers, to 2 cases, that are the same as without the perturbation"))
      << wording::stability_summary(input).at(0);
  EXPECT_NE(unwrapped(table_of(input, {80, false})).find("stability dropped"), std::string::npos);
  input.gate.stability->cause = MetricCause::below_min_score;
  EXPECT_NE(unwrapped(table_of(input, {80, false})).find("stability is below the least that is asked for"),
            std::string::npos)
      << table_of(input, {80, false});
}

// Both were rounded to 0.67, which explains nothing.
TEST(StabilityWords, AStabilityAndItsLimitAreToldApart) {
  BaselineComparison gate;
  gate.stability = StabilityAssessment{.score = 2.0 / 3,
                                       .baseline = std::nullopt,
                                       .limit = 0.67,
                                       .min_stability = 0.67,
                                       .status = MetricStatus::fail,
                                       .cause = MetricCause::below_min_score};
  EXPECT_EQ(wording::stability_gate(gate), "Stability 0.667, limit 0.670: below the least that is asked for");
  gate.stability->score = 0.9999;
  gate.stability->limit = 1.0;
  EXPECT_EQ(wording::stability_gate(gate),
            "Stability 0.9999, limit 1.0000: below the least that is asked for");
}

StatisticalAssessment statistics_with(ChangeDecision decision) {
  StatisticalAssessment statistics;
  StatisticalMetric metric;
  metric.mean = ScoreId{MetricId::claims_f1};
  metric.comparison.pairs = metric.comparison.units = 40;
  metric.comparison.effective_units = 40;
  metric.comparison.base = 0.9;
  metric.comparison.current = 0.8;
  metric.comparison.drop = 0.1;
  metric.decision.decision = decision;
  metric.decision.adjusted_p.drop = 0.012;
  metric.decision.minimum_detectable_effect = 0.12;
  metric.decision.units_needed = 230;
  statistics.metrics = {metric};
  statistics.decision = decision;
  return statistics;
}

TEST_F(StabilityReport, TheStatisticalGateIsShown) {
  input.gate.kind = BaselineKind::scores;
  input.gate.baseline_file = "base.json";
  input.gate.statistics = statistics_with(ChangeDecision::regression);
  EXPECT_NE(table_of(input, {80, false})
                .find("mean claims_f1 0.90 → 0.80 (drop 0.10) over 40 cases: regression (p 0.012)"),
            std::string::npos);
  const json report = json::parse(json_of(input));
  EXPECT_EQ(report["baseline_comparison"]["statistics"]["verdict"], "regression");
  EXPECT_EQ(report["baseline_comparison"]["has_regression"], true);
  input.gate.statistics = statistics_with(ChangeDecision::underpowered);
  input.gate.statistics->metrics[0].comparison.changed_units = 12;
  const std::string words = wording::statistics_lines(input.gate).at(0).words;
  EXPECT_EQ(words,
            "mean claims_f1 0.90 → 0.80 (drop 0.10) over 40 cases: underpowered: 40 cases could not reliably "
            "show a drop below 0.12; to exclude one of 0.05 take 230 cases");
}

}  // namespace
}  // namespace sluice
