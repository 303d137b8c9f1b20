#include "coordinator/report/writers/markdown_text.hpp"
#include "tests/unit/report/golden.hpp"
#include "tests/unit/report/report_texts.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;
using sample::SampleRun;

TEST(JsonReport, Golden) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  expect_golden("report.json", without_version(json_of(run.input(aggregates))));
}

TEST(JsonReport, UndefinedIsNullAndNumbersAreExact) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  const json report = json::parse(json_of(run.input(aggregates)));
  EXPECT_EQ(report["metrics"]["precision"], 0.4);
  EXPECT_EQ(report["metrics"]["excluded"], 2);
  EXPECT_EQ(report["metrics"]["total_tokens"], 5550);
  EXPECT_TRUE(report["metrics"]["by_category"]["negative"]["f1"].is_null());
  const json& lost = report["fixture_results"][6];
  EXPECT_EQ(lost["status"], "error");
  EXPECT_EQ(lost["reason_code"], "worker_lost");
  EXPECT_TRUE(lost["true_positives"].is_null());
  EXPECT_TRUE(lost["answer"].is_null());
  EXPECT_EQ(report["fixture_results"][5]["missing"][0]["got"]["below_min_confidence"], true);
  EXPECT_EQ(report["run"]["errors"].size(), 2u);
  EXPECT_EQ(report["run"]["errors"]["tls-002"], "The case was lost with its worker 3 times.");
}

TEST(JsonReport, OnlyRunAndTheTimesAreVolatile) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput other = run.input(aggregates);
  other.facts = {};
  other.facts.run_id = "another";
  other.mode = "cached";
  other.paid_cost = std::nullopt;
  SampleRun reworded;
  reworded.source.trials[4].unit.error->message = "other words";
  reworded.source.trials[0].unit.spend.cache_hit = true;
  ReportInput third = reworded.input(aggregates);

  const auto stable_part = [](const ReportInput& input) {
    json report = json::parse(json_of(input));
    for (const char* name : {"run_id", "timestamp", "started_at", "completed_at", "run"}) {
      EXPECT_EQ(report.erase(name), 1u) << name;
    }
    return report.dump();
  };
  EXPECT_EQ(stable_part(run.input(aggregates)), stable_part(other));
  EXPECT_EQ(stable_part(run.input(aggregates)), stable_part(third));
}

TEST(JsonReport, ARunCutShortSaysWhy) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.facts.cut_short = Error{Reason::interrupted, "The run was interrupted."};
  input.verdict = sample::verdict_on(input);
  const json report = json::parse(json_of(input));
  EXPECT_EQ(report["verdict"], "error");
  EXPECT_EQ(report["reason_code"], "interrupted");
  EXPECT_EQ(report["run"]["cut_short"], "The run was interrupted.");
}

TEST(JsonReport, NoFixturesAndStrangeTextsAreStillJson) {
  SampleRun run;
  run.suite.cases = {sample::make_case("x\"-1\n", "bytes \xff\xfe and \x01 \u2028")};
  run.source.trials = {sample::scored(
      0, 0, {sample::claim("a", "b", std::numeric_limits<double>::infinity(), 0.5)}, {{}, {}, {0}, {}}, {})};
  run.results.trials = 1;
  const Aggregates aggregates = run.aggregates();
  const json report = json::parse(json_of(run.input(aggregates)));
  EXPECT_EQ(report["fixture_results"][0]["id"], "x\"-1\n");
  EXPECT_EQ(report["fixture_results"][0]["name"], "bytes \uFFFD\uFFFD and \x01 \u2028");

  run.suite.cases = {};
  run.source.trials.clear();
  run.results.trials = 0;
  const Aggregates none = run.aggregates();
  const json empty = json::parse(json_of(run.input(none)));
  EXPECT_TRUE(empty["fixture_results"].empty());
  EXPECT_TRUE(empty["metrics"]["by_category"].empty());
  EXPECT_TRUE(empty["metrics"]["f1"].is_null());
}

TEST(TableReport, Golden80) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  const std::string table = table_of(run.input(aggregates), {.columns = 80});
  expect_lines_within(table, 80);
  expect_golden("table_80.txt", table);
}

TEST(TableReport, Golden120) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  expect_golden("table_120.txt", table_of(run.input(aggregates), {.columns = 120}));
}

TEST(TableReport, FitsAnyWidthFromSixtyOn) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  for (std::size_t columns = 60; columns < 130; columns += 7) {
    expect_lines_within(table_of(run.input(aggregates), {.columns = columns}), columns);
  }
  EXPECT_EQ(table_of(run.input(aggregates), {.columns = 10}),
            table_of(run.input(aggregates), {.columns = 60}));
}

TEST(TableReport, ColoursComeOnlyWhenAskedForAndChangeNothingElse) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  const std::string plain = table_of(run.input(aggregates), {.columns = 80});
  std::string coloured = table_of(run.input(aggregates), {.columns = 80, .colour = true});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(coloured, plain);
  for (auto start = coloured.find('\x1b'); start != std::string::npos; start = coloured.find('\x1b')) {
    coloured.erase(start, coloured.find('m', start) - start + 1);
  }
  EXPECT_EQ(coloured, plain);
}

TEST(TableReport, ForeignTextCannotSteerTheTerminal) {
  SampleRun run;
  run.suite.cases.held(1).name = "red \x1b[31m \u202e\r";
  run.source.trials[4].unit.error->message = "line\nbreak \x1b]0;title\x07";
  run.suite.name = "\x1b[2J";
  const Aggregates aggregates = run.aggregates();
  const std::string table = table_of(run.input(aggregates), {.columns = 80});
  EXPECT_EQ(table.find_first_of("\x1b\x07\r"), std::string::npos);
  EXPECT_EQ(table.find("\u202e"), std::string::npos);
}

// A terminal got them all, of a run that failed in thousands.
TEST(TableReport, TheFirstFailuresAreListedWithTheCommandThatShowsTheRest) {
  SampleRun run;
  const Case failed = run.suite.cases.held(1);
  const CommittedTrial result = run.source.trials[1];
  run.suite.cases = {};
  run.source.trials.clear();
  constexpr std::size_t many = 3000;
  for (std::size_t i = 0; i < many; ++i) {
    Case one = failed;
    one.id = "edge-" + std::to_string(i) + "-end";
    run.suite.cases.push_back(one);
    run.source.trials.push_back(result);
    run.source.trials.back().trial = static_cast<TrialId>(i);
  }
  run.results.trials = many;
  const Aggregates aggregates = run.aggregates();
  const std::string table = table_of(run.input(aggregates), {.columns = 80});
  EXPECT_EQ(occurrences(table, "\n- edge-"), 50u);
  EXPECT_NE(table.find("\nFailures (3,000)\n- edge-0-end: "), std::string::npos) << table;
  EXPECT_NE(table.find("\n  2,950 more; `sluice report 0191f7d2 --output report.html` has them all\n"),
            std::string::npos)
      << table;
  ReportInput elsewhere = run.input(aggregates);
  elsewhere.home_flag = " --home runs";
  EXPECT_NE(table_of(elsewhere, {.columns = 120}).find(" --output report.html --home runs` has them all\n"),
            std::string::npos);
  elsewhere.home_flag.reset();
  EXPECT_NE(table_of(elsewhere, {.columns = 120}).find("\n  2,950 more; `--format json` has them all\n"),
            std::string::npos);
  // A comment on a pull request must stay below GitHub's limit and says what it leaves out.
  const std::string markdown = markdown_of(run.input(aggregates));
  EXPECT_LT(markdown.size(), 65536u);
  EXPECT_NE(markdown.find(" more failed; `--format json` has them all"), std::string::npos);
}

TEST(MarkdownReport, Golden) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  expect_golden("report.md", markdown_of(run.input(aggregates)));
}

TEST(MarkdownReport, AddressesInForeignTextAreNoLinks) {
  EXPECT_EQ(markdown_words("see https://a.example/x or WWW.b.example: well"),
            "see https:<!-- -->//a.example/x or W<!-- -->WW.b.example: well");
}

TEST(MarkdownReport, IssuesAndCommitsInForeignTextAreNoLinks) {
  EXPECT_EQ(markdown_words("see GH-26, Gh-7 and high-5, a5c3785ed8d6a35868bc169f07e40e889087fd2e or 16c999e"),
            "see GH-<!-- -->26, Gh-<!-- -->7 and high-5, a<!-- -->5c3785ed8d6a35868bc169f07e40e889087fd2e or "
            "1<!-- -->6c999e");
  const std::string plain =
      "facades 1234567 a1b2c3 x16c999e 16c999eg a5c3785ed8d6a35868bc169f07e40e889087fd2e0 "
      "0191f7d2-6c1e-7a43-9d55-2f1b0c3a4e5f";
  EXPECT_EQ(markdown_words(plain), plain);
}

TEST(MarkdownReport, ForeignTextIsNoMarkup) {
  SampleRun run;
  run.suite.cases.held(1).name = "a|b `c` <script> @someone #12 [x](y)";
  run.suite.cases.held(1).category = "a|b";
  run.suite.cases.held(1).must_contain[0].subject = "tick``s";
  const Aggregates aggregates = run.aggregates();
  const std::string markdown = markdown_of(run.input(aggregates));
  EXPECT_NE(markdown.find("a\\|b \\`c\\` &lt;script&gt; \\@<!-- -->someone \\#<!-- -->12 \\[x\\](y)"),
            std::string::npos);
  EXPECT_NE(markdown.find("| a\\|b |"), std::string::npos);
  EXPECT_NE(markdown.find("``` tick``s/enabled = false ```"), std::string::npos);
}

// Whose provider is `[providers.local]` saw the kind alone, as if the calls had gone to OpenAI.
TEST(Reports, AProviderHasTheNameThatTheUserGaveIt) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  EXPECT_NE(markdown_of(input).find("(gemini, live)"), std::string::npos);
  input.identity.provider = ProviderKind::openai;
  input.identity.provider_name = "local";
  for (const std::string& text : {table_of(input, {.columns = 120}), markdown_of(input)}) {
    EXPECT_NE(text.find("(local of kind openai, live)"), std::string::npos) << text;
  }
  const auto report = nlohmann::json::parse(json_of(input));
  EXPECT_EQ(report["provider"], "openai");
  EXPECT_EQ(report["provider_name"], "local");
}

// They named the provider of the settings, which had no part in it: `recorded (gemini, live)`.
TEST(Reports, NameNoLimitLearntThatAnEarlierRunHandedOn) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  BudgetFacts& facts = input.facts.budgets.at(0);
  facts.learned.in_flight = 2;
  const auto learned = [&] { return json::parse(json_of(input))["run"]["budget"][0]["learned"]; };
  EXPECT_NE(table_of(input, {.columns = 120}).find("Learnt: [providers.gemini] max_in_flight = 2"),
            std::string::npos);
  EXPECT_EQ(learned()["max_in_flight"], 2);
  facts.learned_before = true;
  EXPECT_EQ(table_of(input, {.columns = 120}).find("Learnt"), std::string::npos);
  EXPECT_TRUE(learned().is_null());
}

TEST(Reports, WhereAnswersAreRecordedNoProviderIsNamed) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.identity.model = "recorded";
  for (const std::string& text : {table_of(input, {.columns = 120}), markdown_of(input), html_of(input)})
    EXPECT_NE(text.find("recorded (live)"), std::string::npos) << text;
  EXPECT_EQ(junit_of(input).find("name=\"provider"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(json_of(input))["provider"], "gemini") << "part of its form";
}

// All errors of a reason had the message of the first one: `check_undecided (5): b, c, d, e, f`.
TEST(Reports, EachMessageOfAnErrorStandsBesideItsCases) {
  Suite suite;
  sample::MemorySource source;
  Gate gate;
  RunResults results = sample::results_of(suite, source, gate);
  const auto add = [&](const std::string& message) {
    const auto trial = static_cast<TrialId>(suite.cases.size());
    suite.cases.push_back(sample::make_case("c-" + std::to_string(trial), ""));
    source.trials.push_back(sample::errored(trial, trial, {Reason::check_undecided, message}));
    results.trials = suite.cases.size();
  };
  for (const char* message : {"no score", "no such file", "no score", "m3", "m4", "m5", "m6", "m7", "m6"})
    add(message);
  const Aggregates aggregates = *aggregate(results, {});
  const ReportInput input = sample::input_of(results, aggregates);
  const std::string table = table_of(input, {.columns = 80});
  EXPECT_NE(table.find("Errors (9)\n"
                       "- check_undecided (2): c-0, c-2\n"
                       "    Why:        no score\n"
                       "- check_undecided (2): c-6, c-8\n"
                       "    Why:        m6\n"
                       "- check_undecided (1): c-1\n"
                       "    Why:        no such file\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("- check_undecided (1): c-4\n"
                       "    Why:        m4\n"
                       "- check_undecided (2): c-5, c-7\n"
                       "    with further messages; `--format json` has all\n"
                       "    Among them: m5\n"),
            std::string::npos)
      << table;
  EXPECT_NE(markdown_of(input).find("(1): c-1\n  - Why: no such file\n"), std::string::npos);
}

// They were counted and listed as errors among the cases, as if something had gone wrong with them.
TEST(Reports, CasesWhoseTurnDidNotComeAreNoErrorsForPeople) {
  SampleRun run;
  run.source.trials.erase(run.source.trials.begin() + 1, run.source.trials.begin() + 4);
  run.results.unfinished = [](TrialId) { return Error{Reason::interrupted, "interrupted by SIGINT"}; };
  run.results.not_started = [](TrialId trial) { return trial != 3; };
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.facts.cut_short = Error{Reason::interrupted, "interrupted by SIGINT"};
  input.verdict = RunVerdict::error;
  const std::string table = table_of(input, {.columns = 120});
  const std::string markdown = markdown_of(input);
  for (const std::string& text : {table, markdown}) {
    EXPECT_NE(text.find("7 fixtures: 1 passed, 1 failed, 2 errors, 3 not started"), std::string::npos)
        << text;
    EXPECT_NE(text.find("Errors (2)"), std::string::npos) << text;
    EXPECT_NE(text.find("Not started"), std::string::npos) << text;
    EXPECT_EQ(text.find("tls-002"), std::string::npos) << "it is not listed: " << text;
  }
  EXPECT_NE(markdown.find("`interrupted` (1): negative-001"), std::string::npos) << markdown;
  const std::string annotations = github_of(input);
  EXPECT_NE(annotations.find("interrupted by SIGINT%0A3 fixtures not started"), std::string::npos)
      << annotations;
  EXPECT_EQ(annotations.find("tls-002"), std::string::npos) << annotations;
  const std::string html = html_of(input);
  EXPECT_NE(html.find("Cases: pass 1, fail 1, error 2, not started 3"), std::string::npos) << html;
  EXPECT_EQ(occurrences(html, R"("status": "not started")"), 3u);
  const json report = json::parse(json_of(input));
  EXPECT_EQ(report["metrics"]["errors"], 5);
  EXPECT_EQ(report["fixture_results"][6]["status"], "error");
  EXPECT_EQ(report["fixture_results"][6]["reason_code"], "interrupted");
  EXPECT_EQ(report["fixture_results"][6]["not_started"], true);
  EXPECT_FALSE(report["fixture_results"][3].contains("not_started")) << "it was begun with";
  EXPECT_EQ(occurrences(junit_of(input), "type=\"interrupted\""), 4u);
}

TEST(MarkdownReport, CommandsInASentenceCanBeCopiedAsTheyStand) {
  const std::string command = "`sluice run 'a_b*.yaml' --export-baseline x#1.json`";
  EXPECT_EQ(markdown_sentence("a_b: write it with " + command + ", or (`min_floor`)."),
            "a\\_b: write it with " + command + ", or (`min_floor`).");
  EXPECT_EQ(markdown_sentence("a `b`"), "a `b`");
  EXPECT_EQ(markdown_sentence("`sluice run 'a`b.yaml'`; `c`"), "`` sluice run 'a`b.yaml' ``; `c`");
  EXPECT_EQ(markdown_sentence("one ` alone, a`b`c and ``"), "one \\` alone, a\\`b\\`c and \\`\\`");
  EXPECT_EQ(markdown_sentence(""), "");
  EXPECT_LE(markdown_sentence("`" + std::string(100, '#') + "` " + std::string(100, '#'), 150).size(), 150u);

  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate.notices = {{GateNotice::Severity::warning, "fingerprint_mismatch", "write it with " + command}};
  input.facts.cut_short = Error{Reason::cache_miss, "fill it with `sluice run --mode live`"};
  const std::string markdown = markdown_of(input);
  EXPECT_NE(markdown.find("write it with " + command), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("fill it with `sluice run --mode live`"), std::string::npos) << markdown;
  EXPECT_NE(table_of(input, {.columns = 120}).find("fill it with `sluice run --mode live`"),
            std::string::npos);
}

// U+009B begins a command to a terminal as ESC [ does, and stood in the report as it came.
TEST(JsonReport, ControlsBeyondAsciiAreEscapedAndNotLost) {
  SampleRun run;
  const std::string name = "a\u009b2Jb\x7f\u00a0";
  run.suite.cases.held(1).name = name;
  const Aggregates aggregates = run.aggregates();
  const std::string text = json_of(run.input(aggregates));
  EXPECT_NE(text.find("\"a\\u009b2Jb\\u007f\u00a0\""), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(text)["fixture_results"][1]["name"], name);
}

TEST(JsonReport, WhatTurnsTheDirectionIsEscapedAndNotLost) {
  SampleRun run;
  const std::string name = "ab\u202edc\u2066 \"\u200f\u2028\u061c";
  run.suite.cases.held(1).name = name;
  const Aggregates aggregates = run.aggregates();
  const std::string text = json_of(run.input(aggregates));
  EXPECT_FALSE(has_direction_controls(text)) << text;
  EXPECT_NE(text.find("ab\\u202edc\\u2066 \\\"\\u200f\\u2028\\u061c"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(text)["fixture_results"][1]["name"], name);
}

}  // namespace
}  // namespace sluice
