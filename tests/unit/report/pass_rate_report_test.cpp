// A run that fails by min_pass_rate says so, in each form of its report.
#include "coordinator/report/wording/pass_rate_wording.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <span>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;

/// One of three texts passed.
struct FewPassed {
  Suite suite;
  sample::MemorySource source;
  Gate gate;
  RunResults results = sample::results_of(suite, source, gate);
  std::optional<Aggregates> aggregates;
  std::vector<std::string> arms{};

  FewPassed() {
    suite.name = "geo";
    suite.metrics = {MetricId::must_contain};
    for (TrialId i = 0; i < 3; ++i) {
      Case test = sample::make_case("geo-" + std::to_string(i), "");
      test.kind = CaseKind::text;
      test.expectations = {{{MetricId::must_contain, {"Paris"}}, {}, std::nullopt}};
      source.trials.push_back(
          sample::answered(i, "Lyon", {MetricId::must_contain, std::nullopt, i == 0, i == 0 ? "" : "why"}));
      suite.cases.push_back(std::move(test));
    }
    results.trials = 3;
    aggregates = *aggregate(results, {});
  }
  ReportInput asked_for(double min_pass_rate, RunVerdict verdict) const {
    ReportInput input = sample::input_of(results, *aggregates);
    input.pass_groups = pass_groups({min_pass_rate}, arms, aggregates->pass_counts);
    input.verdict = verdict;
    return input;
  }
};

constexpr const char* missed = "pass rate 0.33, below the 0.8 of min_pass_rate";

TEST(PassRateReport, TheVerdictNamesTheRateThatFailsIt) {
  const FewPassed run;
  const ReportInput input = run.asked_for(0.8, RunVerdict::fail);
  const std::string table = table_of(input, {.columns = 120});
  EXPECT_NE(table.find(std::string("Verdict: ✗ FAIL - ") + missed), std::string::npos) << table;
  EXPECT_NE(table.find(std::string("✗ FAIL: ") + missed), std::string::npos) << "after a long list, too";
  EXPECT_NE(markdown_of(input).find("pass rate 0.33, below the 0.8 of min"), std::string::npos)
      << markdown_of(input);
  EXPECT_NE(html_of(input).find(missed), std::string::npos);
  EXPECT_NE(github_of(input).find(missed), std::string::npos) << github_of(input);
  const json report = json::parse(json_of(input));
  EXPECT_EQ(report["pass_rate"]["min_pass_rate"], 0.8);
  EXPECT_NEAR(report["pass_rate"]["rate"].get<double>(), 1.0 / 3, 1e-9);
  EXPECT_EQ(report["pass_rate"]["missed"], true);
}

TEST(PassRateReport, ACategoryHasItsRateWhetherOrNotOneIsAskedFor) {
  const FewPassed run;
  const ReportInput input = sample::input_of(run.results, *run.aggregates);
  const json report = json::parse(json_of(input));
  EXPECT_FALSE(report.contains("pass_rate"));
  EXPECT_NEAR(report["metrics"]["by_category"]["geo"]["pass_rate"].get<double>(), 1.0 / 3, 1e-9);
  EXPECT_NE(markdown_of(input).find("| geo | 3 | 1 | 0 | 2 | 0 | 0.33 |"), std::string::npos)
      << markdown_of(input);
  EXPECT_NE(table_of(input, {.columns = 80}).find("Pass rate"), std::string::npos);
  EXPECT_NE(html_of(input).find("Pass rate"), std::string::npos);
}

TEST(PassRateReport, ARateBelowOneIsNotShownAsOne) {
  Totals totals;
  totals.statuses = {.passed = 999, .failed = 1};
  EXPECT_EQ(wording::rate_of(totals), "0.999");
  totals.statuses = {.passed = 3};
  EXPECT_EQ(wording::rate_of(totals), "1.00");
  totals.statuses = {.errors = 3};
  EXPECT_EQ(wording::rate_of(totals), "–");
}

// An arm that passed one test of sixteen, and ended in errors in the others, looked best.
TEST(PassRateReport, ARateBesideErrorsSaysOfHowManyCasesItIs) {
  Totals totals;
  totals.statuses = {.passed = 1, .errors = 15};
  EXPECT_EQ(wording::rate_of(totals), "1.00 of 1");
  totals.statuses = {.passed = 1200, .failed = 300, .errors = 1};
  EXPECT_EQ(wording::rate_of(totals), "0.80 of 1,500");
  PassGroup group{.arm_name = "new", .min_pass_rate = 0.8};
  group.counts.statuses = {.passed = 1, .failed = 1, .errors = 15};
  EXPECT_EQ(wording::missed_pass_rates(std::span(&group, 1)),
            "pass rate 0.50 (of 2 cases) of the arm new, below the 0.8 of min_pass_rate");
}

TEST(PassRateReport, InJunitItIsATestcaseOfItsOwn) {
  const FewPassed run;
  const std::string junit = junit_of(run.asked_for(0.8, RunVerdict::fail));
  EXPECT_NE(junit.find("tests=\"4\" failures=\"3\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("name=\"pass rate\"><failure message=\"" + std::string(missed) +
                       "\" type=\"min_pass_rate\">"),
            std::string::npos)
      << junit;
}

// The exit code was 0, and a build server showed the file red.
TEST(PassRateReport, InJunitFailedCasesWithinTheRateAreNoFailures) {
  const FewPassed run;
  const std::string junit = junit_of(run.asked_for(0.3, RunVerdict::pass));
  EXPECT_NE(junit.find("tests=\"3\" failures=\"0\" errors=\"0\""), std::string::npos) << junit;
  EXPECT_EQ(junit.find("<failure"), std::string::npos) << junit;
  EXPECT_NE(junit.find("<system-out>failed, within min_pass_rate&#10;Expected: must_contain"),
            std::string::npos)
      << junit;
}

TEST(PassRateReport, ForGithubFailedCasesWithinTheRateAreWarnings) {
  const FewPassed run;
  const std::string within = github_of(run.asked_for(0.3, RunVerdict::pass));
  EXPECT_EQ(within.find("::error"), std::string::npos) << within;
  EXPECT_NE(
      within.find(
          "::warning file=geo/geo-1.toml,line=1,title=Failed%2C within min_pass_rate%3A geo-1::Expected: "),
      std::string::npos)
      << within;
  EXPECT_NE(github_of(run.asked_for(0.8, RunVerdict::fail))
                .find("::error file=geo/geo-1.toml,line=1,title=Failed%3A geo-1::"),
            std::string::npos);
}

TEST(PassRateReport, TheLastLineSaysWhyFailedCasesPass) {
  const FewPassed run;
  const auto table = [&](double min_pass_rate, RunVerdict verdict) {
    return table_of(run.asked_for(min_pass_rate, verdict), {.columns = 120});
  };
  const std::string within = "✓ PASS: within min_pass_rate; 1 passed, 2 failed, 0 errors";
  EXPECT_NE(table(0.3, RunVerdict::pass).find(within), std::string::npos) << table(0.3, RunVerdict::pass);
  EXPECT_EQ(table(0.8, RunVerdict::fail).find("within min_pass_rate"), std::string::npos);
}

TEST(PassRateReport, InJunitARegressionIsNotWithinTheRate) {
  FewPassed run;
  Baseline pins;
  BaselineEntry entry{"geo-1", "must_contain", 1.0, ""};
  entry.kind = PinKind::checks;
  pins.add(entry);
  (void)pins.seal();
  run.gate = Gate({.suite = {}, .baseline = &pins});
  run.aggregates = *aggregate(run.results, {});
  const std::string junit = junit_of(run.asked_for(0.3, RunVerdict::regression));
  EXPECT_NE(junit.find("tests=\"3\" failures=\"1\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("type=\"regression\""), std::string::npos) << junit;
}

TEST(PassRateReport, InJunitARunThatEndedEarlyExcusesNothing) {
  const FewPassed run;
  ReportInput input = run.asked_for(0.3, RunVerdict::error);
  input.facts.cut_short = Error{Reason::interrupted, "it was stopped"};
  EXPECT_NE(junit_of(input).find("failures=\"2\""), std::string::npos);
}

TEST(PassRateReport, ARateThatIsReachedFailsNothing) {
  const FewPassed run;
  const ReportInput input = run.asked_for(0.3, RunVerdict::pass);
  EXPECT_EQ(table_of(input, {.columns = 120}).find("below the"), std::string::npos);
  EXPECT_EQ(junit_of(input).find("pass rate"), std::string::npos);
  EXPECT_EQ(json::parse(json_of(input))["pass_rate"]["missed"], false);
}

/// One of three tests passed under the arm old, and two under new.
struct TwoArms : FewPassed {
  TwoArms() {
    arms = {"old", "new"};
    std::vector<Case> under_new;
    for (std::size_t i = 0; i < 3; ++i) under_new.push_back(suite.cases.held(i));
    for (TrialId i = 0; i < 3; ++i) {
      Case& test = under_new[i];
      test.arm = 1;
      test.id = "geo-" + std::to_string(i + 3);
      source.trials.push_back(
          sample::answered(i + 3, "Lyon", {MetricId::must_contain, std::nullopt, i < 2, i < 2 ? "" : "why"}));
      suite.cases.push_back(std::move(test));
    }
    results.trials = 6;
    aggregates = *aggregate(results, {});
  }
};

TEST(PassRateReport, NamesTheArmThatMissesTheRateAndSparesTheFailuresOfTheOther) {
  const TwoArms run;
  const ReportInput input = run.asked_for(0.5, RunVerdict::fail);
  const std::string of_old = "pass rate 0.33 of the arm old, below the 0.5 of min_pass_rate";
  const std::string table = table_of(input, {.columns = 120});
  EXPECT_NE(table.find("FAIL - " + of_old), std::string::npos) << table;
  EXPECT_NE(table.find("Pass rate 0.67 of the arm new, at least 0.5 is asked for"), std::string::npos)
      << table;
  EXPECT_EQ(table.find("of the arm new, below"), std::string::npos) << table;
  const std::string junit = junit_of(input);
  EXPECT_NE(junit.find("tests=\"7\" failures=\"3\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("<failure message=\"" + of_old + "\""), std::string::npos) << junit;
  const std::string github = github_of(input);
  EXPECT_EQ(occurrences(github, "::error file="), 2u) << github;
  EXPECT_EQ(occurrences(github, "::warning file="), 1u) << github;
  const json report = json::parse(json_of(input));
  EXPECT_EQ(report["pass_rate"]["rate"], 0.5);
  EXPECT_EQ(report["pass_rate"]["missed"], true);
  ASSERT_EQ(report["pass_rate"]["groups"].size(), 2u);
  EXPECT_EQ(report["pass_rate"]["groups"][0]["arm"], "old");
  EXPECT_EQ(report["pass_rate"]["groups"][0]["missed"], true);
  EXPECT_EQ(report["pass_rate"]["groups"][1]["missed"], false);
}

// Commas within the reasons and between them ran together.
TEST(PassRateReport, SemicolonsStandBetweenMissedRates) {
  const TwoArms run;
  EXPECT_EQ(wording::reason_for(run.asked_for(0.8, RunVerdict::fail)),
            "pass rate 0.33 of the arm old, below the 0.8 of min_pass_rate; pass rate 0.67 of the arm new, "
            "below the 0.8 of min_pass_rate; 3 of 6 cases failed");
}

/// Of the tests geo-0 to geo-2 the first passed; safety is the category of the last.
struct TwoCategories : FewPassed {
  TwoCategories() {
    std::vector<Case> tests;
    for (std::size_t i = 0; i < 3; ++i) tests.push_back(suite.cases.held(i));
    tests[2].category = "safety";
    suite.cases = {};
    for (Case& test : tests) suite.cases.push_back(std::move(test));
    aggregates = *aggregate(results, {});
  }
  ReportInput asked(const MinPassRates& rates, RunVerdict verdict) const {
    ReportInput input = sample::input_of(results, *aggregates);
    input.pass_groups = pass_groups(rates, arms, aggregates->pass_counts);
    input.verdict = verdict;
    return input;
  }
};

TEST(PassRateReport, NamesTheCategoryThatMissesItsRate) {
  const TwoCategories run;
  const ReportInput input = run.asked({0.5, {{"safety", 1.0}}}, RunVerdict::fail);
  const std::string missed_by_safety = "pass rate 0.00 of the category safety, below the 1 of min_pass_rate";
  const std::string table = table_of(input, {.columns = 120});
  EXPECT_NE(table.find("FAIL - " + missed_by_safety), std::string::npos) << table;
  EXPECT_NE(table.find("Pass rate 0.50 of the other categories, at least 0.5 is asked for"),
            std::string::npos)
      << table;
  EXPECT_NE(github_of(input).find(missed_by_safety), std::string::npos);
  const std::string junit = junit_of(input);
  EXPECT_NE(junit.find("tests=\"4\" failures=\"2\""), std::string::npos) << junit;
  EXPECT_EQ(occurrences(junit, "failed, within min_pass_rate"), 1u) << junit;
  const json report = json::parse(json_of(input));
  EXPECT_EQ(report["pass_rate"]["min_pass_rate"], 0.5);
  EXPECT_EQ(report["pass_rate"]["groups"],
            json::parse(R"([{"category": "safety", "rate": 0, "min_pass_rate": 1, "missed": true},
                            {"rate": 0.5, "min_pass_rate": 0.5, "missed": false}])"));
  EXPECT_EQ(report["run"]["min_pass_rates"], json::parse(R"({"safety": 1})"));
  EXPECT_EQ(report["run"]["min_pass_rate"], 0.5);
}

TEST(PassRateReport, WithoutADefaultTheOtherCategoriesAreHeldToNoRate) {
  const TwoCategories run;
  const ReportInput input = run.asked({std::nullopt, {{"safety", 0.0}}}, RunVerdict::fail);
  EXPECT_EQ(table_of(input, {.columns = 120}).find("other categories"), std::string::npos);
  const std::string junit = junit_of(input);
  EXPECT_NE(junit.find("tests=\"3\" failures=\"1\""), std::string::npos) << junit;
  const json report = json::parse(json_of(input));
  EXPECT_TRUE(report["pass_rate"]["min_pass_rate"].is_null());
  EXPECT_FALSE(report["run"].contains("min_pass_rate"));
}

TEST(PassRateReport, OfManyThatAreMissedTheFirstAreNamed) {
  MinPassRates rates{0.5};
  PassCountsByPart parts;
  for (char name = 'a'; name < 'j'; ++name) {
    rates.by_category[std::string(1, name)] = 1.0;
    parts[{0, std::string(1, name)}].statuses.failed = 1;
  }
  const std::string words = wording::missed_pass_rates(pass_groups(rates, {}, parts));
  EXPECT_EQ(occurrences(words, "of the category "), 5u) << words;
  EXPECT_TRUE(words.ends_with("; and 4 more pass rates")) << words;
}

TEST(PassRateReport, ARunThatEndedEarlyBlamesNoRate) {
  const FewPassed run;
  EXPECT_EQ(junit_of(run.asked_for(0.8, RunVerdict::error)).find("pass rate"), std::string::npos);
}

}  // namespace
}  // namespace sluice
