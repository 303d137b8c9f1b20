#include "coordinator/observations/run_diff.hpp"

#include "coordinator/display/display.hpp"
#include "coordinator/observations/run_diff_text.hpp"
#include "tests/support/nested_json.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::run_diff_test {

using nlohmann::json;

Observation trial(const std::string& id, const std::string& status, const std::string& answer,
                  const std::string& metrics = "[]") {
  Observation one;
  one.case_id = id;
  one.status = status;
  one.raw_response = answer;
  one.metrics.text = metrics;
  one.input_hash = "sha256:1";
  return one;
}

Observation as(Observation one, const std::string& perturbation, std::uint64_t repeat) {
  one.perturbation = perturbation;
  one.repeat = repeat;
  return one;
}

std::string metric(const std::string& name, const std::string& score, const std::string& passed) {
  return R"({"name": ")" + name + R"(", "score": )" + score + R"(, "passed": )" + passed + "}";
}

using Names = std::vector<std::string>;

TEST(RunDiff, CasesOfBothRunsArePairedAndOthersAreNamedApart) {
  const RunAnswers before{{trial("a", "pass", "x"), trial("b", "pass", "x"), trial("old", "fail", "x")}};
  const RunAnswers after{{trial("new", "pass", "x"), trial("b", "pass", "y"), trial("a", "pass", "x")}};
  const RunDiff diff = diff_runs(before, after);
  ASSERT_EQ(diff.cases.size(), 2u);
  EXPECT_FALSE(diff.cases[0].is_changed());
  EXPECT_EQ(diff.cases[1].id, "b");
  EXPECT_EQ(diff.cases[1].trials[0].answer, AnswerChange::changed);
  EXPECT_EQ(diff.changed(), 1u);
  EXPECT_EQ(diff.only_before, Names{"old"});
  EXPECT_EQ(diff.only_after, Names{"new"});
}

TEST(RunDiff, TrialsArePairedByPerturbationAndRepeat) {
  const auto one = trial("a", "pass", "x");
  const RunAnswers before{{one, as(one, "", 1), as(one, "crlf", 0)}};
  const RunAnswers after{{one, as(one, "crlf", 0), as(one, "crlf", 1), trial("b", "pass", "")}};
  const RunDiff diff = diff_runs(before, after);
  ASSERT_EQ(diff.cases.size(), 1u);
  EXPECT_EQ(diff.cases[0].trials.size(), 2u);
  EXPECT_EQ(diff.only_before, Names{"a (repeat 2)"});
  EXPECT_EQ(diff.only_after, (Names{"a (crlf, repeat 2)", "b"}));
}

TEST(RunDiff, MetricsArePairedByNameAndPlace) {
  const std::string before = "[" + metric("recall", "0.5", "null") + ", " + metric("rubric", "1", "true") +
                             ", " + metric("rubric", "0.25", "false") + ", " + metric("gone", "1", "true") +
                             "]";
  const std::string after = "[" + metric("rubric", "1", "true") + ", " + metric("rubric", "0.75", "true") +
                            ", " + metric("recall", "0.5", "null") + ", " + metric("new", "0", "false") + "]";
  const RunAnswers left{{trial("a", "fail", "x", before)}};
  const RunAnswers right{{trial("a", "fail", "x", after)}};
  const RunDiff diff = diff_runs(left, right);
  const auto& metrics = diff.cases[0].trials[0].metrics;
  ASSERT_EQ(metrics.size(), 5u);
  EXPECT_FALSE(metrics[0].value.differ());
  EXPECT_FALSE(metrics[1].value.differ());
  EXPECT_EQ(metrics[2].value.before, (MetricValue{0.25, false}));
  EXPECT_EQ(metrics[2].value.after, (MetricValue{0.75, true}));
  EXPECT_EQ(metrics[3].name, "gone");
  EXPECT_EQ(metrics[3].value.after, std::nullopt);
  EXPECT_EQ(metrics[4].name, "new");
  EXPECT_EQ(metrics[4].value.before, std::nullopt);
}

TEST(RunDiff, AStatusIsTheGatesWhereItIsNoted) {
  const auto passed = trial("a", "pass", "x");
  const auto failed = as(trial("a", "fail", "y"), "", 1);
  const RunAnswers derived{{passed, failed, as(trial("a", "fail", "z"), "crlf", 0)}};
  const RunAnswers noted{{passed, failed}, {{{"a", "warn"}}}};
  const RunAnswers unnoted{{passed, failed}, {{{"b", "fail"}}}};
  EXPECT_EQ(diff_runs(derived, noted).cases[0].status.before, "flaky") << "the perturbed form does not count";
  EXPECT_EQ(diff_runs(derived, noted).cases[0].status.after, "warn");
  EXPECT_EQ(diff_runs(derived, unnoted).cases[0].status.after, "pass") << "only what did not pass is noted";
}

// A baseline that knows the failure made `pass → warn` of a check that broke.
TEST(RunDiff, AFailureThatOneRunsBaselineKnowsIsAFailure) {
  const std::string holds = "[" + metric("must_contain", "null", "true") + "]";
  const std::string breaks = "[" + metric("must_contain", "null", "false") + "]";
  const RunAnswers passed{{trial("a", "pass", "x", holds)}, {{}}};
  const RunAnswers known{{trial("a", "warn", "y", breaks)}, {{{"a", "warn"}}}};
  const auto broke = diff_runs(passed, known);
  EXPECT_EQ(broke.cases[0].status.after, "fail");
  EXPECT_EQ(broke.cases[0].trials[0].status.after, "fail");
  EXPECT_EQ(diff_runs(known, passed).cases[0].status.before, "fail");
  EXPECT_EQ(diff_runs(known, known).cases[0].status.after, "warn") << "as each run says it";
  const RunAnswers warned{{trial("a", "warn", "y", holds)}, {{{"a", "warn"}}}};
  EXPECT_EQ(diff_runs(passed, warned).cases[0].status.after, "warn") << "for something else";
  const RunAnswers judged{{trial("a", "pass", "x", "[" + metric("rubric", "1", "true") + "]")}, {{}}};
  const RunAnswers spared{{trial("a", "warn", "y", "[" + metric("rubric", "0", "false") + "]")},
                          {{{"a", "warn"}}}};
  EXPECT_EQ(diff_runs(judged, spared).cases[0].status.after, "warn") << "a score is the gate's";
}

const std::string fails_a_check = "[" + metric("must_contain", "null", "false") + "]";

RunAnswers one_case(const std::string& status, const std::string& answer, const std::string& metrics) {
  return {{trial("a", status, answer, metrics)}, {{{"a", status}}}};
}

// Twelve cases stood among the changes whose answers were the same: a baseline knew their failures.
TEST(RunDiff, AStatusThatDiffersByTheBaselinesAloneIsNoChange) {
  const GateChange other_baseline{.baseline = true};
  const RunAnswers failed = one_case("fail", "x", fails_a_check);
  const RunAnswers known = one_case("warn", "x", fails_a_check);
  for (const auto& [before, after] : {std::pair(&failed, &known), std::pair(&known, &failed)}) {
    const RunDiff diff = diff_runs(*before, *after, std::nullopt, other_baseline);
    EXPECT_TRUE(diff.cases[0].by_baseline_alone);
    EXPECT_EQ(diff.changed(), 0u);
    EXPECT_EQ(diff.by_baseline_alone(), 1u);
    EXPECT_EQ(diff.count(StatusChange::any), 0u);
    EXPECT_EQ(diff_runs(*before, *after).changed(), 1u) << "the same baseline, or it is not known";
    const std::vector<ChangedMetric> otherwise{{"a", "must_contain"}};
    const RunDiff judged_otherwise = diff_runs(*before, *after, otherwise, other_baseline);
    EXPECT_EQ(judged_otherwise.by_baseline_alone(), 0u) << "the check may be why";
    EXPECT_EQ(judged_otherwise.cases[0].status.after, "fail") << "it fails on both sides";
  }
  RunAnswers lost = known;
  lost.lost_answers = {0};
  EXPECT_EQ(diff_runs(failed, lost, std::nullopt, other_baseline).by_baseline_alone(), 0u);
  const RunAnswers scored = one_case("pass", "x", "[" + metric("rouge_n", "0.5", "null") + "]");
  const RunAnswers fallen = one_case("fail", "x", "[" + metric("rouge_n", "0.5", "null") + "]");
  EXPECT_EQ(diff_runs(scored, fallen, std::nullopt, {.baseline = true, .config = false}).changed(), 0u);
  EXPECT_EQ(diff_runs(scored, fallen, std::nullopt, other_baseline).count(StatusChange::worse), 1u)
      << "its limit may be another one";
}

// A failure that a baseline knows passed for better, though the case fails as before.
TEST(RunDiff, AFailureThatOneBaselineKnowsIsNotBetter) {
  const RunAnswers failed = one_case("fail", "x", fails_a_check);
  const RunAnswers known = one_case("warn", "y", fails_a_check);
  const RunDiff diff = diff_runs(failed, known, std::nullopt, {.baseline = true});
  EXPECT_EQ(diff.cases[0].status.after, "fail");
  EXPECT_EQ(diff.cases[0].trials[0].status.after, "fail");
  EXPECT_EQ(diff.changed(), 1u) << "its answer";
  EXPECT_EQ(diff.count(StatusChange::any), 0u);
}

TEST(RunDiff, OfAnAnswerThatIsNowhereNobodyKnowsWhetherItChanged) {
  RunAnswers before{{trial("a", "pass", "")}};
  before.lost_answers = {0};
  const RunAnswers after{{trial("a", "pass", "x")}};
  const RunDiff diff = diff_runs(before, after);
  EXPECT_EQ(diff.cases[0].trials[0].answer, AnswerChange::unknown);
  EXPECT_EQ(diff.changed(), 0u);
  EXPECT_EQ(diff.unknown_answers(), 1u);
}

TEST(RunDiff, AnotherPromptOrOtherClaimsAreSeen) {
  auto left = trial("a", "pass", "x");
  auto right = left;
  right.input_hash = "sha256:2";
  right.final_claims.text =
      R"([{"concept_path": "tls", "predicate": "enabled", "value": true, "confidence": 1}])";
  const RunAnswers before{{left}};
  const RunAnswers after{{right}};
  const RunDiff diff = diff_runs(before, after);
  EXPECT_TRUE(diff.cases[0].trials[0].prompt);
  EXPECT_TRUE(diff.cases[0].trials[0].claims);
  EXPECT_TRUE(diff.cases[0].is_changed());
}

struct Shown {
  RunAnswers before;
  RunAnswers after;
  std::vector<std::string> notes{};
  bool with_unchanged = false;
  std::optional<std::vector<ChangedMetric>> judged_otherwise{};
  GateChange gate{};
  std::optional<StatusChange> status{};

  RunDiffReport report() const {
    RunDiffReport made;
    RunRecord& run = made.runs.before.run;
    run.run_id = "1b4e28ba-0000";
    run.suite = "s";
    run.mode = "live";
    run.provider = "openai";
    run.model = "m";
    made.runs.after.run = made.runs.before.run;
    made.runs.after.run.run_id = "9c3d11aa-0000";
    made.verdicts = {"unfinished", "fail"};
    made.diff = diff_runs(before, after, judged_otherwise, gate);
    made.notes = notes;
    made.with_unchanged = with_unchanged;
    made.status = status;
    return made;
  }
  std::string page(std::size_t columns = 80) const { return run_diff_page(report(), columns); }
};

TEST(RunDiffPage, SaysWhatChangedAndShowsAnswersSideBySide) {
  const Shown shown{{{trial("capital", "pass", "Paris", "[" + metric("must_contain", "null", "true") + "]"),
                      trial("same", "pass", "x"), trial("old", "pass", "x")}},
                    {{trial("capital", "fail", "Rome", "[" + metric("must_contain", "null", "false") + "]"),
                      trial("same", "pass", "x")}},
                    {"the suite changed"}};
  EXPECT_EQ(shown.page(),
            "Before: run 1b4e28ba, 1970-01-01 00:00:00 UTC, live, m of openai: unfinished\n"
            "After:  run 9c3d11aa, 1970-01-01 00:00:00 UTC, live, m of openai: fail\n"
            "1 of 2 cases changed (1 worse), 1 only before.\n"
            "Note: the suite changed\n"
            "\n"
            "capital: pass → fail\n"
            "  must_contain passed → failed\n"
            "  run 1b4e28ba                            run 9c3d11aa\n"
            "  Paris                                 | Rome\n"
            "\n"
            "Only in run 1b4e28ba\n"
            "  old\n");
}

// Two lines `label passed → failed` did not say which of four fields had broken.
TEST(RunDiffPage, ChecksByOneMetricAreToldApartByWhatTheyExpect) {
  const auto label = [](const std::string& expected, const std::string& passed) {
    return R"({"name": "label", "expected": ")" + expected + R"(", "score": null, "passed": )" + passed + "}";
  };
  const std::string before = label("label a at /team", "true") + ", " + label("label b at /urgent", "true");
  const std::string after = label("label a at /team", "true") + ", " + label("label b at /urgent", "false");
  const auto page = [](const std::string& left, const std::string& right) {
    return Shown{{{trial("a", "pass", "x", "[" + left + "]")}},
                 {{trial("a", "fail", "x", "[" + right + "]")}}}
        .page();
  };
  EXPECT_NE(page(before, after).find("\n  label b at /urgent passed → failed\n"), std::string::npos)
      << page(before, after);
  const std::string alone = page(label("label a", "true"), label("label a", "false"));
  EXPECT_NE(alone.find("\n  label passed → failed\n"), std::string::npos) << alone;
}

// A score that fell from 0.90 to 0.30 on the same answer said nothing of why.
TEST(RunDiffPage, AJudgesScoreThatChangedHasItsReason) {
  const auto by = [](const std::string& name, const std::string& score, const std::string& why) {
    const std::string one = metric(name, score, "true");
    return one.substr(0, one.size() - 1) + R"(, "judge": {"rationale": ")" + why + "\"}}";
  };
  const std::string same = ", " + by("rubric:tone", "0.5", "Kind.") + "]";
  const std::string now = "Rude.\\n::error::It says " + std::string(500, 'x');
  const Shown shown{{{trial("a", "pass", "x", "[" + by("rubric", "0.9", "Good.") + same)}},
                    {{trial("a", "pass", "x", "[" + by("rubric", "0.3", now) + same)}},
                    {},
                    true};
  const std::string page = shown.page(1000);
  const std::string begin = "Rude. ::error::It says ";
  EXPECT_NE(page.find("\n  rubric passed 0.90 → passed 0.30\n    Judge now: " + begin +
                      std::string(400 - begin.size(), 'x') + "...\n  rubric:tone passed 0.50\n"),
            std::string::npos)
      << page;
  EXPECT_EQ(page.find("Kind."), std::string::npos) << "it is as it was";
  const json one = json::parse(run_diff_as_json(shown.report()))["cases"][0]["trials"][0]["metrics"][0];
  EXPECT_EQ(one["before"]["rationale"], "Good.");
  EXPECT_EQ(one["after"]["rationale"].get<std::string>().size(), now.size() - 1) << "whole";
}

TEST(RunDiffPage, WhereAnswersAreRecordedNoProviderIsNamed) {
  const Shown shown{{{trial("a", "pass", "x")}}, {{trial("a", "pass", "x")}}};
  RunDiffReport report = shown.report();
  report.runs.before.run.model = "recorded";
  const std::string page = run_diff_page(report, 80);
  EXPECT_NE(page.find(" live, recorded: unfinished\n"), std::string::npos) << page;
  EXPECT_NE(page.find(" live, m of openai: fail\n"), std::string::npos) << page;
}

TEST(RunDiffPage, AMetricThatIsJudgedOtherwiseIsNoMatterOfTheAnswerAlone) {
  const auto judged = [](const std::string& contains, const std::string& equals) {
    return "[" + metric("must_contain", "null", contains) + ", " + metric("equals", "null", equals) + "]";
  };
  Shown shown{{{trial("capital", "pass", "Paris", judged("true", "true")),
                trial("other", "pass", "x", judged("true", "true"))}},
              {{trial("capital", "fail", "Paris", judged("false", "false")),
                trial("other", "fail", "x", judged("false", "true"))}}};
  EXPECT_TRUE(json::parse(run_diff_as_json(shown.report()))["cases"][0]["judged_otherwise"].is_null());
  shown.judged_otherwise = std::vector<ChangedMetric>{{"capital", "must_contain"}, {"gone", "must_contain"}};
  const std::string page = shown.page();
  EXPECT_NE(page.find("2 of 2 cases changed (2 worse, 1 judged otherwise).\n"), std::string::npos) << page;
  EXPECT_NE(page.find("capital: pass → fail\n"
                      "  must_contain passed → failed; judged otherwise now\n"
                      "  equals passed → failed\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("other: pass → fail\n  must_contain passed → failed\n"), std::string::npos) << page;
  const json written = json::parse(run_diff_as_json(shown.report()));
  EXPECT_EQ(written["cases"][0]["judged_otherwise"], json::array({"must_contain"}));
  EXPECT_EQ(written["cases"][1]["judged_otherwise"], json::array());
}

// A case without the check that had failed was better, and nothing said why.
TEST(RunDiffPage, AMetricThatIsNotJudgedAnyMoreIsNamed) {
  const std::string both =
      "[" + metric("must_contain", "null", "false") + ", " + metric("equals", "null", "true") + "]";
  Shown shown{{{trial("capital", "fail", "Paris", both), trial("lost", "fail", "x", both)}},
              {{trial("capital", "pass", "Paris", "[" + metric("equals", "null", "true") + "]"),
                trial("lost", "error", "", "[]")}}};
  shown.after.observations[1].reason_code = "timeout";
  shown.judged_otherwise = std::vector<ChangedMetric>{{"capital", "must_contain"}, {"lost", "equals"}};
  const std::string page = shown.page();
  EXPECT_NE(page.find("1 better, 2 judged otherwise"), std::string::npos) << page;
  EXPECT_NE(page.find("  must_contain failed → not there; not judged any more\n"), std::string::npos) << page;
  EXPECT_NE(page.find("  equals passed → not there; judged otherwise now\n"), std::string::npos)
      << "an error is no reason: " << page;
}

TEST(RunDiffPage, UnchangedCasesAreShownIfAskedFor) {
  const std::string metrics = "[" + metric("recall", "0.5", "null") + "]";
  const Shown shown{{{trial("a", "pass", "x", metrics)}}, {{trial("a", "pass", "x", metrics)}}, {}, true};
  const std::string page = shown.page();
  EXPECT_NE(page.find("\na: pass, as it was\n  recall 0.50\n"), std::string::npos) << page;
}

// 33 cases got worse, and stood among 172.
TEST(RunDiffPage, CasesAreListedByHowTheirStatusChanged) {
  Shown shown{{{trial("better", "fail", "x"), trial("other", "pass", "x"), trial("worse", "warn", "x"),
                trial("old", "pass", "x")}},
              {{trial("better", "warn", "y"), trial("other", "pass", "y"), trial("worse", "flaky", "y")}}};
  const auto ids = [&] {
    std::vector<std::string> listed;
    const json made = json::parse(run_diff_as_json(shown.report()));
    EXPECT_EQ(made["changed"], 3);
    EXPECT_EQ(made["worse"], 1);
    EXPECT_EQ(made["better"], 1);
    for (const json& one : made["cases"]) listed.push_back(one["id"]);
    return listed;
  };
  EXPECT_EQ(ids(), (Names{"better", "other", "worse"}));
  shown.status = StatusChange::any;
  EXPECT_EQ(ids(), (Names{"better", "worse"}));
  shown.status = StatusChange::better;
  EXPECT_EQ(ids(), Names{"better"});
  shown.status = StatusChange::worse;
  EXPECT_EQ(ids(), Names{"worse"});
  EXPECT_TRUE(
      shown.page().ends_with("3 of 3 cases changed (1 worse, 1 better), 1 only before.\n"
                             "Only cases whose status got worse are listed.\n"
                             "\n"
                             "worse: warn → flaky\n"
                             "  run 1b4e28ba                            run 9c3d11aa\n"
                             "  x                                     | y\n"))
      << shown.page();
}

TEST(RunDiffPage, WhatTheBaselinesAloneChangedIsShownWithAllCases) {
  Shown shown{one_case("fail", "x", fails_a_check), one_case("warn", "x", fails_a_check)};
  shown.gate.baseline = true;
  EXPECT_TRUE(shown.page().ends_with("0 of 1 case changed.\n")) << shown.page();
  EXPECT_EQ(json::parse(run_diff_as_json(shown.report()))["by_baseline_alone"], 1);
  shown.with_unchanged = true;
  EXPECT_NE(shown.page().find("\na: fail → warn, by the baselines alone\n  must_contain failed\n"),
            std::string::npos)
      << shown.page();
  const json one = json::parse(run_diff_as_json(shown.report()))["cases"][0];
  EXPECT_EQ(one["changed"], false);
  EXPECT_EQ(one["trials"][0]["changed"], false);
}

// A rerun of 34 cases named the 270 others, a line each.
TEST(RunDiffPage, WhatAPartOfTheSuiteLeftOutIsCountedAlone) {
  const Shown shown{{{trial("a", "pass", "x"), trial("old", "pass", "x")}}, {{trial("a", "pass", "x")}}};
  RunDiffReport report = shown.report();
  report.runs.after.run.selection = true;
  EXPECT_TRUE(run_diff_page(report, 80).ends_with("0 of 1 case changed, 1 only before.\n"))
      << run_diff_page(report, 80);
  EXPECT_EQ(json::parse(run_diff_as_json(report))["only_before"], json::array({"old"}));
  report.with_unchanged = true;
  EXPECT_TRUE(run_diff_page(report, 80).ends_with("\nOnly in run 1b4e28ba\n  old\n"));
}

TEST(RunDiffPage, ScoresThatDifferLateAreShownWithAsManyDigits) {
  const Shown shown{{{trial("a", "pass", "x", "[" + metric("recall", "0.5", "null") + "]")}},
                    {{trial("a", "pass", "x", "[" + metric("recall", "0.5004", "null") + "]")}}};
  EXPECT_NE(shown.page().find("recall 0.5000 → 0.5004\n"), std::string::npos) << shown.page();
}

TEST(RunDiffPage, AnEmptyAnswerIsToldFromNone) {
  Observation empty = trial("a", "fail", "");
  const Shown none{{{trial("a", "pass", "x")}}, {{empty}}};
  EXPECT_NE(none.page().find("| (none came)\n"), std::string::npos) << none.page();
  empty.answered_at = "2026-11-29T12:00:00Z";
  const Shown came{{{trial("a", "pass", "x")}}, {{empty}}};
  EXPECT_NE(came.page().find("| (empty)\n"), std::string::npos) << came.page();
}

TEST(RunDiff, MetricsThatNestDeeplyAreNone) {
  const RunAnswers before{{trial("a", "pass", "x", R"([{"name": )" + support::nested_json + "}]")}};
  const RunAnswers after{{trial("a", "pass", "x", "[" + metric("m", "0.5", "true") + "]")}};
  const RunDiff diff = diff_runs(before, after);
  ASSERT_EQ(diff.cases.size(), 1u);
  EXPECT_EQ(diff.cases[0].trials[0].metrics.size(), 1u);
}

TEST(RunDiffPage, JsonInOneLineIsLaidOut) {
  const Shown shown{{{trial("a", "pass", R"({"claims": [1], "z": 1})")}},
                    {{trial("a", "pass", R"({"claims": [2], "z": 1})")}}};
  const std::string page = shown.page();
  EXPECT_NE(page.find("    1                                 |     2\n"), std::string::npos) << page;
  // Too deep to be laid out by a recursion.
  const std::string deep(200'000, '[');
  const Shown other{{{trial("a", "pass", deep)}}, {{trial("a", "pass", deep + "]")}}};
  EXPECT_NE(other.page().find("a: pass\n"), std::string::npos);
}

TEST(RunDiffPage, FitsAnyWidthAndFormsAreNamed) {
  const std::string words =
      "The quick brown fox jumps over the lazy dog and 文字 more words than fit into a line. ";
  const auto before = trial("a", "pass", words + words);
  const auto after = trial("a", "fail", words + "Not.");
  const Shown shown{{{before, as(before, "crlf", 1)}}, {{after, as(after, "crlf", 1)}}, {words + words}};
  for (const std::size_t columns : {60u, 80u, 200u}) {
    const std::string page = shown.page(columns);
    EXPECT_NE(page.find("  crlf, repeat 2: pass → fail\n"), std::string::npos) << page;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), columns) << line;
  }
}

TEST(RunDiffJson, HoldsWhatThePageSays) {
  auto lost =
      Shown{{{trial("a", "pass", "x", "[" + metric("recall", "1", "null") + "]"), trial("gone", "pass", "")}},
            {{trial("a", "fail", "y", "[" + metric("recall", "0", "null") + "]"), trial("new", "pass", "")}},
            {"a note"}};
  const json made = json::parse(run_diff_as_json(lost.report()));
  EXPECT_EQ(made["before"]["run_id"], "1b4e28ba-0000");
  EXPECT_EQ(made["after"]["verdict"], "fail");
  EXPECT_EQ(made["notes"], json::array({"a note"}));
  EXPECT_EQ(made["in_both"], 1);
  EXPECT_EQ(made["changed"], 1);
  EXPECT_EQ(made["only_before"], json::array({"gone"}));
  EXPECT_EQ(made["only_after"], json::array({"new"}));
  const json& one = made["cases"].at(0);
  EXPECT_EQ(one["id"], "a");
  EXPECT_EQ(one["status"], json::parse(R"({"before": "pass", "after": "fail"})"));
  const json& of = one["trials"].at(0);
  EXPECT_EQ(of["answer_changed"], true);
  EXPECT_EQ(of["answer"], json::parse(R"({"before": "x", "after": "y"})"));
  EXPECT_EQ(of["metrics"].at(0)["after"], json::parse(R"({"score": 0, "passed": null})"));
  lost.before.lost_answers = {0};
  EXPECT_TRUE(
      json::parse(run_diff_as_json(lost.report()))["cases"][0]["trials"][0]["answer_changed"].is_null());
}

}  // namespace sluice::run_diff_test
