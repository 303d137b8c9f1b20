#include "coordinator/report/data/json_cases.hpp"

#include "coordinator/defaults.hpp"
#include "tests/unit/report/judged_run.hpp"
#include "tests/unit/report/report_texts.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// Writes the cases as a visit brings them, as whoever judges a run does.
void visit(const RunResults& results, JsonCases& cases) {
  ASSERT_TRUE(visit_cases(results, [&](const CaseResult& one) { cases.add(one); }));
}

constexpr std::size_t room_for_all = 1u << 30;

void expect_the_report_of_a_visit(ReportInput input, std::size_t max_bytes = room_for_all) {
  const std::string expected = json_of(input);
  JsonCases cases(input.results, max_bytes);
  visit(input.results, cases);
  EXPECT_EQ(cases.are_whole(), max_bytes == room_for_all);
  EXPECT_EQ(cases.kept() > 0, max_bytes > 0 && input.results.trials > 0);
  input.json_cases = &cases;
  EXPECT_EQ(json_of(input), expected);
}

TEST(JsonCases, WrittenAheadMakeTheSameReport) {
  const sample::SampleRun run;
  const Aggregates aggregates = run.aggregates();
  expect_the_report_of_a_visit(run.input(aggregates));
}

TEST(JsonCases, OfJudgedAnswersMakeTheSameReport) {
  const sample::JudgedRun run;
  const Aggregates aggregates = run.aggregates();
  expect_the_report_of_a_visit(run.input(aggregates));
}

TEST(JsonCases, OfARunWithoutCasesMakeTheSameReport) {
  const Suite suite;
  const sample::MemorySource source;
  const Gate gate;
  const RunResults results = sample::results_of(suite, source, gate);
  const Aggregates aggregates = *aggregate(results, {});
  expect_the_report_of_a_visit(sample::input_of(results, aggregates));
}

// A consumer had the answers, and not what they answer.
TEST(JsonReport, HasWhatWasAskedIfThatIsWanted) {
  const sample::JudgedRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  EXPECT_EQ(occurrences(json_of(input), "\"prompt\": "), 0u);
  input.with_inputs = true;
  EXPECT_EQ(occurrences(json_of(input), "\"system_prompt\": \"\", \"prompt\": \"Say hello.\""), 6u)
      << json_of(input);
  const auto redactor = *Redactor::make(std::vector<RedactionPattern>{{"word", "hello"}});
  input.redactor = &redactor;
  EXPECT_EQ(occurrences(json_of(input), "Say hello."), 0u);
}

// Which of a test's many rows a case was had to be read out of its prompt.
TEST(JsonReport, HasTheVariablesOfATestIfInputsAreWanted) {
  sample::JudgedRun run;
  const auto vars = std::make_shared<const Variables>(Variables{{"city", "Paris"}, {"secret", "hello"}});
  for (std::size_t i = 0; i < run.suite.cases.size(); ++i) run.suite.cases.held(i).vars = vars;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  EXPECT_EQ(occurrences(json_of(input), "\"vars\""), 0u);
  input.with_inputs = true;
  EXPECT_EQ(occurrences(json_of(input), R"("vars": {"city": "Paris", "secret": "hello"})"), 6u)
      << json_of(input);
  const auto redactor = *Redactor::make(std::vector<RedactionPattern>{{"word", "hello"}});
  input.redactor = &redactor;
  EXPECT_EQ(occurrences(json_of(input), "\"secret\": \"hello\""), 0u);
}

/// More than stays unpacked.
struct LongRun {
  Suite suite;
  sample::MemorySource source;
  Gate gate;
  RunResults results = sample::results_of(suite, source, gate);

  LongRun() {
    constexpr TrialId count = 6'000;
    for (TrialId i = 0; i < count; ++i) {
      suite.cases.push_back(sample::make_case("tls-" + std::to_string(i), "Case " + std::to_string(i)));
      const auto claim = sample::claim("tls/min_version", "version", "1." + std::to_string(i % 7), 0.5);
      source.trials.push_back(sample::scored(i, i, {claim}, {{}, {}, {0}, {}}, {1200, 300 + i % 50}));
    }
    results.trials = count;
  }
};

TEST(JsonCases, ManyMakeTheSameReport) {
  const LongRun run;
  const Aggregates aggregates = *aggregate(run.results, {});
  const ReportInput input = sample::input_of(run.results, aggregates);
  ASSERT_GT(json_of(input).size(), 4 * defaults::json_block_bytes);
  expect_the_report_of_a_visit(input);
}

TEST(JsonCases, OfTooManyTheFirstAreKept) {
  const LongRun run;
  const Aggregates aggregates = *aggregate(run.results, {});
  const ReportInput input = sample::input_of(run.results, aggregates);
  for (const std::size_t max_bytes : {0, 1, 40'000}) expect_the_report_of_a_visit(input, max_bytes);
}

}  // namespace
}  // namespace sluice
