// Answers of a classifier: what is counted, and what each report says of it.
#include "coordinator/display/expectation_wording.hpp"
#include "coordinator/merge/label_fold.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::label_report_test {

using nlohmann::json;

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

/// Four cases with two repeats each, the last under a perturbation as well:
/// - a expects refund; its answers are refund and billing,
/// - b expects billing; its answers are billing and none of the labels,
/// - c expects refund, and both answers are errors,
/// - d expects refund; its answers are refund and an error, the perturbed ones billing.
class LabelReport : public ::testing::Test {
 protected:
  LabelReport() {
    suite.name = "intents";
    suite.labels = {{"", {"billing", "refund", "other"}}};
    for (const char* id : {"a", "b", "c", "d"}) {
      suite.cases.push_back(sample::text_case(id, "Which intent?", MetricId::label,
                                              {std::string(id) == "b" ? "billing" : "refund", ""}));
      EXPECT_TRUE(table.add_case(std::string(id) == "d" ? 1 : 0));
    }
    int trial = 0;
    for (const char* label :
         {"refund", "billing", "billing", "", "!", "!", "refund", "!", "billing", "billing"})
      add_answer(static_cast<TrialId>(trial++), label);
    results.trials = table.trial_count();
    results.table = &table;
  }

  /// `!` is an error.
  void add_answer(TrialId trial, const std::string& label) {
    if (label == "!")
      return source.trials.push_back(sample::errored(trial, trial, {Reason::timed_out, "too late"}));
    const std::string expected = trial == 2 || trial == 3 ? "billing" : "refund";
    const bool passed = label == expected;
    source.trials.push_back(sample::answered(
        trial, label, {MetricId::label, std::nullopt, passed, passed ? "" : "not " + expected, label}));
  }

  std::vector<LabelledAnswers> folded() const {
    LabelFold fold(suite.labels);
    EXPECT_TRUE(visit_cases(results, [&](const CaseResult& result) { fold.add(result); }));
    return fold.finish();
  }

  /// What a report of the answers is made of. It views the labels.
  ReportInput input_with(const std::vector<LabelledAnswers>* labels) {
    aggregates = *aggregate(results, {});
    ReportInput input = sample::input_of(results, aggregates);
    input.labels = labels;
    return input;
  }

  Suite suite;
  sample::MemorySource source;
  Gate gate;
  TrialTable table{2};
  RunResults results = sample::results_of(suite, source, gate);
  Aggregates aggregates;
};

TEST_F(LabelReport, CountsUnperturbedAnswersAndNoErrors) {
  const auto all = folded();
  ASSERT_EQ(all.size(), 1u);
  const LabelledAnswers& answers = all.front();
  EXPECT_EQ(answers.names, suite.labels.at(""));
  EXPECT_EQ(answers.matrix.answers(), 5u);
  EXPECT_EQ(answers.left_out, 3u);
  EXPECT_EQ(answers.matrix.count(1, 1), 2u);
  EXPECT_EQ(answers.matrix.count(1, 0), 1u);
  EXPECT_EQ(answers.matrix.count(0, 0), 1u);
  EXPECT_EQ(answers.matrix.count(0, std::nullopt), 1u);
}

// "3 answers ended in an error" counted the answer that did not: its case was one, for the other two.
TEST_F(LabelReport, AnAnswerCountsWhereMostRepeatsOfItsCaseAreErrors) {
  table = TrialTable(3);
  source.trials.clear();
  suite.cases = {sample::text_case("a", "Which intent?", MetricId::label, {"refund", ""})};
  ASSERT_TRUE(table.add_case(0));
  for (TrialId trial = 0; const char* label : {"!", "billing", "!"}) add_answer(trial++, label);
  results.trials = table.trial_count();
  const LabelledAnswers answers = folded().at(0);
  EXPECT_EQ(answers.left_out, 2u);
  EXPECT_EQ(answers.matrix.answers(), 1u);
  EXPECT_EQ(answers.matrix.count(1, 0), 1u);
}

TEST_F(LabelReport, AGroupWithALabelIsNotCounted) {
  Expectation& only = suite.cases.held(0).expectations.front();
  only.what = {MetricId::any_of, {}, {1}, 1.0, {only.what}};
  for (TrialId trial : {0, 1})
    source.trials[trial].unit.scores[0].metrics[0] = {MetricId::any_of, {}, true, ""};
  EXPECT_EQ(folded().at(0).matrix.answers(), 3u);
}

TEST_F(LabelReport, ReportsSayHowGoodAndWhatIsConfused) {
  const ReportInput unlabelled = input_with(nullptr);
  EXPECT_FALSE(has(table_of(unlabelled, {.columns = 100}), "Labels"));
  EXPECT_FALSE(json::parse(json_of(unlabelled)).contains("labels"));
  const auto all = folded();
  const ReportInput input = input_with(&all);
  for (const std::string& text : {table_of(input, {.columns = 100}), markdown_of(input), html_of(input)}) {
    EXPECT_TRUE(has(text, "Labels")) << text;
    EXPECT_TRUE(has(text, "Accuracy 0.60 (3 of 5 answers), macro F1 0.65.")) << text;
    EXPECT_TRUE(has(text, "1 answer is none of the")) << text;
  }
  const std::string page = table_of(input, {.columns = 100});
  EXPECT_TRUE(has(page, "expected refund, said billing: 1")) << page;
  EXPECT_TRUE(has(page, "expected billing, said none of the labels: 1")) << page;
  EXPECT_FALSE(has(page, "by column")) << "a terminal has no room for the matrix";
  EXPECT_TRUE(has(markdown_of(input), "expected `refund`, said `billing`: 1")) << markdown_of(input);
  const std::string html = html_of(input);
  EXPECT_TRUE(has(html,
                  "<td>refund</td><td class=\"number\">1</td><td class=\"number\"><strong>2</strong></td>"
                  "<td class=\"number\">0</td><td class=\"number\">0</td></tr>"))
      << html;
}

TEST_F(LabelReport, TheJsonReportHasTheWholeMatrix) {
  const auto all = folded();
  const ReportInput input = input_with(&all);
  const json labels = json::parse(json_of(input))["labels"];
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels[0]["path"], "");
  EXPECT_FALSE(labels[0].contains("arm"));
  EXPECT_EQ(labels[0]["names"], (json{"billing", "refund", "other"}));
  EXPECT_EQ(labels[0]["counts"], (json{{1, 0, 0}, {1, 2, 0}, {0, 0, 0}}));
  EXPECT_EQ(labels[0]["none"], (json{1, 0, 0}));
  EXPECT_EQ(labels[0]["support"], (json{2, 3, 0}));
  EXPECT_EQ(labels[0]["answers"], 5);
  EXPECT_EQ(labels[0]["left_out"], 3);
  EXPECT_EQ(labels[0]["accuracy"], 0.6);
  EXPECT_EQ(labels[0]["precision"], (json{0.5, 1.0, nullptr}));
  EXPECT_EQ(labels[0]["f1"], (json{0.5, 0.8, nullptr}));
  std::istringstream written(json_of(input));
  EXPECT_TRUE(parse_report(written, "report.json")) << "`sluice compare` has to pass over it";
}

TEST_F(LabelReport, EachArmIsALine) {
  suite.cases.held(1).arm = 1;
  const auto all = folded();
  ReportInput input = input_with(&all);
  RunArms arms;
  for (const char* name : {"mini", "nano"}) arms.arms.emplace_back().name = name;
  input.arms = &arms;
  input.identity.arms.resize(2);
  ASSERT_EQ(all.size(), 2u);
  const json labels = json::parse(json_of(input))["labels"];
  EXPECT_EQ(labels[0]["arm"], "mini");
  EXPECT_EQ(labels[1]["arm"], "nano");
  EXPECT_EQ(labels[1]["accuracy"], 0.5);
  const std::string page = table_of(input, {.columns = 100});
  EXPECT_TRUE(has(page, "Macro F1")) << page;
  EXPECT_FALSE(has(page, "said billing")) << "that is on the page for each arm";
  EXPECT_TRUE(has(html_of(input), "<details><summary>nano</summary>")) << html_of(input);
}

// Two paths made two sections of one name.
TEST_F(LabelReport, EachPathHasAHeadingOfItsOwn) {
  auto all = folded();
  all.push_back(all.front());
  all[0].path = "/intent";
  all[1].path = "/<b>\n# urgent";
  const ReportInput input = input_with(&all);
  const std::string markdown = markdown_of(input);
  EXPECT_TRUE(has(markdown, "\n### Labels at /intent\n")) << markdown;
  EXPECT_FALSE(has(markdown, "<b>")) << markdown;
  EXPECT_FALSE(has(markdown, "\n# urgent")) << markdown;
  const std::string page = table_of(input, {.columns = 100});
  EXPECT_TRUE(has(page, "\nLabels at /intent\n")) << page;
  EXPECT_FALSE(has(page, "\n# urgent")) << page;
  EXPECT_TRUE(has(html_of(input), "<h2>Labels at /intent</h2>")) << html_of(input);
  EXPECT_TRUE(has(html_of(input), "<h2>Labels at /&lt;b&gt;")) << html_of(input);
}

TEST_F(LabelReport, NamesAreRedactedAndEscaped) {
  auto all = folded();
  all.front().names[0] = "<b>|billing";
  ReportInput input = input_with(&all);
  const auto redactor = *Redactor::make(std::vector<RedactionPattern>{{"word", "refund"}});
  input.redactor = &redactor;
  EXPECT_FALSE(has(html_of(input), "<code>refund</code>"));
  EXPECT_FALSE(has(markdown_of(input), "| refund |"));
  EXPECT_FALSE(has(html_of(input), "<b>|"));
  EXPECT_FALSE(has(markdown_of(input), "| <b>|"));
  EXPECT_NE(json::parse(json_of(input))["labels"][0]["names"][1], "refund");
}

TEST(LabelWording, NamesTheLabelAndWhereItStands) {
  EXPECT_EQ(wording::expected_in_words({MetricId::label, {"refund", "", "refund", "billing"}}),
            "label \"refund\"");
  EXPECT_EQ(wording::expected_in_words({MetricId::label, {"refund", "/intent"}}),
            "label \"refund\" at /intent");
}

// A reader of a comment looks for what got worse, which stood below the labels.
TEST_F(LabelReport, InMarkdownTheyStandBelowTheRegressionsAndAboveOtherFailures) {
  const sample::GatedSample run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  const auto all = folded();
  input.labels = &all;
  const std::string markdown = markdown_of(input);
  const auto labels = markdown.find("### Labels");
  ASSERT_NE(labels, std::string::npos) << markdown;
  EXPECT_LT(markdown.find("### Regressions"), labels) << markdown;
  EXPECT_GT(markdown.find("### Failures"), labels) << markdown;
}

TEST_F(LabelReport, OfManyLabelsTheWorstAreShownAndPathsShareTheRoom) {
  std::vector<LabelledAnswers> all;
  for (int path = 0; path < 8; ++path) {
    LabelledAnswers answers{"/" + std::to_string(path), 0, {}, ConfusionMatrix(1000)};
    for (ConfusionMatrix::Label i = 0; i < 1000; ++i) {
      answers.names.push_back("label-" + std::to_string(i) + std::string(180, 'x'));
      answers.matrix.add(i, i == 777 ? 0 : i);
    }
    all.push_back(std::move(answers));
  }
  const ReportInput input = input_with(&all);
  EXPECT_LT(markdown_of(input).size(), 20'000u);
  const std::string page = table_of(input, {.columns = 300});
  EXPECT_TRUE(has(page, "label-777x")) << "the worst";
  EXPECT_FALSE(has(page, "label-500x"));
  EXPECT_TRUE(has(page, "and 950 more labels")) << page.substr(0, 5000);
  EXPECT_TRUE(has(page, "the labels at 3 further paths")) << page.substr(0, 5000);
  EXPECT_FALSE(has(html_of(input), "by column")) << "no page has room for it";
}

}  // namespace sluice::label_report_test
