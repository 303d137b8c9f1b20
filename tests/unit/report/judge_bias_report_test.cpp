// What is measured of a judge over the cases of a run, and how the reports show it.
#include "common/defaults.hpp"
#include "coordinator/merge/judge_bias_fold.hpp"
#include "coordinator/merge/markup_share.hpp"
#include "coordinator/report/wording/judge_wording.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "tests/unit/report/judged_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::judge_bias_report_test {

using nlohmann::json;
using sample::judged_by;
using enum MetricId;

struct JudgedText {
  std::string text;
  std::vector<double> scores;
  std::uint64_t tokens = 40;
};

/// A run whose cases are judged by one metric.
struct MeasuredRun {
  Suite suite;
  sample::MemorySource source;
  Gate gate;
  RunResults results = sample::results_of(suite, source, gate);

  explicit MeasuredRun(const std::vector<JudgedText>& answers, MetricId metric = faithfulness) {
    suite.name = "measured";
    suite.rubrics = {{std::string(info(metric).name), "v1", "You judge.", "{{answer}}"}};
    for (TrialId trial = 0; trial < answers.size(); ++trial) {
      suite.cases.push_back(sample::judged_case("judge-" + std::to_string(1000 + trial), "", metric));
      std::vector<Vote> votes;
      for (const double score : answers[trial].scores) votes.push_back({score, "So."});
      source.trials.push_back(sample::voted(trial, answers[trial].text, judged_by(metric, votes)));
      source.trials.back().unit.usage.output_tokens = answers[trial].tokens;
    }
    results.trials = suite.cases.size();
  }
  MeasuredRun(const MeasuredRun&) = delete;
  MeasuredRun& operator=(const MeasuredRun&) = delete;

  JudgeBias bias() const {
    JudgeBiasFold fold(false, 0.95, 7);
    EXPECT_TRUE(visit_cases(results, [&](const CaseResult& result) { fold.add(result); }));
    const auto found = fold.finish(suite.rubrics);
    EXPECT_TRUE(found);
    return found.value_or(JudgeBias{});
  }
};

/// 40 answers of 10 to 790 bytes and a score each.
std::vector<JudgedText> answers_with(const std::function<double(int)>& score, std::size_t samples = 3) {
  std::vector<JudgedText> answers;
  for (int i = 0; i < 40; ++i) {
    const int length = 10 + 20 * ((i * 17) % 40);
    answers.push_back({std::string(static_cast<std::size_t>(length), 'x'),
                       std::vector<double>(samples, score(length)), static_cast<std::uint64_t>(length)});
  }
  return answers;
}

double as_long(int length) {
  return length / 1000.0;
}
double whatever_the_length(int length) {
  return ((length / 20 * 23) % 41) / 41.0;
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

/// Without the line breaks of a page.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST(MarkupShare, CountsMarksOfMarkdownAndNothingElse) {
  EXPECT_EQ(markup_share(""), 0.0);
  EXPECT_EQ(markup_share("Plain words, 2 * 3 = 6, snake_case, C# and a - b."), 0.0);
  EXPECT_EQ(markup_share("# Hi"), 0.25);
  EXPECT_EQ(markup_share("#tag"), 0.0);
  EXPECT_EQ(markup_share("- a\n- b\n"), 0.25);
  EXPECT_EQ(markup_share("12. abcdef"), 0.3);
  EXPECT_EQ(markup_share("12.5 abcde"), 0.0);
  EXPECT_EQ(markup_share("**bold**"), 0.5);
  EXPECT_EQ(markup_share("__bold__"), 0.5);
  EXPECT_EQ(markup_share("`a`|"), 0.75);
  EXPECT_EQ(markup_share("[a](b)"), 4.0 / 6);
  EXPECT_EQ(markup_share("```sh"), 1.0);
  EXPECT_EQ(markup_share("> ab\r\n"), 1.0 / 6);
}

TEST(JudgeBiasFold, FindsScoresThatGoWithLength) {
  const JudgeBias bias = MeasuredRun(answers_with(as_long)).bias();
  ASSERT_EQ(bias.metrics.size(), 1u);
  const JudgedMetricBias& metric = bias.metrics[0];
  EXPECT_EQ(metric.score, ScoreId{faithfulness});
  EXPECT_EQ(metric.rubric_version, "v1");
  EXPECT_EQ(metric.answers, 40u);
  EXPECT_EQ(metric.votes, 3u);
  EXPECT_EQ(metric.length_unit, LengthUnit::bytes);
  ASSERT_TRUE(metric.length.correlation.rho);
  EXPECT_NEAR(*metric.length.correlation.rho, 1.0, 1e-9);
  EXPECT_EQ(metric.length.correlation.cases, 40u);
  EXPECT_TRUE(metric.length.decision.beyond_chance);
  EXPECT_FALSE(metric.format.correlation.rho) << "no answer has any markup";
  const auto notices = wording::judge_bias_notices(bias);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "judge_length_bias");
  EXPECT_EQ(notices[0].severity, GateNotice::Severity::warning);
  EXPECT_FALSE(notices[0].decides) << "a correlation does not say why";
  EXPECT_TRUE(has(notices[0].message,
                  "`faithfulness v1`: rank correlation of score and length in bytes "
                  "+1.00"))
      << notices[0].message;
  EXPECT_TRUE(has(notices[0].message, "over 40 cases: longer answers score higher, beyond chance."))
      << notices[0].message;
}

TEST(JudgeBiasFold, OfAJudgeThatSeesNoAnswerNoTraitIsMeasured) {
  const JudgeBias bias = MeasuredRun(answers_with(as_long), context_recall).bias();
  ASSERT_EQ(bias.metrics.size(), 1u);
  EXPECT_FALSE(bias.metrics[0].length.correlation.rho);
  EXPECT_TRUE(wording::judge_bias_notices(bias).empty());
  EXPECT_EQ(wording::not_measured(bias), "length and format (the judge sees no answer)");
}

TEST(JudgeBiasFold, ShorterAnswersMayBeFavouredToo) {
  const JudgeBias bias = MeasuredRun(answers_with([](int length) { return 1.0 - as_long(length); })).bias();
  EXPECT_TRUE(has(wording::length_bias(bias.metrics[0], 0.95), "longer answers score lower, beyond chance"));
}

TEST(JudgeBiasFold, IsSilentWhereScoresHaveNothingToDoWithLength) {
  const JudgeBias bias = MeasuredRun(answers_with(whatever_the_length)).bias();
  EXPECT_FALSE(bias.metrics[0].length.decision.beyond_chance) << *bias.metrics[0].length.correlation.rho;
  EXPECT_TRUE(wording::judge_bias_notices(bias).empty());
  EXPECT_TRUE(has(wording::length_bias(bias.metrics[0], bias.confidence), ": not beyond chance;"));
}

TEST(JudgeBiasFold, FindsScoresThatGoWithMarkup) {
  std::vector<JudgedText> answers;
  for (int i = 0; i < 40; ++i) {
    const auto marks = static_cast<std::size_t>((i * 17) % 40);
    answers.push_back(
        {std::string(marks, '`') + std::string(100 - marks, 'x'), {static_cast<double>(marks) / 50.0}});
  }
  const JudgeBias bias = MeasuredRun(answers).bias();
  EXPECT_FALSE(bias.metrics[0].length.correlation.rho) << "all are as long";
  EXPECT_TRUE(bias.metrics[0].format.decision.beyond_chance);
  EXPECT_EQ(wording::judge_bias_notices(bias).at(0).code, "judge_format_bias");
  EXPECT_TRUE(has(wording::format_bias(bias.metrics[0], 0.95),
                  "answers with more Markdown score higher, beyond chance"));
}

// Only the beginning of an answer is kept: its bytes are not its length.
TEST(JudgeBiasFold, TakesTokensWhereAnAnswerMayHaveBeenCut) {
  auto answers = answers_with(as_long);
  answers[3].text = std::string(defaults::max_shown_bytes, 'x');
  answers[3].tokens = 2000;
  answers[3].scores = {1.0};
  answers[4].tokens = 0;
  const JudgeBias bias = MeasuredRun(answers).bias();
  EXPECT_EQ(bias.metrics[0].length_unit, LengthUnit::tokens);
  EXPECT_EQ(bias.metrics[0].length.correlation.answers, 39u) << "one has no known length";
  EXPECT_NEAR(*bias.metrics[0].length.correlation.rho, 1.0, 1e-9);
  EXPECT_EQ(bias.metrics[0].format.correlation.answers, 40u);
}

TEST(JudgeBiasFold, RepeatsAndArmsAreNoFurtherCases) {
  MeasuredRun run(answers_with(as_long));
  for (std::size_t i = 0; i < run.suite.cases.size(); ++i) {
    run.suite.cases.held(i).arm = static_cast<std::uint32_t>(i % 2);
    run.suite.cases.held(i).test = static_cast<std::uint32_t>(i / 2);
  }
  JudgeBiasFold fold(true, 0.95, 7);
  ASSERT_TRUE(visit_cases(run.results, [&](const CaseResult& result) { fold.add(result); }));
  const auto bias = fold.finish(run.suite.rubrics);
  ASSERT_TRUE(bias);
  EXPECT_EQ(bias->metrics[0].length.correlation.cases, 20u);
  EXPECT_EQ(bias->metrics[0].answers, 40u);
}

TEST(JudgeBiasFold, FewCasesAreNotMeasured) {
  const JudgeBias bias = MeasuredRun({{"a", {0.5}}, {"bc", {0.9}}}).bias();
  EXPECT_FALSE(bias.metrics[0].length.correlation.rho);
  EXPECT_FALSE(bias.metrics[0].noise);
  EXPECT_EQ(wording::not_measured(bias),
            "length and format (from 5 cases on); noise of votes (from 2 votes an answer on: "
            "`--judge-samples 3`)");
}

TEST(JudgeBiasFold, SaysOfWhichScoresSomethingWasNotMeasured) {
  JudgeBias bias = MeasuredRun(answers_with(as_long)).bias();
  EXPECT_EQ(wording::not_measured(bias), "format (all answers or all scores are alike)");
  JudgedMetricBias few = MeasuredRun({{"a", {0.5, 0.5}}}).bias().metrics[0];
  few.score = {rubric, "tone"};
  few.rubric = "rubric";
  bias.metrics.push_back(few);
  EXPECT_EQ(wording::not_measured(bias),
            "format of `faithfulness v1` (all answers or all scores are alike); length and format of "
            "`rubric:tone v1` (from 5 cases on); noise of votes of `rubric:tone v1` (from 2 answers on)");
  bias.metrics = {few};
  bias.metrics[0].format.correlation.cases = 40;
  EXPECT_TRUE(has(wording::not_measured(bias), "length (from 5 cases of known length on)"))
      << wording::not_measured(bias);
  JudgedMetricBias whole = MeasuredRun(answers_with(as_long)).bias().metrics[0];
  whole.format = whole.length;
  bias.metrics = {whole};
  EXPECT_EQ(wording::not_measured(bias), "");
}

TEST(JudgeBiasFold, SaysHowManyVotesWouldDo) {
  std::vector<JudgedText> answers;
  for (int i = 0; i < 60; ++i) {
    const double of = i % 2 == 0 ? 0.9 : 0.1;
    answers.push_back({"x", {of, of, i % 5 == 0 ? 1.0 - of : of}});
  }
  const JudgeBias bias = MeasuredRun(answers).bias();
  const JudgedMetricBias& metric = bias.metrics[0];
  ASSERT_TRUE(metric.noise);
  EXPECT_GT(metric.noise->pair_disagreement, 0.1);
  ASSERT_TRUE(metric.noise->enough_votes);
  const std::string words = wording::vote_noise(metric);
  if (wording::is_noisy(metric)) {
    EXPECT_TRUE(has(words, "--judge-samples " + std::to_string(*metric.noise->enough_votes))) << words;
  } else {
    EXPECT_TRUE(has(words, "below the limit of 5.0 %")) << words;
  }
  JudgedMetricBias noisy = metric;
  noisy.noise->flip_rate = 0.0;
  noisy.noise->flip_rate_upper = 0.5;
  EXPECT_TRUE(has(wording::vote_noise(noisy),
                  "(at most 50.0 %): too few answers to tell whether it is below the limit of 5.0 %"))
      << wording::vote_noise(noisy);
  noisy.noise->flip_rate_upper = 0.04;
  EXPECT_TRUE(has(wording::vote_noise(noisy), "(at most 4.0 %): below the limit of 5.0 %"));
  noisy.noise->flip_rate = 0.072;
  noisy.noise->flip_rate_upper = 0.14;
  noisy.noise->enough_votes = 7;
  EXPECT_EQ(wording::vote_noise(noisy),
            "3 votes on an answer would come out otherwise for some 7.2 % of 60 answers (at most 14.0 %): "
            "above 5.0 %; `--judge-samples 7` would bring it below");
  noisy.noise->enough_votes.reset();
  EXPECT_TRUE(has(wording::vote_noise(noisy), "not even 25 votes would bring it below"));
}

TEST(JudgeBiasFold, NothingIsMeasuredWhereNothingIsJudged) {
  const sample::SampleRun other;
  JudgeBiasFold fold(false, 0.95, 7);
  ASSERT_TRUE(visit_cases(other.results, [&](const CaseResult& result) { fold.add(result); }));
  EXPECT_FALSE(fold.finish({}));
}

TEST(JudgeBiasReport, EveryFormatForPeopleAndJsonShowIt) {
  MeasuredRun run(answers_with(as_long));
  const JudgeBias bias = run.bias();
  const Aggregates aggregates = *aggregate(run.results, nullptr);
  ReportInput input = sample::input_of(run.results, aggregates);
  input.identity.judge = {"openai", "gpt-4o"};
  for (const std::string& before : {json_of(input), table_of(input, {.columns = 400}), markdown_of(input)}) {
    EXPECT_FALSE(has(before, "judge_bias"));
    EXPECT_FALSE(has(before, "rank correlation"));
  }
  input.judge_bias = &bias;
  input.gate.notices = wording::judge_bias_notices(bias);
  for (const std::string& page : {table_of(input, {.columns = 120}), markdown_of(input)}) {
    const std::string text = in_one_line(page);
    EXPECT_TRUE(has(text, "longer answers score higher, beyond chance")) << page;
    EXPECT_TRUE(has(text, "Not measured: format (all answers or all scores are alike)")) << page;
    EXPECT_TRUE(has(text, "3 votes on an answer would come out otherwise")) << page;
  }
  std::istringstream written(json_of(input));
  const auto read = parse_report(written, "report.json");
  EXPECT_TRUE(read) << "`sluice compare` has to pass over it";
  const json report = json::parse(json_of(input));
  const json& metric = report["judge_bias"]["metrics"][0];
  EXPECT_EQ(report["judge_bias"]["confidence"], 0.95);
  EXPECT_EQ(metric["metric"], "faithfulness");
  EXPECT_EQ(metric["rubric"], "faithfulness");
  EXPECT_EQ(metric["rubric_version"], "v1");
  EXPECT_EQ(metric["length_unit"], "bytes");
  EXPECT_NEAR(metric["length"]["rho"].get<double>(), 1.0, 1e-9);
  EXPECT_EQ(metric["length"]["interval"].size(), 2u);
  EXPECT_EQ(metric["length"]["beyond_chance"], true);
  EXPECT_TRUE(metric["format"]["rho"].is_null());
  EXPECT_TRUE(metric["format"]["interval"].is_null());
  EXPECT_EQ(metric["format"]["beyond_chance"], false);
  EXPECT_EQ(metric["votes"]["samples"], 3);
  EXPECT_EQ(metric["votes"]["answers"], 40);
  EXPECT_TRUE(has(github_of(input), "::warning title=Judge%3A judge_length_bias::")) << github_of(input);
}

// Each score of a small suite had three lines that said what was not measured.
TEST(JudgeBiasReport, WhatIsNotMeasuredIsOneLine) {
  MeasuredRun run({{"a", {0.5}}, {"bc", {0.9}}});
  JudgeBias bias = run.bias();
  bias.metrics.resize(3, bias.metrics[0]);
  const Aggregates aggregates = *aggregate(run.results, nullptr);
  ReportInput input = sample::input_of(run.results, aggregates);
  input.judge_bias = &bias;
  const std::string line =
      "Not measured: length and format (from 5 cases on); noise of votes (from 2 votes an answer on: "
      "`--judge-samples 3`)";
  const std::string table = in_one_line(table_of(input, {.columns = 80}));
  EXPECT_TRUE(has(table, " Judge " + line)) << table;
  const std::string comment = in_one_line(markdown_of(input));
  EXPECT_TRUE(has(comment, "<summary>Judge</summary> - " + line + " </details>")) << comment;
}

}  // namespace sluice::judge_bias_report_test
