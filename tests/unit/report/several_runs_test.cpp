#include "coordinator/report/commands/several_runs.hpp"

#include "coordinator/display/display.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;

ComparedCase checked(std::string id, bool passed, bool is_known = false) {
  ComparedMetric check;
  check.name = "must_contain";
  check.passed = passed;
  check.asked_by_name = true;
  return {std::move(id), false, {check}, is_known};
}

ComparedCase scored(std::string id, double score, bool is_known = false) {
  ComparedMetric metric;
  metric.name = "rouge_n";
  metric.score = score;
  return {std::move(id), false, {metric}, is_known};
}

NextCase cases_of(std::vector<ComparedCase> cases) {
  const auto all = std::make_shared<std::vector<ComparedCase>>(std::move(cases));
  return [all, next = std::size_t{0}]() mutable -> Result<const ComparedCase*> {
    return next == all->size() ? nullptr : &(*all)[next++];
  };
}

using Cases = std::vector<ComparedCase>;

CompareReportInput input_of(const Cases& base, const Cases& current, const std::string& file) {
  CompareReportInput input;
  input.current.file = file;
  input.current.kind = "report";
  input.visit = [base, current](const std::function<void(const ScoreComparison&)>& visit) {
    return compare(cases_of(base), cases_of(current), {}, visit);
  };
  const auto summary = input.visit([](const ScoreComparison&) {});
  EXPECT_TRUE(summary) << "in the order of their ids?";
  if (summary) input.summary = *summary;
  return input;
}

/// Each beside the first.
SeveralRuns beside_the_first(const std::vector<Cases>& runs) {
  SeveralRuns several;
  for (std::size_t i = 0; i < runs.size(); ++i)
    EXPECT_TRUE(several.add(input_of(runs.front(), runs[i], "run-" + std::to_string(i))));
  return several;
}

/// A case without an answer.
ComparedCase unanswered(std::string id, bool not_started) {
  ComparedCase one{std::move(id), true, {}};
  one.not_started = not_started;
  return one;
}

json json_of(const SeveralRuns& runs) {
  StringSink sink;
  EXPECT_TRUE(runs.write_json(0, sink));
  return json::parse(sink.text());
}

std::string table_of(const SeveralRuns& runs, std::size_t columns = 120) {
  StringSink sink;
  EXPECT_TRUE(runs.write_table({.columns = columns}, sink));
  return sink.text();
}

void expect_to_fit(std::string_view table, std::size_t columns) {
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), columns) << line;
}

// The second side has them in another order: they were compared by their places.
TEST(SeveralRuns, AChecksPlaceIsWhereverItStands) {
  const auto both = [](CheckDigest first, bool first_passed, CheckDigest second, bool second_passed) {
    ComparedCase one = checked("a", first_passed);
    one.metrics[0].check = first;
    ComparedMetric& other = one.metrics.emplace_back(one.metrics[0]);
    other.check = second;
    other.passed = second_passed;
    return Cases{one};
  };
  const Cases base = both(7, true, 8, false);
  EXPECT_EQ(json_of(beside_the_first({base, both(8, false, 7, true), base}))["differences"].size(), 0u);
  const json changed = json_of(beside_the_first({base, both(8, true, 7, true), base}))["differences"];
  ASSERT_EQ(changed.size(), 1u) << changed;
  EXPECT_EQ(changed[0]["check"], 2u) << "the second of the first side's";
  EXPECT_EQ(json_of(beside_the_first({base, both(0, true, 0, false), base}))["differences"].size(), 0u)
      << "a side that does not say which check it is goes by its order";
}

// `must_contain (2)` sent the reader to the suite.
TEST(SeveralRuns, ChecksOfOneMetricSayWhatTheyExpect) {
  ComparedCase one = checked("a", true);
  one.metrics[0].check = 7;
  one.metrics[0].expected = "must_contain \"Paris\"";
  ComparedMetric& other = one.metrics.emplace_back(one.metrics[0]);
  other.check = 8;
  other.expected = "must_contain \"Seine\"";
  ComparedCase fallen = one;
  fallen.metrics[1].passed = false;
  const auto runs = beside_the_first({{one}, {fallen}, {one}});
  const json differences = json_of(runs)["differences"];
  ASSERT_EQ(differences.size(), 1u) << differences;
  EXPECT_EQ(differences[0]["expected"], "must_contain \"Seine\"");
  EXPECT_NE(table_of(runs).find("must_contain \"Seine\""), std::string::npos) << table_of(runs);
  EXPECT_EQ(table_of(runs).find("must_contain (2)"), std::string::npos) << table_of(runs);
}

// They counted as broken, as worse and as failed, and the run itself had passed.
TEST(SeveralRuns, KnownFailuresAreApart) {
  const Cases base{checked("a", true), checked("b", true), checked("c", false), scored("d", 0.9)};
  const Cases known{checked("a", true), checked("b", false, true), checked("c", false, true),
                    scored("d", 0.2, true)};
  const auto runs = beside_the_first({base, known, base});
  const json side = json_of(runs)["runs"][1];
  EXPECT_EQ(side["passed"], 1);
  EXPECT_EQ(side["failed"], 0);
  EXPECT_EQ(side["known_failures"], 3);
  EXPECT_EQ(side["broke"], 0);
  EXPECT_EQ(side["regressions"], 0);
  EXPECT_EQ(side["verdict"], "pass");
  EXPECT_NE(table_of(runs).find("Known failures"), std::string::npos) << table_of(runs);
}

// A review, which fails under --strict, had no reason, and no row named the case.
TEST(SeveralRuns, AKnownFailureThatPassedIsAReason) {
  const Cases base{checked("a", true), checked("b", true)};
  const Cases passed{checked("a", true, true), checked("b", true)};
  const json side = json_of(beside_the_first({base, passed, base}))["runs"][1];
  EXPECT_EQ(side["verdict"], "review");
  EXPECT_EQ(side["reasons"], "1 known failure that passed");
  StringSink sink;
  ASSERT_TRUE(write_compare_table(input_of(base, passed, "now.json"), {.columns = 120}, sink));
  EXPECT_NE(sink.text().find("Known failures that passed"), std::string::npos) << sink.text();
  EXPECT_NE(sink.text().find("1 known failure that passed, 2 unchanged"), std::string::npos) << sink.text();
}

// The list was of 2, for its two checks, beside a verdict that counts the case.
TEST(CompareReport, KnownFailuresThatPassedAreCountedAsTheVerdictCountsThem) {
  ComparedCase one = checked("a", true, true);
  one.metrics[0].check = 7;
  one.metrics.push_back(one.metrics[0]);
  one.metrics[1].check = 8;
  StringSink sink;
  ASSERT_TRUE(write_compare_table(input_of({one}, {one}, "now.json"), {.columns = 120}, sink));
  EXPECT_NE(sink.text().find("Known failures that passed (1)"), std::string::npos) << sink.text();
  EXPECT_NE(sink.text().find("1 known failure that passed"), std::string::npos) << sink.text();
}

TEST(SeveralRuns, WithoutKnownFailuresNothingIsSaidOfThem) {
  const Cases base{checked("a", true), checked("b", false)};
  const Cases worse{checked("a", false), checked("b", false)};
  const auto runs = beside_the_first({base, worse, base});
  const json sides = json_of(runs)["runs"];
  EXPECT_FALSE(sides[1].contains("known_failures"));
  EXPECT_EQ(sides[0]["failed"], 1) << "it fails, whether it is compared with itself or not";
  EXPECT_EQ(sides[1]["failed"], 2);
  EXPECT_EQ(sides[1]["still_failing"], 1) << "of these";
  EXPECT_FALSE(sides[0].contains("still_failing"));
  EXPECT_NE(table_of(runs).find("Still failing"), std::string::npos) << table_of(runs);
  EXPECT_EQ(sides[1]["broke"], 1);
  EXPECT_EQ(table_of(runs).find("Known failures"), std::string::npos);
}

ComparedCase repeated(std::string id, std::vector<bool> passed) {
  ComparedCase one = checked(std::move(id), std::ranges::count(passed, true) * 2 > std::ssize(passed));
  for (const bool each : passed) one.passes.push_back(each ? 1.0 : 0.0);
  one.metrics[0].repeat_passed = std::move(passed);
  return one;
}

// It was counted as passed, and its check stood there as nothing.
TEST(SeveralRuns, FlakyCasesAreApart) {
  const Cases base{repeated("a", {true, true, true}), repeated("b", {true, true, true})};
  const Cases flaky{repeated("a", {true, false, true}), repeated("b", {true, true, true})};
  const auto runs = beside_the_first({base, flaky, base});
  const json of_runs = json_of(runs);
  EXPECT_EQ(of_runs["runs"][1]["flaky"], 1);
  EXPECT_EQ(of_runs["runs"][1]["passed"], 1);
  EXPECT_FALSE(of_runs["runs"][2].contains("flaky"));
  EXPECT_EQ(of_runs["differences"][0]["values"], (json::array({true, "flaky", true})));
  EXPECT_NE(table_of(runs).find("Flaky"), std::string::npos) << table_of(runs);
  EXPECT_NE(table_of(runs).find("run-1: 1 flaky case\n"), std::string::npos) << table_of(runs);
}

// It was counted as flaky, and its case had failed.
TEST(SeveralRuns, ACaseThatFellByAnotherCheckInEachRepeatHasFailed) {
  const auto both = [](const std::vector<bool>& first, const std::vector<bool>& second) {
    ComparedCase one = repeated("a", first);
    one.metrics[0].check = 7;
    one.metrics.push_back(repeated("a", second).metrics[0]);
    one.metrics[1].check = 8;
    return Cases{one};
  };
  const Cases base = both({true, true, true}, {true, true, true});
  const auto runs = beside_the_first({base, both({false, true, true}, {true, false, true}), base});
  const json side = json_of(runs)["runs"][1];
  EXPECT_EQ(side["failed"], 1);
  EXPECT_FALSE(side.contains("flaky"));
  EXPECT_EQ(side["reasons"], "the only case regressed");
}

/// A case of each kind, beside which another may stand.
std::vector<ComparedCase> kinds() {
  ComparedCase partly = repeated("", {false, false, false});
  partly.metrics[0].check = 7;
  partly.metrics.push_back(repeated("", {true, false, true}).metrics[0]);
  partly.metrics[1].check = 8;
  return {checked("", true),
          checked("", false),
          checked("", true, true),
          checked("", false, true),
          repeated("", {true, true, true}),
          repeated("", {true, false, true}),
          repeated("", {false, false, false}),
          partly,
          scored("", 0.9),
          scored("", 0.2),
          scored("", 0.2, true),
          unanswered("", false),
          unanswered("", true)};
}

// A run that passes beside the first stood there with failures, and nothing said that the first excuses them.
TEST(SeveralRuns, EachSideIsCountedAsBesideTheFirstAlone) {
  const std::vector<ComparedCase> all = kinds();
  std::vector<Cases> runs(3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      const std::string id{static_cast<char>('a' + i), static_cast<char>('a' + j)};
      const std::array kinds_of_sides{i, j, (i + j) % all.size()};
      for (std::size_t side = 0; side < runs.size(); ++side) {
        runs[side].push_back(all[kinds_of_sides[side]]);
        runs[side].back().test_id = id;
      }
    }
  }
  const json three = json_of(beside_the_first(runs))["runs"];
  for (std::size_t side = 0; side < runs.size(); ++side) {
    StringSink document;
    ASSERT_TRUE(write_compare_json(input_of(runs[0], runs[side], "now.json"), document));
    const json two = json::parse(document.text());
    const auto count = [&](const char* name) { return three[side].value(name, std::uint64_t{0}); };
    const auto of_cases = [&](const char* name) { return two["cases"].value(name, std::uint64_t{0}); };
    EXPECT_EQ(count("flaky"), of_cases("flaky")) << side;
    EXPECT_EQ(count("errors"), of_cases("errors")) << side;
    EXPECT_EQ(count("not_started"), of_cases("not_started")) << side;
    EXPECT_EQ(count("regressions"), two["scores"]["regressions"]) << side;
    EXPECT_EQ(count("improvements"), two["scores"]["improvements"]) << side;
    EXPECT_EQ(count("broke"), two["checks"]["broke"]) << side;
    EXPECT_EQ(count("fixed"), two["checks"]["fixed"]) << side;
    EXPECT_EQ(count("passed") + count("failed") + count("flaky") + count("known_failures") + count("errors"),
              runs[side].size())
        << side;
    if (side == 0) continue;
    EXPECT_EQ(three[side]["verdict"], two["verdict"]) << side;
    EXPECT_EQ(count("failed") - count("still_failing"), of_cases("failed")) << side;
    EXPECT_EQ(count("passed") + count("still_failing") + count("known_failures"),
              of_cases("passed") + of_cases("warned"))
        << side;
  }
  EXPECT_FALSE(three[0].contains("still_failing")) << "it is compared with itself";
  EXPECT_GT(three[1]["still_failing"], 0);
}

// What a part of the suite had left out stood in the first 100 rows, and hid what had regressed.
TEST(SeveralRuns, CasesThatARunLacksAreApartFromWhatDiffers) {
  Cases whole;
  for (int i = 100; i < 250; ++i) whole.push_back(checked("c-" + std::to_string(i), true));
  Cases worse = whole;
  worse.back() = checked("c-249", false);
  const auto runs = beside_the_first({whole, worse, {checked("c-248", true), checked("c-249", false)}});
  const json all = json_of(runs);
  EXPECT_EQ(all["runs"][2]["lacking"], 148);
  EXPECT_FALSE(all["runs"][1].contains("lacking"));
  ASSERT_EQ(all["differences"].size(), 149u);
  EXPECT_EQ(all["differences"][0]["kind"], "case");
  EXPECT_EQ(all["differences"][0]["values"], json::array({true, true, nullptr}));
  EXPECT_EQ(all["differences"][0]["lacking"], json::array({2}));
  EXPECT_EQ(all["differences"][148]["kind"], "value");
  EXPECT_EQ(all["differences"][148]["lacking"], json::array());
  StringSink markdown;
  ASSERT_TRUE(runs.write_markdown(markdown));
  for (const std::string& text : {table_of(runs), markdown.text()}) {
    EXPECT_NE(text.find("What differs (1)"), std::string::npos) << text;
    EXPECT_NE(text.find("Cases that not every run has (148)"), std::string::npos) << text;
    EXPECT_NE(
        text.find("`run-2` lacks 148 cases: `c-100`, `c-101`, `c-102`, `c-103`, `c-104`, and 143 more."),
        std::string::npos)
        << text;
  }
  EXPECT_NE(table_of(runs).find("│ c-249 │ must_contain │  pass │  fail │  fail │"), std::string::npos)
      << table_of(runs);
  EXPECT_EQ(table_of(runs).find("│ c-100 "), std::string::npos) << table_of(runs);
}

TEST(SeveralRuns, ACaseThatEndedInAnErrorIsNotLacking) {
  const Cases base{checked("a", true), checked("b", true)};
  const auto runs = beside_the_first(
      {base, {checked("a", true), unanswered("b", false)}, {checked("a", true), checked("n", true)}});
  const json all = json_of(runs);
  ASSERT_EQ(all["differences"].size(), 2u) << all;
  EXPECT_EQ(all["differences"][0]["test_id"], "b");
  EXPECT_EQ(all["differences"][0]["kind"], "value");
  EXPECT_EQ(all["differences"][0]["lacking"], json::array({2}));
  EXPECT_EQ(all["differences"][1]["test_id"], "n");
  EXPECT_EQ(all["differences"][1]["kind"], "case") << "it is new";
  EXPECT_EQ(all["differences"][1]["lacking"], json::array({0, 1}));
  EXPECT_EQ(table_of(beside_the_first({base, base, base})).find("not every run"), std::string::npos);
}

// Long texts of checks pushed the tables out of the terminal, and left four characters of each name.
TEST(SeveralRuns, TablesFitIntoTheTerminalAndTellCasesApart) {
  const std::string first = "checkout/refund-policy/european-union/a-long-name-01";
  const std::string second = "返金ポリシー/欧州連合/とても長い名前のテスト-02";
  const auto both = [&](bool passed) {
    Cases cases{checked(first, passed), checked("z", false, true), checked(second, passed)};
    for (ComparedCase& one : cases) {
      one.metrics[0].check = 7;
      one.metrics[0].expected =
          "must_contain \"the capital of the French republic since long ago and 東京都\"";
    }
    return cases;
  };
  const CompareReportInput two = input_of(both(true), both(false), "now.json");
  StringSink of_two;
  ASSERT_TRUE(write_compare_table(two, {.columns = 80}, of_two));
  const std::string of_three = table_of(beside_the_first({both(true), both(false), both(true)}), 80);
  for (const std::string& table : {of_two.text(), of_three}) {
    expect_to_fit(table, 80);
    for (const std::string& id : {first, second})
      EXPECT_NE(table.find("│ " + id + " "), std::string::npos) << id << '\n' << table;
    EXPECT_NE(table.find("must_contain \"the cap"), std::string::npos) << table;
  }
  EXPECT_NE(of_three.find("│ run-2 "), std::string::npos) << of_three;
  std::vector<Cases> many(12, both(false));
  many.front() = both(true);
  expect_to_fit(table_of(beside_the_first(many), 80), 80);
}

// A review for a score that the base lacks had no reason.
TEST(SeveralRuns, AScoreThatTheBaseLacksIsAReason) {
  const Cases base{scored("a", 0.9)};
  const auto runs = beside_the_first({base, {scored("a", 0.9), scored("b", 0.9)}, base});
  EXPECT_EQ(json_of(runs)["runs"][1]["verdict"], "review");
  EXPECT_EQ(json_of(runs)["runs"][1]["reasons"], "1 score missing in the base");
}

// A verdict stood there without its reason.
TEST(SeveralRuns, EachVerdictHasItsReasons) {
  const Cases base{checked("a", true), scored("b", 0.9)};
  const Cases worse{checked("a", false), scored("b", 0.2)};
  const auto runs = beside_the_first({base, worse, base});
  EXPECT_EQ(json_of(runs)["runs"][1]["reasons"], "2 of 2 cases regressed (1 score, 1 check that broke)");
  EXPECT_EQ(json_of(runs)["runs"][2]["reasons"], "");
  const std::string regressed = "2 of 2 cases regressed (1 score, 1 check that broke)";
  EXPECT_NE(table_of(runs).find("run-1: " + regressed), std::string::npos) << table_of(runs);
  StringSink markdown;
  EXPECT_TRUE(runs.write_markdown(markdown));
  EXPECT_NE(markdown.text().find(regressed), std::string::npos) << markdown.text();
}

std::string table_of(const CompareReportInput& input) {
  StringSink sink;
  EXPECT_TRUE(write_compare_table(input, {.columns = 120}, sink));
  return sink.text();
}

// "3 regressions" stood beside a run's "2 regressed", which are cases.
TEST(CompareReport, TheVerdictSaysOfWhatItsNumbersAre) {
  const Cases base{checked("a", true), scored("b", 0.9), scored("c", 0.9), checked("d", true)};
  const Cases worse{checked("a", false), scored("b", 0.2), scored("c", 0.95), checked("d", true)};
  const std::string table = table_of(input_of(base, worse, "now.json"));
  EXPECT_NE(table.find("✗ REGRESSION: 2 of 4 cases regressed (1 score, 1 check that broke), 1 score "
                       "improved, 1 unchanged\n"),
            std::string::npos)
      << table;
  const std::string failed =
      table_of(input_of({checked("a", true)}, {checked("a", true), checked("n", false)}, ""));
  EXPECT_NE(failed.find("✗ FAIL: 1 failed case, 1 unchanged\n"), std::string::npos) << failed;
}

// The verdict was PASS: nothing named a check that was deleted from its test.
TEST(CompareReport, NamesTheChecksThatTheCurrentSideLacks) {
  ComparedCase both = checked("a", true);
  both.metrics[0].check = 7;
  ComparedMetric& other = both.metrics.emplace_back(both.metrics[0]);
  other.check = 8;
  other.passed = false;
  other.expected = "must_contain \"Seine\"";
  ComparedCase one = both;
  one.metrics.pop_back();
  const CompareReportInput input = input_of({both}, {one}, "now.json");
  const std::string table = table_of(input);
  EXPECT_NE(table.find("Missing in the current side (1)"), std::string::npos) << table;
  EXPECT_NE(table.find("│ a    │ must_contain \"Seine\" │   failed │"), std::string::npos) << table;
  EXPECT_NE(table.find("⚠ REVIEW: 1 check missing in the current side, 1 unchanged\n"), std::string::npos)
      << table;
  StringSink document;
  ASSERT_TRUE(write_compare_json(input, document));
  const json written = json::parse(document.text());
  EXPECT_EQ(written["checks"]["missing_in_current"], 1);
  EXPECT_EQ(written["scores"]["missing_in_current"], 0);
  EXPECT_EQ(written["changes"][0]["change"], "missing_in_current");
  EXPECT_EQ(json_of(beside_the_first({{both}, {one}, {both}}))["runs"][1]["reasons"],
            "1 check missing in the current side");
}

TEST(CompareReport, NamesNewAndChangedChecks) {
  ComparedCase base = checked("a", true);
  base.metrics[0].check = 7;
  ComparedCase more = base;
  more.metrics.push_back(base.metrics[0]);
  more.metrics[1].check = 8;
  ComparedCase other = base;
  other.test_id = "b";
  other.metrics[0].check = 9;
  other.metrics[0].passed = false;
  ComparedCase of_base = base;
  of_base.test_id = "b";
  const CompareReportInput input = input_of({base, of_base}, {more, other}, "now.json");
  const std::string table = table_of(input);
  EXPECT_NE(table.find("New checks (1)"), std::string::npos) << table;
  EXPECT_NE(table.find("not passed, changed check"), std::string::npos) << table;
  EXPECT_NE(table.find("1 new check, 1 changed check, 1 unchanged\n"), std::string::npos) << table;
  StringSink document;
  ASSERT_TRUE(write_compare_json(input, document));
  const json written = json::parse(document.text());
  EXPECT_EQ(written["checks"]["added"], 1);
  EXPECT_EQ(written["checks"]["changed"], 1);
  EXPECT_EQ(written["changes"][0]["change"], "added");
  EXPECT_EQ(written["changes"][1]["change"], "changed");
}

// It was a dash, and the file says that the check had failed.
TEST(CompareReport, AKnownFailureHasTheBasesOutcome) {
  const Cases base{checked("a", false), checked("b", true)};
  const Cases known{checked("a", false, true), checked("b", true, true)};
  const std::string table = table_of(input_of(base, known, "now.json"));
  EXPECT_NE(table.find("│ a    │ must_contain │   failed │ failed │"), std::string::npos) << table;
  EXPECT_NE(table.find("│ b    │ must_contain │   passed │ passed │"), std::string::npos) << table;
}

TEST(CompareReport, AReviewThatFailsUnderStrictSaysSo) {
  const Cases base{checked("a", true)};
  CompareReportInput input = input_of(base, {checked("a", true, true)}, "now.json");
  EXPECT_EQ(table_of(input).find("--strict"), std::string::npos);
  input.exit_code = 1;
  EXPECT_NE(table_of(input).find("; exit code 1 because of --strict\n"), std::string::npos)
      << table_of(input);
}

// It read FAIL beside nothing but what is unchanged.
TEST(CompareReport, AWarningThatFailsUnderStrictSaysSo) {
  const Cases base{checked("a", true)};
  CompareReportInput input = input_of(base, {checked("a", true)}, "now.json");
  input.gate.strict = true;
  input.gate.notices = {{GateNotice::Severity::failure, "fingerprint_mismatch", "Another suite."}};
  input.summary.verdict_input.failures = 1;
  input.summary.verdict = RunVerdict::fail;
  input.exit_code = 1;
  EXPECT_NE(table_of(input).find("✗ FAIL: 1 failure of the comparison under --strict, 1 unchanged; exit "
                                 "code 1 because of --strict\n"),
            std::string::npos)
      << table_of(input);
  input.summary.verdict_input.failures = 2;
  EXPECT_EQ(table_of(input).find("because of --strict"), std::string::npos) << "the stability fails it, too";
}

// It read REVIEW beside nothing but what is unchanged.
TEST(CompareReport, AWarningAboutTheComparisonIsAReason) {
  const Cases base{checked("a", true)};
  CompareReportInput input = input_of(base, base, "now.json");
  input.gate.notices = {
      {GateNotice::Severity::warning, "fingerprint_mismatch", "Another suite."},
      {GateNotice::Severity::warning, "tool_version_mismatch", "Another version.", false},
      {GateNotice::Severity::info, "no_scores", "No score."},
  };
  input.summary.verdict = RunVerdict::review;
  EXPECT_NE(table_of(input).find("⚠ REVIEW: 1 warning about the comparison, 1 unchanged\n"),
            std::string::npos)
      << table_of(input);
  EXPECT_EQ(verdict_reasons(input), "1 warning about the comparison") << "of three sides and more";
}

TEST(SeveralRuns, WhatWasNotStartedIsCountedApartFromErrors) {
  const Cases whole{scored("a", 0.9), scored("b", 0.9), scored("c", 0.9)};
  const Cases stopped{scored("a", 0.9), unanswered("b", false), unanswered("c", true)};
  const auto compared = input_of(whole, stopped, "stopped.json");
  StringSink words;
  ASSERT_TRUE(write_compare_table(compared, {.columns = 120}, words));
  EXPECT_NE(words.text().find("1 case error, 1 case not started"), std::string::npos) << words.text();
  StringSink document;
  ASSERT_TRUE(write_compare_json(compared, document));
  EXPECT_EQ(json::parse(document.text())["cases"]["errors"], 2);
  EXPECT_EQ(json::parse(document.text())["cases"]["not_started"], 1);

  const SeveralRuns runs = beside_the_first({whole, stopped, whole});
  EXPECT_NE(table_of(runs).find("│ Errors │ Not started │"), std::string::npos) << table_of(runs);
  EXPECT_EQ(json_of(runs)["runs"][1]["not_started"], 1);
  EXPECT_FALSE(json_of(runs)["runs"][0].contains("not_started"));
  EXPECT_EQ(table_of(beside_the_first({whole, whole})).find("Not started"), std::string::npos);
}

}  // namespace
}  // namespace sluice
