#include "worker/scoring/label_check.hpp"

#include "common/checks/label_form.hpp"
#include "common/defaults.hpp"
#include "common/model/expectation.hpp"
#include "common/text/text.hpp"
#include "worker/scoring/text_metrics.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::label_check_test {

/// What an answer is read as where `refund` is expected: the label, or nothing, and why it does not pass.
std::string read(const std::string& answer, const std::string& path = "") {
  const TextExpectation what{MetricId::label,
                             {"refund", path, "refund", "billing", "Other topic", "5", "true"}};
  EXPECT_TRUE(is_complete(what));
  const TextChecker checker;
  const auto outcome = checker.assess(answer, what);
  if (!outcome) return "error: " + outcome.error().message;
  EXPECT_EQ(outcome->passed, outcome->label == "refund");
  EXPECT_EQ(*outcome->passed, outcome->detail.empty());
  return outcome->label + (outcome->detail.empty() ? "" : "|" + outcome->detail);
}

TEST(LabelCheck, ReadsALabelInTheClothesThatModelsPutOnIt) {
  for (const char* answer : {"refund",
                             " \n refund\t",
                             "Refund",
                             "REFUND.",
                             "\"refund\"",
                             "'refund'.",
                             "\"Refund.\"",
                             "**refund**",
                             "*refund*",
                             "_refund_",
                             "__Refund.__",
                             "***refund***",
                             "`refund`",
                             "**\"refund\".**",
                             "```\nrefund\n```",
                             "```text\nRefund.\n```\n",
                             "\u201crefund\u201d",
                             "\u00abrefund\u00bb",
                             "\u201eRefund.\u201c",
                             "\u201erefund\u201d",
                             "\u2039refund\u203a",
                             "\u201drefund\u201d",
                             "\u201arefund\u2018",
                             "\u00bbrefund\u00ab.",
                             "\u300crefund\u300d"})
    EXPECT_EQ(read(answer), "refund") << answer;
  EXPECT_EQ(read("other  topic"), "|\"other  topic\" is none of the labels") << "blanks within it count";
  EXPECT_EQ(read("OTHER TOPIC."), "Other topic|Other topic, not refund");
}

TEST(LabelCheck, SaysWhatTheAnswerIsInstead) {
  EXPECT_EQ(read("billing"), "billing|billing, not refund");
  EXPECT_EQ(read("I think it is billing"), "|\"I think it is billing\" is none of the labels");
  EXPECT_EQ(read("refund, or billing"), "|\"refund, or billing\" is none of the labels");
  EXPECT_EQ(read("**refund"), "|\"**refund\" is none of the labels");
  EXPECT_EQ(read("refund.."), "|\"refund..\" is none of the labels") << "one full stop";
  EXPECT_EQ(read("\"\"refund\"\""), "|\"\\\"\\\"refund\\\"\\\"\" is none of the labels") << "one pair";
  for (const char* nothing : {"", " ", ".", "\"", "\"\"", "*", "**", "****", "`", "```", "```\n```", "_._"})
    EXPECT_TRUE(read(nothing).starts_with("|")) << nothing;
}

TEST(LabelCheck, TakesTheLabelOutOfJson) {
  EXPECT_EQ(read(R"({"intent": "Refund"})", "/intent"), "refund");
  EXPECT_EQ(read("```json\n{\"intent\": \"refund\"}\n```", "/intent"), "refund");
  EXPECT_EQ(read(R"({"intents": [{"name": "billing"}]})", "/intents/0/name"), "billing|billing, not refund");
  EXPECT_EQ(read(R"({"stars": 5})", "/stars"), "5|5, not refund");
  EXPECT_EQ(read(R"({"a/b": true})", "/a~1b"), "true|true, not refund");
  EXPECT_EQ(read("refund", "/intent"), "|\"refund\" is not JSON with a label at /intent");
  EXPECT_EQ(read("{\"intent\": \"ref", "/intent"),
            "|\"{\\\"intent\\\": \\\"ref\" is not JSON with a label at /intent");
  EXPECT_EQ(read("{}", "/intent"), "|there is no label at /intent of \"{}\"");
  EXPECT_EQ(read(R"({"intent": ["refund"]})", "/intent"),
            "|there is no label at /intent of \"{\\\"intent\\\": [\\\"refund\\\"]}\"");
  EXPECT_EQ(read(R"({"intent": null})", "/intent"),
            "|there is no label at /intent of \"{\\\"intent\\\": null}\"");
  EXPECT_EQ(read(R"([1])", "/99999999999999999999999"),
            "|there is no label at /99999999999999999999999 of \"[1]\"");
  EXPECT_EQ(read(std::string(200'000, '['), "/0").substr(0, 2), "|\"") << "too deep to be walked";
}

TEST(LabelCheck, TurnedRoundPassesForAnotherLabelAlone) {
  const TextExpectation what{MetricId::not_label, {"refund", "", "refund", "billing"}};
  EXPECT_TRUE(is_complete(what));
  const TextChecker checker;
  EXPECT_EQ(*checker.assess("**Billing.**", what), (MetricOutcome{MetricId::not_label, {}, true, ""}));
  EXPECT_EQ(*checker.assess("Refund.", what),
            (MetricOutcome{MetricId::not_label, {}, false, "it must not be refund"}));
  EXPECT_EQ(
      *checker.assess("I think it is billing", what),
      (MetricOutcome{MetricId::not_label, {}, false, "\"I think it is billing\" is none of the labels"}));
  EXPECT_EQ(checker.assess("", what)->passed, false);
}

// A label that is itself in quotes or ends in a full stop is compared as its answers are.
TEST(LabelCheck, LabelsHaveTheFormOfTheirAnswers) {
  const TextExpectation what{MetricId::label, {"e.g.", "", "e.g.", "\u00c4rger"}};
  const TextChecker checker;
  EXPECT_EQ(checker.assess("E.g.", what)->label, "e.g.");
  EXPECT_EQ(checker.assess("\u00e4rger", what)->label, "\u00c4rger") << "letters of every alphabet";
  EXPECT_EQ(*label_form("*"), "*");
  EXPECT_EQ(*label_form("."), "");
  EXPECT_EQ(*label_form(std::string(10'000, 'a')), "") << "no label";
}

RC_GTEST_PROP(LabelCheck, EveryAnswerIsReadAsOneOfTheLabelsOrNone, ()) {
  const auto part =
      rc::gen::element<std::string>("refund", "a", ".", "\"", "'", "*", "_", "`", "```", "\n", " ", "\u201c",
                                    "\u201d", "{\"intent\":", "}", "\xff", "\u00c4");
  std::string answer;
  for (const std::string& one : *rc::gen::container<std::vector<std::string>>(part)) answer += one;
  for (const std::string path : {"", "/intent"}) {
    const auto outcome = assess_label(MetricId::label, answer, {"refund", path, "refund", "a"});
    RC_ASSERT(outcome.has_value());
    RC_ASSERT(outcome->label.empty() || outcome->label == "refund" || outcome->label == "a");
    RC_ASSERT(outcome->passed == (outcome->label == "refund"));
    RC_ASSERT(outcome->detail.size() <= defaults::max_detail_bytes && !invalid_utf8_at(outcome->detail));
    RC_ASSERT(outcome->detail.find('\n') == std::string::npos);
  }
}

RC_GTEST_PROP(LabelCheck, AFormIsThatOfItsClothes, ()) {
  const auto word = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z')));
  RC_PRE(word.size() <= most_label_bytes);
  const std::vector<std::pair<std::string, std::string>> clothes{
      {"", ""}, {"**", "**"}, {"\"", "\""}, {"`", "`"}, {"_", "_"}, {"", "."}, {"```\n", "\n```"}};
  const auto around = *rc::gen::elementOf(clothes);
  RC_ASSERT(*label_form(around.first + word + around.second) == word);
}

}  // namespace sluice::label_check_test
