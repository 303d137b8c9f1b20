#include "coordinator/report/report.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "tests/unit/report/gated_run.hpp"

#include <ctime>
#include <sstream>

#include <gtest/gtest.h>

namespace sluice {
namespace {

tl::expected<ReportScores, Finding> parsed(const std::string& text) {
  std::istringstream stream(text);
  return parse_report(stream, "report.json");
}

std::string with_results(const std::string& results) {
  return "{\"schema_version\": 1, \"run_id\": \"r\", \"timestamp\": \"2026-02-05T14:30:00Z\",\n\"suite\": "
         "\"s\", "
         "\"config_fingerprint\": \"sha256:1\", \"verdict\": \"pass\", \"reason_code\": null,\n"
         "\"fixture_results\": [" +
         results + "],\n\"run\": {\"sluice_version\": \"0.1.0\"}}";
}

std::string result(const std::string& id, const std::string& metrics, const std::string& more = "") {
  return "{\"id\": \"" + id + "\", \"status\": \"pass\", \"metrics\": [" + metrics + "]" + more + "}";
}

std::string metric(const std::string& name, const std::string& score, const std::string& passed,
                   const std::string& thresholding = "null", bool asked_by_name = false) {
  return "{\"name\": \"" + name + "\", \"score\": " + score + ", \"passed\": " + passed +
         ", \"asked_by_name\": " + (asked_by_name ? "true" : "false") +
         ", \"thresholding\": " + thresholding + "}";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

ComparedCase case_at(const ReportScores& scores, std::size_t index) {
  ComparedCase one;
  scores.read(index, one);
  return one;
}

TEST(ReportReader, ReadsHeaderAndScoresByCase) {
  const auto scores = parsed(
      with_results(result("b", metric("must_contain", "null", "false", "null", true)) + ",\n" +
                   result("a", metric("semantic_similarity_to", "0.5", "null",
                                      "{\"mode\": \"relative\", \"max_drop\": 0.1, \"min_floor\": null, "
                                      "\"min_score\": 0.4}"))));
  ASSERT_TRUE(scores) << to_text(scores.error());
  EXPECT_EQ(scores->header, (BaselineHeader{"s", "0.1.0", "2026-02-05T14:30:00Z", "sha256:1"}));
  EXPECT_EQ(scores->reason_code, "");
  ASSERT_EQ(scores->size(), 2u);
  const auto first = case_at(*scores, 0);
  EXPECT_EQ(first.test_id, "a");
  ASSERT_EQ(first.metrics.size(), 1u);
  EXPECT_EQ(first.metrics[0].score, 0.5);
  EXPECT_EQ(first.metrics[0].thresholding,
            (Thresholding{ThresholdMode::relative, 0.1, std::nullopt, std::nullopt}));
  EXPECT_EQ(first.metrics[0].min_score, 0.4);
  const auto second = case_at(*scores, 1);
  EXPECT_EQ(second.test_id, "b");
  EXPECT_FALSE(second.metrics[0].passed);
  EXPECT_TRUE(second.metrics[0].asked_by_name);
}

TEST(ReportReader, ReadsWhatACheckExpectsWhereTheCaseHasSeveralByItsMetric) {
  const auto check = [](const std::string& name, const std::string& expected) {
    return replaced(metric(name, "null", "true", "null", true), "\"score\"",
                    "\"expected\": \"" + expected + "\", \"score\"");
  };
  const std::string longer(100, 'x');
  const auto scores = parsed(with_results(result("a", check("must_contain", "must_contain A") + ", " +
                                                          check("must_contain", longer) + ", " +
                                                          check("exact_match", "exact_match C")) +
                                          ",\n" +
                                          result("b", metric("must_contain", "null", "true", "null", true) +
                                                          ", " + check("must_contain", "must_contain B"))));
  ASSERT_TRUE(scores) << to_text(scores.error());
  const auto first = case_at(*scores, 0);
  EXPECT_EQ(first.metrics[0].expected, "must_contain A");
  EXPECT_EQ(first.metrics[1].expected, longer.substr(0, defaults::compared_check_bytes) + "...");
  EXPECT_EQ(first.metrics[2].expected, "") << "its name is enough";
  const auto second = case_at(*scores, 1);
  EXPECT_EQ(second.metrics[0].expected, "") << "an older report does not say it";
  EXPECT_EQ(second.metrics[1].expected, "must_contain B");
}

TEST(ReportReader, KnowsTheReportOfAMockRunFromAnother) {
  const auto with_mode = [](const std::string& mode) {
    std::string text = with_results("");
    const std::string version = "\"sluice_version\": \"0.1.0\"";
    return text.replace(text.find(version), version.size(), version + ", \"mode\": " + mode);
  };
  const auto mock = parsed(with_mode("\"mock\""));
  ASSERT_TRUE(mock) << to_text(mock.error());
  EXPECT_EQ(mock->header.mode, "mock");
  EXPECT_TRUE(mock->names_mode);
  const auto live = parsed(with_mode("\"live\""));
  ASSERT_TRUE(live) << to_text(live.error());
  EXPECT_EQ(live->header.mode, "") << "as in the baseline of such a run";
  EXPECT_TRUE(live->names_mode);
  const auto silent = parsed(with_results(""));
  ASSERT_TRUE(silent) << to_text(silent.error());
  EXPECT_FALSE(silent->names_mode);
  const auto wrong = parsed(with_mode("7"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(to_text(wrong.error()), "report.json:4: `run.mode` is 7, expected a text that is not empty");
}

// Of two reports the warning said that something differs, and of two baselines what.
TEST(ReportReader, ReadsThePartsOfTheFingerprintThatAReportHas) {
  sample::GatedSample run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate.fingerprint_parts = {{"arm \"a\"", "00000000000000ff"}, {"checks", "0123456789abcdef"}};
  StringSink sink;
  ASSERT_TRUE(write_json_report(input, sink));
  const auto scores = parsed(sink.text());
  ASSERT_TRUE(scores) << to_text(scores.error());
  EXPECT_EQ(scores->header.fingerprint_parts, input.gate.fingerprint_parts);
  const std::string key = "\"config_fingerprint\"";
  std::string text = with_results("");
  const auto wrong = parsed(text.replace(text.find(key), 0, "\"fingerprint_parts\": {\"a\": 1}, "));
  ASSERT_FALSE(wrong);
  EXPECT_NE(to_text(wrong.error()).find("`fingerprint_parts.a`"), std::string::npos);
}

TEST(ReportReader, ReadsTheLeastPassRatesAndTheArmsThatTheyHoldFor) {
  const auto asking = [](const std::string& rates) {
    std::string text = with_results("");
    const std::string version = "\"sluice_version\": \"0.1.0\"";
    text.replace(text.find(version), version.size(), version + ", " + rates);
    return parsed(
        text.replace(text.find("\"run\""), 5, R"("arms": [{"name": "m1"}, {"name": "m2"}], "run")"));
  };
  const auto scores = asking(R"("min_pass_rate": 0.9, "min_pass_rates": {"safety": 1})");
  ASSERT_TRUE(scores) << to_text(scores.error());
  EXPECT_EQ(scores->min_pass_rates.general, 0.9);
  EXPECT_EQ(scores->min_pass_rates.by_category.at("safety"), 1.0);
  EXPECT_EQ(scores->arms, (std::vector<std::string>{"m1", "m2"}));
  const auto wrong = asking(R"("min_pass_rates": {"safety": 2})");
  ASSERT_FALSE(wrong);
  EXPECT_NE(to_text(wrong.error()).find("`run.min_pass_rates.safety` is 2"), std::string::npos)
      << to_text(wrong.error());
}

/// A report of 2 MB with 200,000 unknown keys kept the reader busy for minutes.
TEST(ReportReader, ManyKeysAndMetricsOfOneCaseTakeNoTimeSquared) {
  std::string keys;
  for (int i = 0; i < 200'000; ++i) keys += ", \"k" + std::to_string(i) + "\": 1";
  std::string one = metric("claims_f1", "1", "null");
  one.insert(one.size() - 1, keys);
  std::string many = metric("claims_f1", "1", "null");
  for (int i = 0; i < 100'000; ++i) many += "," + metric("m" + std::to_string(i), "1", "null");
  const std::clock_t begin = std::clock();
  const auto with_keys = parsed(with_results(result("a", one)));
  const auto with_metrics = parsed(with_results(result("a", many)));
  const double taken = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_TRUE(with_keys) << to_text(with_keys.error());
  EXPECT_TRUE(with_metrics) << to_text(with_metrics.error());
  EXPECT_LT(taken, 10.0);
  one.insert(one.size() - 1, ", \"k199999\": 2");
  const auto twice = parsed(with_results(result("a", one)));
  ASSERT_FALSE(twice);
  EXPECT_EQ(to_text(twice.error()),
            "report.json:3: the key `k199999` in `fixture_results[0].metrics` stands there twice");
  const auto two_metrics = parsed(with_results(result("a", many + "," + metric("m7", "1", "null"))));
  ASSERT_FALSE(two_metrics);
  EXPECT_EQ(to_text(two_metrics.error()),
            "report.json:3: `fixture_results[0]` has the scored metric `m7` twice");
}

// Each was looked up among all: a report of 1.5 MB, with 80,000 parts of a fingerprint, took 8 seconds.
TEST(ReportReader, ManyPartsRatesAndVotesTakeNoTimeSquared) {
  std::string parts;
  std::string rates;
  std::string metrics;
  std::string votes;
  for (int i = 0; i < 100'000; ++i) {
    const std::string number = std::to_string(i);
    const char* comma = i > 0 ? "," : "";
    parts += comma + ("\"p" + number + "\": \"x\"");
    rates += comma + ("\"c" + number + "\": 0.5");
    if (i >= 50'000) continue;
    metrics += comma + metric("rubric:n" + number, "1", "null");
    votes += comma + ("\"rubric:n" + number + "\": {\"samples\": [true]}");
  }
  const std::string judged = ", \"meta\": {\"assay\": {\"judge\": {" + votes + "}}}";
  auto text = with_results(result("a", metrics, judged));
  text = replaced(text, "\"run\": {",
                  "\"fingerprint_parts\": {" + parts + "}, \"run\": {\"min_pass_rates\": {" + rates + "}, ");
  const std::clock_t begin = std::clock();
  const auto scores = parsed(text);
  const double taken = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(scores) << to_text(scores.error());
  EXPECT_EQ(scores->header.fingerprint_parts.size(), 100'000u);
  EXPECT_EQ(scores->min_pass_rates.by_category.size(), 100'000u);
  EXPECT_EQ(case_at(*scores, 0).metrics.back().votes.size(), 1u);
  EXPECT_LT(taken, 10.0);
}

TEST(ReportReader, ACaseWithAnErrorAndACutRunAreKnown) {
  auto text = with_results("{\"status\": \"error\", \"metrics\": [], \"id\": \"a\"}");
  text.replace(text.find("\"reason_code\": null"), 19, "\"reason_code\": \"interrupted\"");
  const auto scores = parsed(text);
  ASSERT_TRUE(scores) << to_text(scores.error());
  EXPECT_TRUE(case_at(*scores, 0).is_error);
  EXPECT_EQ(scores->reason_code, "interrupted");
}

TEST(ReportReader, WhatAScoreAssessedForIsReadFromTheClaims) {
  const std::string scores_of_claims =
      metric("claims_precision", "1", "true") + "," + metric("claims_recall", "null", "null") + "," +
      metric("claims_f1", "0", "null") + "," + metric("claims_required", "null", "null") + "," +
      metric("claims_forbidden", "null", "null") + "," + metric("claims_absent", "null", "null");
  const auto scores = parsed(
      with_results(result("a", scores_of_claims, ", \"missing\": [], \"forbidden\": [{\"got\": {}}]") + "," +
                   result("b", scores_of_claims, ", \"missing\": [{}, {}], \"unexpected\": []")));
  ASSERT_TRUE(scores) << to_text(scores.error());
  const auto a = case_at(*scores, 0);
  EXPECT_EQ(a.metrics[1].score, std::nullopt);
  EXPECT_EQ(a.metrics[2].score, 0.0);
  EXPECT_TRUE(a.metrics[3].passed);
  EXPECT_FALSE(a.metrics[4].passed);
  EXPECT_FALSE(a.metrics[5].passed);
  EXPECT_FALSE(a.metrics[3].asked_by_name) << "a fixture's, which a score may stand for";
  EXPECT_FALSE(a.expects_nothing) << "it does not say what was expected";
  const auto b = case_at(*scores, 1);
  EXPECT_FALSE(b.metrics[3].passed);
  EXPECT_TRUE(b.metrics[4].passed);
  EXPECT_TRUE(b.metrics[5].passed);
}

TEST(ReportReader, ACaseThatExpectsNothingIsKnownByItsCounts) {
  const auto with_counts = [](const std::string& id, const char* found, const char* missed) {
    return result(id, metric("claims_f1", "null", "null"),
                  std::string(", \"true_positives\": ") + found + ", \"false_negatives\": " + missed);
  };
  const auto scores =
      parsed(with_results(with_counts("a", "0", "0") + "," + with_counts("b", "0", "1") + "," +
                          with_counts("c", "1", "0") + "," + with_counts("d", "null", "null")));
  ASSERT_TRUE(scores) << to_text(scores.error());
  EXPECT_TRUE(case_at(*scores, 0).expects_nothing);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_FALSE(case_at(*scores, i).expects_nothing) << i;
}

TEST(ReportReader, CasesOfOneRequestAreKnownByItsNumber) {
  const auto with_request = [](const std::string& id, const std::string& members) {
    return result(id, metric("claims_f1", "0.5", "null"), members);
  };
  const auto scores =
      parsed(with_results(with_request("a", ", \"request\": 7") + "," + with_request("b", "")));
  ASSERT_TRUE(scores) << to_text(scores.error());
  EXPECT_EQ(case_at(*scores, 0).answers, 7u);
  EXPECT_EQ(case_at(*scores, 1).answers, PairedCase::own_answers);
  EXPECT_FALSE(parsed(with_results(with_request("a", ", \"request\": 4294967295"))));
  EXPECT_FALSE(parsed(with_results(with_request("a", ", \"request\": \"7\""))));
}

/// What the comparison of the run's baseline with its report comes to.
VerdictInput compared(const sample::GatedSample& run, const Aggregates& aggregates) {
  StringSink sink;
  EXPECT_TRUE(write_json_report(run.input(aggregates), sink));
  const auto scores = parsed(sink.text());
  EXPECT_TRUE(scores) << to_text(scores.error());
  if (!scores) return {};
  const auto summary = compare(cases_of(run.baseline), cases_of(*scores), {}, [](const ScoreComparison&) {});
  EXPECT_TRUE(summary) << summary.error().message;
  return summary ? summary->verdict_input : VerdictInput{};
}

/// A comparison of a baseline with a report must say what the run's own gate says: also beside a baseline
/// that came later than the report, and with whatever thresholds.
TEST(ReportReader, AReportKeepsWhatItsRunWouldHaveBeenGatedBy) {
  const Thresholding thresholds[] = {
      {},
      {.mode = {}, .max_drop = 0.01, .min_floor = {}, .min_score = {}},
      {.mode = {}, .max_drop = {}, .min_floor = 0.7, .min_score = {}},
      {.mode = {}, .max_drop = {}, .min_floor = {}, .min_score = 0.9},
      {.mode = ThresholdMode::relative, .max_drop = 0.08, .min_floor = {}, .min_score = 0.9},
      {.mode = ThresholdMode::absolute, .max_drop = 0.01, .min_floor = 0.9, .min_score = 0.5},
  };
  for (const Thresholding& suite : thresholds) {
    for (const double threshold : {0.0, 0.03, 0.1}) {
      sample::GatedSample run;
      run.gate = Gate({.suite = suite, .baseline = nullptr, .default_max_drop = threshold});
      const Aggregates ungated = run.aggregates();
      const auto offline = compared(run, ungated);
      run.gate = Gate({.suite = suite, .baseline = &run.baseline, .default_max_drop = threshold});
      const Aggregates gated = run.aggregates();
      EXPECT_EQ(offline.statuses, gated.all.statuses);
      EXPECT_EQ(offline.regressed, gated.all.regressed);
    }
  }
}

/// The same for the report of the gated run itself.
TEST(ReportReader, AReportComparesAsItsRunWasGated) {
  const sample::GatedSample run;
  const Aggregates aggregates = run.aggregates();
  const auto offline = compared(run, aggregates);
  EXPECT_EQ(offline.statuses.total(), run.suite.cases.size());
  EXPECT_EQ(offline.statuses, aggregates.all.statuses);
  EXPECT_EQ(offline.regressed, aggregates.all.regressed);
}

TEST(ReportReader, AReportAgainstItselfHasNothingNew) {
  const sample::SampleRun run;
  const Aggregates aggregates = run.aggregates();
  StringSink sink;
  ASSERT_TRUE(write_json_report(run.input(aggregates), sink));
  const auto scores = parsed(sink.text());
  ASSERT_TRUE(scores) << to_text(scores.error());
  const auto summary = compare(cases_of(*scores), cases_of(*scores), {}, [](const ScoreComparison& row) {
    EXPECT_NE(row.change, RowChange::regression) << row.test_id;
    EXPECT_NE(row.change, RowChange::improvement) << row.test_id;
  });
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->missing_in_baseline + summary->missing_in_current, 0u);
  EXPECT_EQ(summary->verdict_input.statuses.errors, aggregates.all.statuses.errors);
}

// They were case errors of the comparison, and `not started` in the report.
TEST(ReportReader, WhatWasNotStartedIsNoErrorOfTheComparison) {
  sample::SampleRun run;
  run.source.trials.erase(run.source.trials.begin() + 1, run.source.trials.begin() + 4);
  run.results.unfinished = [](TrialId) { return Error{Reason::interrupted, "interrupted by SIGINT"}; };
  run.results.not_started = [](TrialId trial) { return trial != 3; };
  const Aggregates aggregates = run.aggregates();
  StringSink sink;
  ASSERT_TRUE(write_json_report(run.input(aggregates), sink));
  const auto scores = parsed(sink.text());
  ASSERT_TRUE(scores) << to_text(scores.error());
  const auto summary = compare(cases_of(*scores), cases_of(*scores), {}, [](const ScoreComparison&) {});
  ASSERT_TRUE(summary);
  ASSERT_EQ(aggregates.all.not_started, 3u);
  EXPECT_EQ(summary->not_started, 3u);
  EXPECT_EQ(summary->errors(), aggregates.all.errors());
}

struct Malformed {
  const char* name;
  std::string text;
  const char* message;
};

class MalformedReports : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedReports, AreNamedWithTheirPlace) {
  const auto scores = parsed(GetParam().text);
  ASSERT_FALSE(scores);
  EXPECT_NE(to_text(scores.error()).find(GetParam().message), std::string::npos) << to_text(scores.error());
}

const std::string one_score = with_results(result("a", metric("claims_f1", "0.5", "null")));

const std::vector<Malformed> malformed{
    {"Truncated", one_score.substr(0, one_score.find("\"passed\"")),
     "report.json:3: ends too early in `fixture_results[0].metrics[0]"},
    {"NoJson", "{\"schema_version\" 1}", "report.json:1: is not JSON at "},
    {"CutCharacter", "{\"suite\": \xE2\x80\x9Cx\xE2\x80\x9D}",
     "report.json:1: is not JSON at a character that is not ASCII in `suite`"},
    {"NotUtf8", "{\"suite\": \"\xFF\"}", "report.json:1: is not UTF-8 text at `\"\xEF\xBF\xBD` in `suite`"},
    {"AList", "[1]", "report.json:1: holds a list, expected a JSON object"},
    {"GoesOn", one_score + "x", "goes on after the end of its JSON object"},
    {"OtherVersion", replaced(one_score, "_version\": 1", "_version\": 2"),
     "report.json:1: is a report with schema_version 2, and this sluice reads 1"},
    {"VersionText", replaced(one_score, "_version\": 1", "_version\": \"1\""),
     "expected 1, written without a point"},
    {"VersionPoint", replaced(one_score, "_version\": 1", "_version\": 1.0"),
     "`schema_version` is 1, expected 1, written without a point or an exponent"},
    {"NoSuite", replaced(one_score, "\"suite\"", "\"site\""), "report.json:4: has no `suite`"},
    {"NoFingerprint", replaced(one_score, "\"config_fingerprint\"", "\"c\""), "has no `config_fingerprint`"},
    {"NoTool", replaced(one_score, "\"sluice_version\"", "\"c\""), "has no `sluice_version`"},
    {"NoResults", replaced(one_score, "\"fixture_results\"", "\"c\""), "has no `fixture_results`"},
    {"BadTime", replaced(one_score, "2026-02-05T", "yesterday"), "report.json:1: `timestamp` is the text "},
    {"ScoreTooHigh", replaced(one_score, "0.5", "1.5"),
     "report.json:3: `fixture_results[0].metrics[0].score` is 1.5, expected a number from 0 to 1"},
    {"ScoreText", replaced(one_score, "0.5", "\"0.5\""), "`fixture_results[0].metrics[0].score` is the text"},
    {"ScoreNan", replaced(one_score, "0.5", "NaN"), "is not JSON at "},
    {"ScoreOverflow", replaced(one_score, "0.5", "1e400"), "which is too large"},
    {"NoScore", replaced(one_score, "\"score\": 0.5, ", ""),
     "`fixture_results[0].metrics[0]` has no `score`, which is required"},
    {"NobodyAsked", replaced(one_score, "\"asked_by_name\": false, ", ""),
     "`fixture_results[0].metrics[0]` has no `asked_by_name`, which is required"},
    {"OddCount", with_results(result("a", "", ", \"true_positives\": -1")),
     "`fixture_results[0].true_positives` is -1, expected a whole number from 0, or null"},
    {"NoStatus", replaced(one_score, "\"status\"", "\"state\""), "`fixture_results[0]` has no `status`"},
    {"OddStatus", replaced(one_score, "\"status\": \"pass\"", "\"status\": \"fine\""),
     "expected pass, warn, flaky, fail or error"},
    {"EmptyId", with_results(result("", "")), "`fixture_results[0].id` is the text ``"},
    {"KeyTwice", replaced(one_score, "\"status\"", "\"id\": \"b\", \"status\""),
     "the key `fixture_results[0].id` stands there twice"},
    {"CaseTwice", with_results(result("b", "") + "," + result("a", "") + "," + result("b", "")),
     "`fixture_results[2]` has the id of `fixture_results[0]`: keep one of the two"},
    {"MetricTwice",
     with_results(result("a", metric("claims_f1", "1", "null") + "," + metric("claims_f1", "0", "null"))),
     "`fixture_results[0]` has the scored metric `claims_f1` twice"},
    {"UnjudgedText", with_results(result("a", metric("must_contain", "null", "null"))),
     "`fixture_results[0].metrics[0].passed` is null, expected true or false"},
    {"OddMode", with_results(result("a", metric("claims_f1", "1", "null", "{\"mode\": \"strict\"}"))),
     "`fixture_results[0].metrics[0].thresholding.mode` is the text `strict`"},
    {"NegativeDrop", with_results(result("a", metric("claims_f1", "1", "null", "{\"max_drop\": -0.1}"))),
     "`fixture_results[0].metrics[0].thresholding.max_drop` is -0.1"},
    {"ResultsNoList", "{\"fixture_results\": {}}", "`fixture_results` is an object, expected a list"},
    {"ResultNoObject", "{\"fixture_results\": [3]}", "`fixture_results[0]` is 3, expected an object"},
    {"TooDeep", "{\"x\": " + std::string(100, '[') + std::string(100, ']') + "}",
     "nested deeper than 64 levels"},
};

INSTANTIATE_TEST_SUITE_P(ReportReader, MalformedReports, ::testing::ValuesIn(malformed),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sluice
