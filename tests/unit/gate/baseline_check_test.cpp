#include "coordinator/gate/baseline_check.hpp"

#include "coordinator/gate/verdict_input.hpp"
#include "gate_fixture.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Severity = GateNotice::Severity;

GatedRun run_of(bool strict = false) {
  return {"demo", "sha256:00", "0.1.0", "demo.yaml", "base.json", strict};
}
const BaselineHeader header{"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"};

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(BaselineCheck, GivesNoNoticeOfABaselineThatFits) {
  EXPECT_TRUE(check_baseline(header, run_of(true))->empty());
}

TEST(BaselineCheck, RefusesAnotherSuite) {
  BaselineHeader other = header;
  other.suite = "chat";
  const auto checked = check_baseline(other, run_of());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().reason, Reason::baseline_invalid);
  expect_part(checked.error().message, "`base.json` is a baseline of the suite `chat`");
  expect_part(checked.error().message, "but this run is of `demo`");
  expect_part(checked.error().message, "`sluice run demo.yaml --mode live --export-baseline FILE`");
}

TEST(BaselineCheck, NamesWhatOfTheConfigurationDiffers) {
  BaselineHeader other = header;
  other.config_fingerprint = "sha256:11";
  GatedRun run = run_of();
  const auto message = [&](FingerprintParts then, FingerprintParts now) {
    other.fingerprint_parts = std::move(then);
    run.fingerprint_parts = std::move(now);
    const auto notices = check_baseline(other, run);
    return notices && notices->size() == 1 ? notices->at(0).message : "";
  };
  expect_part(
      message({{"arm a", "1"}, {"checks", "1"}, {"model", "1"}, {"requests", "1"}},
              {{"arm b", "1"}, {"checks", "1"}, {"model", "2"}, {"requests", "2"}}),
      "`base.json` was made with another configuration than this run (what differs: the arm `a` (gone), "
      "the arm `b` (new), the model or its settings, what the tests ask): once you accept");
  expect_part(message({{"prompt p\n", "1"}, {"requests", "1"}}, {{"prompt p\n", "2"}, {"requests", "2"}}),
              "(what differs: the prompt `p\\n`)");
  expect_part(message({{"checks", "1"}, {"requests", "1"}, {"later", "1"}},
                      {{"checks", "2"}, {"requests", "2"}, {"later", "2"}}),
              "(what differs: the tests or how they are assessed, `later`)");
  FingerprintParts many;
  for (char name = 'a'; name <= 'g'; ++name) many[std::string("arm ") + name] = "1";
  expect_part(message(many, {{"model", "1"}}), "the arm `e` (gone), and 3 more): once");
  const char* unknown =
      "`base.json` was made with other tests, prompts, thresholds, model settings or metric";
  expect_part(message({}, {{"model", "1"}}), unknown);
  expect_part(message({{"model", "1"}}, {}), unknown);
  expect_part(message({{"model", "1"}}, {{"model", "1"}}), unknown);
}

// It said to write the older of two baselines anew by a run that nobody has at hand.
TEST(BaselineCheck, BesideAnotherBaselineNoCommandWritesTheBaseAnew) {
  BaselineHeader other = header;
  other.config_fingerprint = "sha256:11";
  GatedRun run = run_of();
  run.current_file = "now.json";
  expect_part(check_baseline(other, run)->at(0).message, "write it anew with `sluice run ");
  run.current_is_baseline = true;
  const auto notices = check_baseline(other, run);
  ASSERT_EQ(notices->size(), 1u);
  EXPECT_EQ(notices->at(0).message.find("write it anew"), std::string::npos) << notices->at(0).message;
}

TEST(BaselineCheck, PartsThatDifferAreNoNoticeWhereTheFingerprintIsTheSame) {
  BaselineHeader other = header;
  other.fingerprint_parts = {{"model", "1"}};
  EXPECT_TRUE(check_baseline(other, run_of())->empty());
}

// A command that is copied from a notice went wrong where a path has a blank.
TEST(BaselineCheck, QuotesThePathsOfItsCommands) {
  BaselineHeader other = header;
  other.config_fingerprint = "sha256:11";
  GatedRun run = run_of();
  run.suite_path = "my suites/it's.yaml";
  run.baseline_file = "base of main.json";
  const auto notices = check_baseline(other, run);
  ASSERT_TRUE(notices);
  expect_part(notices->at(0).message,
              "`sluice run 'my suites/it'\\''s.yaml' --mode live --export-baseline 'base of main.json'`");
  expect_part(notices->at(0).message, "`base of main.json` was made");
  other.suite = "chat";
  expect_part(check_baseline(other, run).error().message,
              "`sluice run 'my suites/it'\\''s.yaml' --mode live --export-baseline FILE`");
}

// Without the run's judge and arms the command ended in "no judge is named".
TEST(BaselineCheck, CommandsHaveTheFlagsThatTheRunNeeds) {
  const std::string flags = flags_to_repeat(
      R"({"arm": ["a=sim:m 1", "b=sim:m2"], "baseline": ["base.json"], "judge": ["openai"], "mode": ["live"],
          "categories": ["x"], "no-judge": ["true"], "strict": ["true"], "max-cost": ["5"]})");
  EXPECT_EQ(flags, " --arm 'a=sim:m 1' --arm b=sim:m2 --judge openai --mode live --no-judge");
  EXPECT_EQ(
      flags_to_repeat(
          R"({"failed": ["true"], "flaky": ["true"], "errors": ["true"], "only cases": ["a"], "repeat": ["2"]})"),
      " --repeat 2")
      << "those of a rerun are no flags of a run";
  EXPECT_EQ(flags_to_repeat(""), "") << "a run from before flags were kept";
  BaselineHeader other = header;
  other.config_fingerprint = "sha256:11";
  GatedRun run = run_of();
  run.flags = " --judge openai --mode live";
  const auto notices = check_baseline(other, run);
  ASSERT_TRUE(notices);
  expect_part(notices->at(0).message,
              "`sluice run demo.yaml --judge openai --mode live --export-baseline base.json`");
  other.mode = "mock";
  expect_part(check_baseline(other, run).error().message,
              "`sluice run demo.yaml --judge openai --mode live --export-baseline base.json`");
}

TEST(BaselineCheck, AdvisesToWriteNoRunAnew) {
  BaselineHeader other = header;
  other.config_fingerprint = "sha256:11";
  other.assay_version = "0.0.9";
  GatedRun run = run_of();
  run.baseline_file = "last~3";
  run.current_file = "last";
  run.base_is_report = run.base_is_run = true;
  const auto notices = check_baseline(other, run);
  ASSERT_TRUE(notices);
  ASSERT_EQ(notices->size(), 2u);
  EXPECT_EQ(notices->at(0).message,
            "`last~3` was made with other tests, prompts, thresholds, model settings or metric versions than "
            "`last`.");
  EXPECT_EQ(notices->at(1).message, "`last~3` was written by version 0.0.9 and `last` by 0.1.0.");
}

TEST(BaselineCheck, GivesARerunNoNoticeOfWhatWasEditedUnlessItIsStrict) {
  BaselineHeader other = header;
  other.config_fingerprint = "sha256:11";
  GatedRun run = run_of();
  run.is_rerun = true;
  EXPECT_TRUE(check_baseline(other, run)->empty());
  run.strict = true;
  EXPECT_EQ(check_baseline(other, run)->size(), 1u);
}

// Two folders called `fix` counted as one suite.
TEST(BaselineCheck, RefusesAFolderOfTheSameNameElsewhereInTheCheckout) {
  BaselineHeader other = header;
  other.suite_path = "s2/demo";
  GatedRun run = run_of();
  run.suite_place = "s1/demo";
  const auto checked = check_baseline(other, run);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().reason, Reason::baseline_invalid);
  EXPECT_EQ(
      checked.error().message,
      "`base.json` is a baseline of the suite `demo` in `s2/demo`, but this run is of `demo` in `s1/demo`: "
      "name the baseline of this suite, or write one with `sluice run demo.yaml --mode live "
      "--export-baseline FILE`.");
  run.suite_place = "s2/demo";
  EXPECT_TRUE(check_baseline(other, run));
  run.suite_place.clear();
  EXPECT_TRUE(check_baseline(other, run)) << "no checkout here: its name and its cases tell";
  EXPECT_TRUE(check_baseline(header, run_of())) << "written before there were paths";
}

TEST(BaselineCheck, RefusesScoresOfAMockRunBesideThoseOfAModel) {
  BaselineHeader mock = header;
  mock.mode = "mock";
  GatedRun run = run_of();
  const auto checked = check_baseline(mock, run);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().reason, Reason::baseline_invalid);
  EXPECT_EQ(checked.error().message,
            "`base.json` has the scores of a mock run, whose answers no model gave, and this is none: write "
            "it anew "
            "with `sluice run demo.yaml --mode live --export-baseline base.json`.");
  run.current_file = "now.json";
  expect_part(
      check_baseline(mock, run).error().message,
      "and `now.json` has not: what differs would say nothing about a model; compare two of one kind.");
  run.takes_mock_base = true;
  EXPECT_TRUE(check_baseline(mock, run));
}

TEST(BaselineCheck, RefusesABaselineThatSharesNoCase) {
  const Baseline baseline = baseline_of({{"a", similarity, 0.5}, {"b", similarity, 0.5}});
  const auto cases = [](std::initializer_list<const char*> ids) {
    CaseList list;
    for (const char* id : ids) {
      Case one;
      one.id = id;
      list.push_back(one);
    }
    return list;
  };
  const auto checked = check_shared_cases(baseline, cases({"aa", "c"}), run_of());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().reason, Reason::baseline_invalid);
  EXPECT_EQ(
      checked.error().message,
      "`base.json` shares no case with this run, so that nothing can be compared: name the baseline of this "
      "suite, or write one with `sluice run demo.yaml --mode live --export-baseline FILE`.");
  EXPECT_TRUE(check_shared_cases(baseline, cases({"b", "c"}), run_of()));
  EXPECT_TRUE(check_shared_cases(baseline, cases({}), run_of()));
  EXPECT_TRUE(check_shared_cases(baseline_of({}), cases({"c"}), run_of())) << "it pins nothing";
}

TEST(BaselineCheck, WarnsOfAnotherConfigurationAndFailsUnderStrict) {
  BaselineHeader other = header;
  other.config_fingerprint = "sha256:01";
  for (const bool strict : {false, true}) {
    const auto notices = check_baseline(other, run_of(strict));
    ASSERT_EQ(notices->size(), 1u);
    EXPECT_EQ(notices->at(0).code, "fingerprint_mismatch");
    EXPECT_EQ(notices->at(0).severity, strict ? Severity::failure : Severity::warning);
    expect_part(notices->at(0).message, "`sluice run demo.yaml --mode live --export-baseline base.json`");
  }
}

TEST(BaselineCheck, WarnsOfAnotherVersionOfTheToolAndDecidesNothing) {
  BaselineHeader other = header;
  other.assay_version = "0.0.9";
  for (const bool strict : {false, true}) {
    const auto notices = check_baseline(other, run_of(strict));
    ASSERT_EQ(notices->size(), 1u);
    EXPECT_EQ(notices->at(0).code, "tool_version_mismatch");
    EXPECT_EQ(notices->at(0).severity, Severity::warning);
    expect_part(notices->at(0).message, "version 0.0.9 and this is 0.1.0");
    BaselineComparison gate;
    gate.notices = *notices;
    VerdictInput input;
    input.statuses.passed = 1;
    count_comparison(gate, input);
    EXPECT_EQ(run_verdict(input), RunVerdict::pass);
  }
}

TEST(BaselineCheck, NamesTheTwoFilesThatAreCompared) {
  BaselineHeader other = header;
  other.config_fingerprint = "sha256:01";
  other.assay_version = "0.0.9";
  GatedRun compared = run_of();
  compared.suite_path = "SUITE";
  compared.current_file = "now.json";
  for (const bool is_report : {false, true}) {
    compared.base_is_report = is_report;
    const auto notices = check_baseline(other, compared);
    ASSERT_EQ(notices->size(), 2u);
    expect_part(notices->at(0).message, "metric versions than `now.json`: once");
    expect_part(notices->at(1).message, "was written by version 0.0.9 and `now.json` by 0.1.0: if");
    for (const GateNotice& notice : *notices) {
      EXPECT_EQ(notice.message.find("this run"), std::string::npos) << notice.message;
      expect_part(notice.message, is_report ? "`sluice run SUITE --format json --output base.json`"
                                            : "`sluice run SUITE --mode live --export-baseline base.json`");
    }
    compared.suite = "chat";
    const auto checked = check_baseline(other, compared);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().message,
              std::string("`base.json` is a ") + (is_report ? "report" : "baseline") +
                  " of the suite `demo`, but `now.json` is of `chat`: name two files of the same suite.");
    compared.suite = "demo";
  }
}

std::vector<AssessedMetric> with_metrics(std::initializer_list<MetricId> ids) {
  std::vector<AssessedMetric> metrics;
  for (const MetricId id : ids) {
    metrics.emplace_back().id = id;
    metrics.back().score = 0.5;
  }
  return metrics;
}

TEST(UnusedEntries, AreThoseThatNothingAnswers) {
  const Baseline baseline = baseline_of({{"a", similarity, 0.5},
                                         {"b", similarity, 0.5},
                                         {"b", "claims_f1", 0.5},
                                         {"c", "faithfulness", 0.5},
                                         {"c", "must_contain", 1.0},
                                         {"c", similarity, 0.5},
                                         {"d", similarity, 0.5},
                                         {"z", similarity, 0.5}});
  UnusedEntries unused(baseline);
  const auto similar = with_metrics({MetricId::must_contain, MetricId::semantic_similarity_to});
  unused.visit("a0", similar);
  unused.visit("b", similar);
  unused.visit("c", similar);
  unused.visit_error("d");
  unused.visit("e", similar);
  const auto notice = unused.finish(run_of());
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->code, "unused_entries");
  EXPECT_EQ(notice->severity, Severity::warning);
  expect_part(notice->message,
              "`base.json` has 5 entries that nothing in this run answers (`a` semantic_similarity_to, `b` "
              "claims_f1, "
              "`c` faithfulness, `c` must_contain, `z` semantic_similarity_to): ");
  expect_part(notice->message, "`sluice run demo.yaml --mode live --export-baseline base.json`");
}

TEST(UnusedEntries, CountWhatTheyDoNotName) {
  std::vector<TestPin> pins;
  for (int i = 0; i < 9; ++i) pins.push_back({"t" + std::to_string(i), similarity, 0.5});
  const Baseline baseline = baseline_of(pins);
  UnusedEntries unused(baseline);
  const auto notice = unused.finish(run_of(true));
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->severity, Severity::failure);
  expect_part(notice->message, "`t4` semantic_similarity_to, and 4 more)");
  EXPECT_EQ(notice->message.find("t5"), std::string::npos);
}

TEST(UnusedEntries, AreAnsweredByAnUndefinedScore) {
  const Baseline baseline = baseline_of({{"a", "claims_f1", 0.5}});
  UnusedEntries unused(baseline);
  auto metrics = with_metrics({MetricId::claims_f1});
  metrics[0].score.reset();
  unused.visit("a", metrics);
  EXPECT_FALSE(unused.finish(run_of(true)));
}

TEST(UnusedEntries, NameOneEntryAsOne) {
  const Baseline baseline = baseline_of({{"a", "claims_f1", 0.5}});
  UnusedEntries unused(baseline);
  expect_part(unused.finish(run_of())->message,
              "has 1 entry that nothing in this run answers (`a` claims_f1): ");
}

TEST(MissingEntries, AreNamedWithTheCommandThatAddsThem) {
  MissingEntries missing;
  EXPECT_TRUE(missing.finish(run_of()).empty());
  auto metrics = with_metrics({MetricId::semantic_similarity_to});
  missing.visit("a", metrics);
  EXPECT_TRUE(missing.finish(run_of()).empty());
  metrics[0].cause = MetricCause::missing_in_baseline;
  missing.visit("b", metrics);
  const auto notices = missing.finish(run_of(true));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "missing_entries");
  EXPECT_EQ(notices[0].severity, Severity::info);
  EXPECT_EQ(
      notices[0].message,
      "1 score has no entry in `base.json` (`b` semantic_similarity_to): add them on the main branch with "
      "`sluice run demo.yaml --mode live --export-baseline base.json`.");
}

}  // namespace
}  // namespace sluice
