#include "coordinator/report/html/xml_text.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/golden.hpp"
#include "tests/unit/report/perturbed_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;
using sample::GatedSample;
using sample::SampleRun;

/// What xmllint says of a text; empty if it is well-formed and fits tests/support/junit.xsd.
std::string complaints_about(const std::string& xml) {
  std::string name = (fs::temp_directory_path() / "sluice-junit-XXXXXX").string();
  const fs::path folder = ::mkdtemp(name.data());
  std::ofstream(folder / "report.xml", std::ios::binary) << xml;
  const std::string command =
      "xmllint --noout --nonet --schema '" + support::source_path("tests/support/junit.xsd") + "' '" +
      (folder / "report.xml").string() + "' >'" + (folder / "output").string() + "' 2>&1";
  const int outcome = std::system(command.c_str());
  std::ifstream output(folder / "output", std::ios::binary);
  const std::string words((std::istreambuf_iterator<char>(output)), std::istreambuf_iterator<char>());
  fs::remove_all(folder);
  return outcome == 0 ? "" : "exit " + std::to_string(outcome) + ": " + words;
}

/// The value of an attribute of the first element of that name.
std::string attribute_of(const std::string& xml, const std::string& element, const std::string& name) {
  const auto start = xml.find('<' + element + ' ');
  const auto at = xml.find(' ' + name + "=\"", start);
  const auto value = at + name.size() + 3;
  return at < xml.find('>', start) ? xml.substr(value, xml.find('"', value) - value) : "(none)";
}

// Every count beside what it counts.
void expect_counts(const std::string& xml) {
  for (const char* element : {"testsuites", "testsuite"}) {
    EXPECT_EQ(attribute_of(xml, element, "tests"), std::to_string(occurrences(xml, "<testcase ")));
    EXPECT_EQ(attribute_of(xml, element, "failures"), std::to_string(occurrences(xml, "<failure ")));
    EXPECT_EQ(attribute_of(xml, element, "errors"), std::to_string(occurrences(xml, "<error ")));
  }
  EXPECT_EQ(occurrences(xml, "<testsuite "), 1u);
}

TEST(JunitReport, FitsTheSchemaWithEveryKindOfCase) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  const std::string plain = junit_of(run.input(aggregates));
  EXPECT_EQ(complaints_about(plain), "");
  expect_counts(plain);
  EXPECT_EQ(attribute_of(plain, "testsuite", "tests"), "7");
  EXPECT_EQ(attribute_of(plain, "testsuite", "timestamp"), "2026-02-05T14:30:00");
  const GatedSample gated;
  const Aggregates of_gated = gated.aggregates();
  const std::string xml = junit_of(gated.input(of_gated));
  EXPECT_EQ(complaints_about(xml), "");
  expect_counts(xml);
  EXPECT_EQ(occurrences(xml, "type=\"regression\""), 2u);
  EXPECT_EQ(occurrences(xml, "type=\"rate_limited\""), 1u);
}

// Build servers showed the cases as taking no time.
TEST(JunitReport, ACaseHasTheTimeOfItsCalls) {
  GatedSample run;
  run.source.trials[0].unit.spend.latency_ms = 61'234;
  run.source.trials[6].unit.spend.latency_ms = 5;
  const Aggregates aggregates = run.aggregates();
  const std::string xml = junit_of(run.input(aggregates));
  EXPECT_EQ(complaints_about(xml), "");
  EXPECT_NE(xml.find(" name=\"greet-001: Greets by name\" time=\"61.234\"><failure "), std::string::npos)
      << xml;
  EXPECT_NE(xml.find(" name=\"tls-001: Lost\" time=\"0.005\"><error "), std::string::npos) << xml;
  EXPECT_NE(xml.find(" name=\"greet-003\"><"), std::string::npos) << "nobody was called for it: " << xml;
  EXPECT_EQ(attribute_of(xml, "testsuite", "time"), "11.500");
}

TEST(JunitReport, TheTimeOfACaseHasEachOfItsAnswersOnce) {
  using enum sample::Reply;
  sample::PerturbedRun run({it, it, it, it, it, it, it, it, it, it});
  for (CommittedTrial& one : run.source.trials) one.unit.spend.latency_ms = 100u << one.trial;
  run.source.trials[3].unit.unit = run.source.trials[1].unit.unit;
  const RunResults results = run.results();
  const auto aggregates = aggregate(results, {});
  ASSERT_TRUE(aggregates);
  const std::string xml = junit_of(sample::input_of(results, *aggregates));
  EXPECT_NE(xml.find(" name=\"a-1: one\" time=\"0.700\">"), std::string::npos) << xml;
}

TEST(JunitReport, AFailureOfTheComparisonIsATestcaseOfItsOwn) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate = sample::beside_manifest(aggregates, 0.4, 0.36, 0.5);
  input.verdict = sample::verdict_on(input);
  const std::string xml = junit_of(input);
  EXPECT_EQ(complaints_about(xml), "");
  expect_counts(xml);
  EXPECT_EQ(attribute_of(xml, "testsuite", "tests"), "8");
  EXPECT_NE(xml.find("F1 dropped by 13.64 points"), std::string::npos) << xml;
}

// --strict ended such runs with exit code 1, and the file was green.
TEST(JunitReport, WhatFailsARunUnderStrictFailsInTheFile) {
  GatedSample gated;
  gated.suite.cases.truncate(5);
  gated.source.trials.resize(5);
  gated.source.trials[0].unit.scores[0].metrics[0].passed = true;
  gated.source.trials[1].unit.scores[0].metrics[0].score = 0.92;
  gated.results.trials = 5;
  const Aggregates aggregates = gated.aggregates();
  ReportInput input = gated.input(aggregates);
  input.gate.notices.clear();
  input.verdict = RunVerdict::review;
  EXPECT_EQ(aggregates.all.statuses, (StatusCounts{.passed = 4, .warned = 1}));
  EXPECT_EQ(attribute_of(junit_of(input), "testsuite", "failures"), "0") << "without --strict it passes";
  input.gate.strict = true;
  std::string xml = junit_of(input);
  EXPECT_EQ(complaints_about(xml), "");
  expect_counts(xml);
  EXPECT_NE(xml.find("no entry in the baseline\" type=\"warn\">"), std::string::npos) << xml;
  EXPECT_NE(
      xml.find("<system-out>REVIEW: 1 of 5 cases warned, 1 improved; exit code 1 because of --strict&#10;"),
      std::string::npos)
      << xml;

  input.gate.statistics.emplace().decision = ChangeDecision::underpowered;
  input.gate.statistics->metrics.emplace_back().decision.decision = ChangeDecision::underpowered;
  xml = junit_of(input);
  EXPECT_EQ(complaints_about(xml), "");
  expect_counts(xml);
  EXPECT_EQ(attribute_of(xml, "testsuite", "failures"), "2");
  EXPECT_NE(xml.find("underpowered: no case has a score on both sides"), std::string::npos) << xml;
}

// The message was a check that had passed.
TEST(JunitReport, AKnownFailureThatPassesSaysWhatToDo) {
  GatedSample gated;
  gated.suite.cases.truncate(1);
  gated.source.trials.resize(1);
  gated.suite.cases.held(0).known_failure = "a gap";
  gated.source.trials[0].unit.scores[0].metrics[0].passed = true;
  gated.results.trials = 1;
  const Aggregates aggregates = gated.aggregates();
  ReportInput input = gated.input(aggregates);
  input.gate.strict = true;
  const std::string xml = junit_of(input);
  EXPECT_NE(xml.find("<failure message=\"Change: passed, though the suite says that it fails: take its "
                     "`known_failure` out; Got: "),
            std::string::npos)
      << xml;
  EXPECT_EQ(xml.find("Expected"), std::string::npos) << xml;
}

// It was named from the suite's folder, and in annotations from the checkout's root.
TEST(JunitReport, AFileIsNamedAsInAnnotations) {
  GatedSample gated;
  gated.suite.cases.held(0).source = "../shared/./a.toml";
  const Aggregates aggregates = gated.aggregates();
  ReportInput input = gated.input(aggregates);
  input.source_folder = "./evals/";
  EXPECT_NE(junit_of(input).find("Source: shared/a.toml:12&#10;"), std::string::npos) << junit_of(input);
}

TEST(JunitReport, ADropWithinTheLimitFailsUnderStrict) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate = sample::beside_manifest(aggregates, 0.42, 0.33, 0.36);
  ASSERT_EQ(input.gate.aggregates->outcome, AggregateOutcome::within_limit);
  EXPECT_EQ(junit_of(input).find("baseline comparison"), std::string::npos);
  input.gate.strict = true;
  const std::string xml = junit_of(input);
  expect_counts(xml);
  EXPECT_NE(xml.find("Precision dropped by 2 points"), std::string::npos) << xml;
}

// Repeats alone were missing, so that no case was an error.
TEST(JunitReport, ARunThatItsBudgetEndedIsNotGreen) {
  SampleRun run;
  run.suite.cases.truncate(1);
  run.source.trials.resize(1);
  run.results.trials = 1;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  ASSERT_EQ(input.verdict, RunVerdict::pass);
  EXPECT_EQ(attribute_of(junit_of(input), "testsuite", "errors"), "0");
  input.facts.cut_short = Error{Reason::token_budget_spent, "it is spent"};
  input.verdict = RunVerdict::error;
  const std::string xml = junit_of(input);
  EXPECT_EQ(complaints_about(xml), "");
  expect_counts(xml);
  EXPECT_NE(xml.find("name=\"run\"><error message=\"the run ended early (token_budget_spent): it is spent\" "
                     "type=\"token_budget_spent\">"),
            std::string::npos)
      << xml;
}

TEST(JunitReport, ForeignTextIsStillXml) {
  GatedSample run;
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::string text = every_byte + "]]> &amp; </failure> \uFFFE \uFFFF \U0001F642 \u0085";
  run.suite.cases.held(0).name = text;
  run.suite.cases.held(0).source = text;
  run.source.trials[0].unit.shown_text = text;
  run.source.trials[6].unit.error->message = text;
  run.suite.name = text;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.identity.model = text;
  input.gate.notices[0].message = text;
  EXPECT_EQ(complaints_about(junit_of(input)), "");
}

TEST(JunitReport, AnEmptyRunIsValidAndNotGreen) {
  SampleRun run;
  run.suite.cases = {};
  run.source.trials.clear();
  run.results.trials = 0;
  run.suite.name.clear();
  const Aggregates aggregates = run.aggregates();
  const std::string xml = junit_of(run.input(aggregates));
  EXPECT_EQ(complaints_about(xml), "");
  expect_counts(xml);
  EXPECT_EQ(attribute_of(xml, "testsuite", "tests"), "1");
  EXPECT_NE(xml.find("<error message=\"there was nothing to run\" type=\"error\">"), std::string::npos)
      << xml;
}

// The schema is ours: it must be able to refuse.
TEST(JunitReport, TheSchemaRefusesWhatConsumersRefuse) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  const std::string good = junit_of(run.input(aggregates));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    const auto at = bad.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? good : bad.replace(at, from.size(), to);
  };
  EXPECT_NE(complaints_about(with("<testcase classname", "<testcase file=\"a\" classname")), "");
  EXPECT_NE(complaints_about(with(" failures=\"3\"", " failures=\"three\"")), "");
  EXPECT_NE(complaints_about(with("<properties>", "<extra/><properties>")), "");
  EXPECT_NE(complaints_about(with(" timestamp=\"2026-02-05T", " timestamp=\"yesterday ")), "");
  EXPECT_NE(complaints_about(with("</testsuites>", "")), "");
  EXPECT_NE(complaints_about(with("Debug auth", "\x01")), "");
}

TEST(XmlText, EscapesWhatXmlCannotHold) {
  EXPECT_EQ(xml_escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;'");
  EXPECT_EQ(xml_escaped("\n\r\t"), "&#10;&#13;&#9;");
  EXPECT_EQ(xml_escaped(std::string_view("\0\x1b\x7f\xff", 4)), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(xml_escaped("\u009b2J\u00a0"), "\uFFFD2J\u00a0") << "a command to a terminal";
  EXPECT_EQ(xml_escaped("\uFFFE\uFFFF\uFFFD証"), "\uFFFD\uFFFD\uFFFD証");
}

TEST(JunitReport, ForeignTextTurnsNoDirection) {
  SampleRun run;
  run.suite.cases.held(1).name = "ab\u202edc\u2066";
  const Aggregates aggregates = run.aggregates();
  const std::string text = junit_of(run.input(aggregates));
  EXPECT_FALSE(has_direction_controls(text)) << text;
  EXPECT_NE(text.find("ab\uFFFDdc\uFFFD"), std::string::npos) << text;
}

}  // namespace
}  // namespace sluice
