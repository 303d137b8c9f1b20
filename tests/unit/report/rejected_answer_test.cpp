#include "tests/unit/report/report_texts.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;
using sample::SampleRun;

TEST(RejectedAnswer, AnAnswerThatCannotBeReadIsSeenInEveryReport) {
  SampleRun run;
  run.source.trials[4].unit.error = Error{Reason::unparsable_answer, "the answer is not JSON (byte 1)"};
  run.source.trials[4].unit.shown_text = "Sorry, I cannot help <with> that";
  const Aggregates aggregates = run.aggregates();
  const ReportInput input = run.input(aggregates);
  EXPECT_EQ(json::parse(json_of(input))["fixture_results"][4]["answer_text"],
            "Sorry, I cannot help <with> that");
  const std::string table = table_of(input, {.columns = 100});
  EXPECT_NE(table.find("Answer:"), std::string::npos) << table;
  EXPECT_NE(table.find("Sorry, I cannot help <with> that"), std::string::npos) << table;
  const std::string markdown = markdown_of(input);
  EXPECT_NE(markdown.find("\n  - Answer: `Sorry, I cannot help <with> that`\n"), std::string::npos)
      << markdown;
  const std::string junit = junit_of(input);
  EXPECT_NE(junit.find("(byte 1)&#10;Answer: Sorry, I cannot help &lt;with&gt; that&#10;</error>"),
            std::string::npos)
      << junit;
}

TEST(RejectedAnswer, AnErrorWithoutAnAnswerHasNoLineForIt) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  const ReportInput input = run.input(aggregates);
  EXPECT_EQ(table_of(input, {.columns = 100}).find("Answer:"), std::string::npos);
  EXPECT_EQ(markdown_of(input).find("Answer:"), std::string::npos);
  EXPECT_EQ(junit_of(input).find("Answer:"), std::string::npos);
}

}  // namespace
}  // namespace sluice
