// The page for a browser and the file for a spreadsheet: all cases, and nothing foreign that acts.
#include "config/embedded_config.hpp"
#include "coordinator/output/csv.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <regex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;
using sample::answered;
using sample::MemorySource;
using sample::results_of;

constexpr const char* hostile =
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\xe2\x80\xae!";

/// Texts that a check passed or failed.
struct TextRun {
  Suite suite;
  MemorySource source;
  Gate gate;
  RunResults results = results_of(suite, source, gate);

  explicit TextRun(std::size_t cases, const std::string& answer = "Lyon", const std::string& context = "",
                   const std::vector<std::string>& arms = {}) {
    suite.name = "geo";
    suite.metrics = {MetricId::must_contain};
    for (std::size_t i = 0; i < cases; ++i) {
      Case test = sample::make_case("geo-" + std::to_string(1000 + i), "");
      test.kind = CaseKind::text;
      test.system = "Be brief.";
      test.context = context;
      test.content = "Capital " + std::to_string(i) + "? mail me@example.org";
      test.expectations = {{{MetricId::must_contain, {"Paris"}}, {}, std::nullopt}};
      const bool passed = i % 2 == 0;
      source.trials.push_back(answered(static_cast<TrialId>(i), answer,
                                       {MetricId::must_contain, std::nullopt, passed, passed ? "" : "why"}));
      if (!arms.empty()) {
        test.test = static_cast<std::uint32_t>(i / arms.size());
        test.arm = static_cast<std::uint32_t>(i % arms.size());
        test.id = "geo-" + std::to_string(1000 + test.test) + "@" + arms[test.arm];
      }
      suite.cases.push_back(std::move(test));
    }
    results.trials = cases;
  }
  TextRun(const TextRun&) = delete;
  TextRun& operator=(const TextRun&) = delete;
  Aggregates aggregates() const { return *aggregate(results, {}); }
};

/// What the page hands to its script.
json cases_in(const std::string& html) {
  json all = json::array();
  const std::string begin = R"(<script type="application/json" class="cases">)";
  for (auto at = html.find(begin); at != std::string::npos; at = html.find(begin, at + 1)) {
    const auto from = at + begin.size();
    for (json& one : json::parse(html.substr(from, html.find("</script>", from) - from)))
      all.push_back(std::move(one));
  }
  return all;
}

TEST(HtmlReport, HasEveryCaseForTheScriptAndTheFirstOnesWithoutIt) {
  const TextRun run(1201);
  const Aggregates aggregates = run.aggregates();
  const std::string html = html_of(sample::input_of(run.results, aggregates));
  const json cases = cases_in(html);
  ASSERT_EQ(cases.size(), 1201u);
  EXPECT_EQ(cases[1]["id"], "geo-1001");
  EXPECT_EQ(cases[1]["status"], "fail");
  EXPECT_EQ(cases[1]["system"], "Be brief.");
  EXPECT_EQ(cases[1]["answer"], "Lyon");
  EXPECT_NE(cases[1]["why"].get<std::string>().find("must_contain \"Paris\""), std::string::npos);
  EXPECT_EQ(occurrences(html, "<tr><td><details>"), 200u);
  EXPECT_NE(html.find("The first 200 of 1,201 cases"), std::string::npos);
}

// A context of 500 KB in 600 cases made a page of 400 MB.
TEST(HtmlReport, LongTextsAreCut) {
  const TextRun run(600, "Lyon", std::string(500'000, 'x'));
  const Aggregates aggregates = run.aggregates();
  const std::string html = html_of(sample::input_of(run.results, aggregates));
  EXPECT_LT(html.size(), 40u << 20);
  EXPECT_TRUE(cases_in(html)[0]["prompt"].get<std::string>().ends_with("x..."));
}

// One arm's answer stood beside the verdicts of all.
TEST(HtmlReport, OfArmsIsAGridWithEachAnswerBesideItsVerdict) {
  const std::vector<std::string> names{"mini/a&b", "nano/x", "pico/y"};
  const TextRun run(300, "Lyon", "", names);
  const Aggregates aggregates = run.aggregates();
  RunArms arms;
  for (const std::string& name : names) arms.arms.emplace_back().name = name;
  ReportInput input = sample::input_of(run.results, aggregates);
  input.arms = &arms;
  const std::string html = html_of(input);
  EXPECT_NE(html.find("<table id=\"cases\" class=\"grid\"><thead><tr><th data-key=\"id\">Test</th>"
                      "<th data-arm=\"mini/a&amp;b\">mini/a&amp;b</th><th data-arm=\"nano/x\">nano/x</th>"),
            std::string::npos);
  const auto row = html.find("<tr><td>geo-1000</td>");
  ASSERT_NE(row, std::string::npos);
  const std::string first = html.substr(row, html.find("</tr>", row) - row);
  EXPECT_EQ(occurrences(first, "<td data-arm="), 3u) << first;
  EXPECT_EQ(occurrences(first, "<div class=\"beginning\">Lyon</div>"), 3u) << first;
  EXPECT_NE(first.find("<td data-arm=\"nano/x\"><details><summary><span class=\"status fail\">fail</span>"),
            std::string::npos)
      << first;
  EXPECT_EQ(occurrences(html, "<tr><td>geo-"), 66u) << "whole tests, and no more than 200 cases";
  EXPECT_NE(html.find("The first 198 of 300 cases"), std::string::npos);
  EXPECT_EQ(cases_in(html)[4]["title"], "geo-1001");
  EXPECT_EQ(cases_in(html)[4]["arm"], "nano/x");
}

/// Each answer this long, with the case's digits first.
ReadWholeAnswers answers_of(std::size_t bytes) {
  return [bytes](std::span<const AnswerPlace> wanted) {
    std::vector<std::optional<std::string>> answers;
    for (const AnswerPlace& one : wanted)
      answers.emplace_back(std::to_string(one.trial) + std::string(bytes, 'w'));
    return answers;
  };
}

TEST(HtmlReport, HasAnswersWholeWhereTheyAreFound) {
  const TextRun run(2, std::string(1000, 'b'));
  const Aggregates aggregates = run.aggregates();
  ReportInput input = sample::input_of(run.results, aggregates);
  input.whole_answers = [](std::span<const AnswerPlace> wanted) {
    std::vector<std::optional<std::string>> answers(wanted.size());
    answers[0] = "whole " + std::string(3000, 'w') + " me@example.org";
    return answers;
  };
  const json cases = cases_in(html_of(input));
  EXPECT_TRUE(cases[0]["answer"].get<std::string>().starts_with("whole w"));
  EXPECT_EQ(cases[0]["answer"].get<std::string>().size(), 6u + 3000 + 15);
  EXPECT_FALSE(cases[0].contains("notes")) << cases[0]["notes"];
  EXPECT_EQ(cases[1]["answer"], std::string(1000, 'b'));
  EXPECT_NE(cases[1]["notes"][0].get<std::string>().find("the beginning: no cache and no observation"),
            std::string::npos);
  const std::vector<RedactionPattern> patterns{{"mail", "[a-z]+@[a-z.]+"}};
  const Redactor redactor = *Redactor::make(patterns);
  input.redactor = &redactor;
  EXPECT_EQ(html_of(input).find("me@example.org"), std::string::npos);
}

TEST(HtmlReport, WhatIsCutSaysWhatShowsItWhole) {
  const TextRun run(2000);
  const Aggregates aggregates = run.aggregates();
  ReportInput input = sample::input_of(run.results, aggregates);
  input.whole_answers = answers_of(100'000);
  const std::string html = html_of(input);
  EXPECT_LT(html.size(), 40u << 20) << "of 200 MB of answers";
  const json cases = cases_in(html);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1234}, std::size_t{1999}}) {
    EXPECT_TRUE(cases[at]["answer"].get<std::string>().starts_with(std::to_string(at) + "www"));
    EXPECT_GT(cases[at]["answer"].get<std::string>().size(), 5000u);
    const std::string note = cases[at]["notes"][0];
    EXPECT_NE(note.find("Cut: answer of 100,00"), std::string::npos) << note;
    EXPECT_TRUE(note.ends_with("Whole: sluice show 0191f7d2 geo-" + std::to_string(1000 + at))) << note;
  }
}

// What short answers leave goes to the long ones after them.
TEST(HtmlReport, ShortTextsLeaveTheirRoomToLongOnes) {
  const TextRun run(2000);
  const Aggregates aggregates = run.aggregates();
  ReportInput input = sample::input_of(run.results, aggregates);
  input.whole_answers = [](std::span<const AnswerPlace> wanted) {
    std::vector<std::optional<std::string>> answers(wanted.size());
    if (wanted.back().trial == 1999) answers.back() = std::string(1'000'000, 'w');
    return answers;
  };
  const json last = cases_in(html_of(input)).back();
  EXPECT_EQ(last["answer"].get<std::string>().size(), 1'000'000u);
  EXPECT_FALSE(last.contains("notes"));
}

TEST(HtmlReport, NothingOfAnAnswerIsMarkup) {
  const TextRun run(2, hostile);
  const Aggregates aggregates = run.aggregates();
  const std::string html = html_of(sample::input_of(run.results, aggregates));
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("\xe2\x80\xae"), std::string::npos) << "it would turn the writing direction";
  // One element for the cases and one for the script that is ours.
  EXPECT_EQ(occurrences(html, "<script"), 2u);
  EXPECT_EQ(occurrences(html, "</script>"), 2u);
  const std::string answer = cases_in(html)[0]["answer"];
  EXPECT_NE(answer.find("</script><script>alert(1)"), std::string::npos) << "the text itself stays";
}

TEST(HtmlReport, TakesNothingFromANetworkAndRunsWhatItsHashesSay) {
  const TextRun run(1);
  const Aggregates aggregates = run.aggregates();
  const std::string html = html_of(sample::input_of(run.results, aggregates));
  EXPECT_NE(html.find("default-src 'none'; style-src 'sha256-"), std::string::npos);
  EXPECT_FALSE(std::regex_search(html, std::regex("(src|href)=")));
  EXPECT_EQ(html.find("style=\""), std::string::npos) << "the policy would drop it";
  EXPECT_NE(html.find(std::string(embedded::report_script)), std::string::npos);
  EXPECT_EQ(embedded::report_script.find("innerHTML"), std::string_view::npos);
}

TEST(HtmlReport, PromptsAreRedactedAndLeftOutWhereTheyAreLost) {
  const TextRun run(1);
  const Aggregates aggregates = run.aggregates();
  ReportInput input = sample::input_of(run.results, aggregates);
  const std::vector<RedactionPattern> patterns{{"mail", "[a-z]+@[a-z.]+"}};
  const Redactor redactor = *Redactor::make(patterns);
  input.redactor = &redactor;
  EXPECT_EQ(html_of(input).find("me@example.org"), std::string::npos);
  EXPECT_EQ(csv_of(input).find("me@example.org"), std::string::npos);
  EXPECT_NE(cases_in(html_of(input))[0]["prompt"].get<std::string>().find("[redacted mail]"),
            std::string::npos);
  input.prompts_are_lost = true;
  EXPECT_FALSE(cases_in(html_of(input))[0].contains("prompt"));
}

TEST(HtmlReport, ShowsWhatBecameOfChecksAndScores) {
  const sample::GatedSample run;
  const Aggregates aggregates = run.aggregates();
  const std::string html = html_of(run.input(aggregates));
  EXPECT_NE(html.find("<svg role=\"img\""), std::string::npos);
  EXPECT_NE(html.find("fingerprint_mismatch"), std::string::npos);
  bool has_score = false;
  for (const json& one : cases_in(html)) has_score = has_score || one["score"].is_number();
  EXPECT_TRUE(has_score);
}

TEST(HtmlReport, WhyACaseFailedShowsWhatNobodySees) {
  const TextRun run(2, "a\u200bb");
  const Aggregates aggregates = run.aggregates();
  const ReportInput input = sample::input_of(run.results, aggregates);
  const json failed = cases_in(html_of(input)).at(1);
  EXPECT_NE(failed["why"].get<std::string>().find("a\uFFFDb"), std::string::npos) << failed;
  EXPECT_EQ(failed["answer"], "a\u200bb") << "to be copied";
  EXPECT_NE(github_of(input).find("a\uFFFDb"), std::string::npos) << github_of(input);
  for (const std::string& text : {csv_of(input), json_of(input), junit_of(input)})
    EXPECT_EQ(text.find("\uFFFD"), std::string::npos) << text;
}

TEST(CsvReport, HasALineForEachCaseAndNoFormulas) {
  const TextRun run(2, "=HYPERLINK(\"http://x\")\nsecond, line");
  const Aggregates aggregates = run.aggregates();
  const std::string csv = csv_of(sample::input_of(run.results, aggregates));
  EXPECT_TRUE(csv.starts_with("id,name,category,arm,kind,")) << csv;
  EXPECT_NE(csv.find(",must_contain,reason,"), std::string::npos);
  EXPECT_NE(csv.find("\r\ngeo-1000,,geo,,text,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\"'=HYPERLINK(\"\"http://x\"\")\nsecond, line\""), std::string::npos) << csv;
  EXPECT_EQ(occurrences(csv, "\r\n"), 3u);
  EXPECT_NE(csv.find(",fail,"), std::string::npos);
}

TEST(CsvReport, AForeignTextGivesNoOrders) {
  const auto cell = [](std::string_view text) {
    CsvLine line;
    line.text(text);
    std::string whole = line.take();
    return whole.substr(0, whole.size() - 2);
  };
  EXPECT_EQ(cell("  =1+1"), "'  =1+1");
  EXPECT_EQ(cell("\n @sum"), "\"'\n @sum\"");
  EXPECT_EQ(cell("\tx"), "'\tx");
  EXPECT_EQ(cell(" a=b-c "), " a=b-c ");
  EXPECT_EQ(cell("\x1b[2J\x7f \xc2\x9b"
                 "31m"),
            "\xef\xbf\xbd[2J\xef\xbf\xbd \xef\xbf\xbd"
            "31m");
  EXPECT_EQ(cell("a\tb"), "a\tb");
  EXPECT_EQ(cell("a\xe2\x80\xae"), "a\xef\xbf\xbd") << "turns the direction of writing";
  EXPECT_EQ(cell("a\n ::error::x"), "\"a\n \xef\xbf\xbd:error::x\"") << "a build server's command";
}

}  // namespace
}  // namespace sluice
