#include "coordinator/session/past_suite.hpp"

#include "common/hash.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::past_suite_test {
namespace {

class Results final : public ResultSource {
 public:
  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override {
    for (const CommittedTrial& one : trials) {
      if (one.trial >= first) visit(one);
    }
    return {};
  }
  std::vector<CommittedTrial> trials{};
};

Case text_case(const std::string& id, const std::string& content = "") {
  Case one;
  one.id = id;
  one.category = "old";
  one.kind = CaseKind::text;
  one.content = content.empty() ? "ask " + id : content;
  one.expectations.emplace_back().what = {MetricId::must_contain, {"x"}};
  return one;
}

Plan plan_of(const Suite& suite, std::uint32_t repeats = 1) {
  RequestSettings settings;
  settings.provider.name = "openai";
  settings.model = "m";
  TrialDesign design;
  design.repeats = repeats;
  return *Plan::make(suite, PromptTemplate{}, Ontology(), settings, std::move(design));
}

CommittedTrial scored(TrialId trial, const Digest& key, const std::vector<MetricOutcome>& outcomes) {
  CommittedTrial one{trial, {}};
  one.unit.unit = trial;
  one.unit.key = key;
  one.unit.scores = {{trial, outcomes, {}}};
  return one;
}

const MetricOutcome failed{MetricId::must_contain, std::nullopt, false, "not found"};
const MetricOutcome half{MetricId::rouge_n, 0.5, std::nullopt, ""};
using Outcomes = std::optional<std::map<std::string, CaseOutcome>>;

TEST(PastSuite, KeepsTheTestsThatTheRunHadAndWhatTheyAskFor) {
  Suite suite;
  suite.cases.push_back(text_case("a"));
  Case judged = text_case("b");
  judged.expectations.front().what.metric = MetricId::rubric;
  suite.cases.push_back(judged);
  suite.cases.push_back(text_case("c"));
  suite.metrics = {MetricId::must_contain, MetricId::rubric};
  const std::vector<AskedCase> then{{"a", 1, 1}, {"d", 1, 2}};
  ASSERT_TRUE(keep_asked(then, {}, suite));
  ASSERT_EQ(suite.cases.size(), 1u);
  EXPECT_EQ(suite.cases.id(0), "a");
  EXPECT_EQ(suite.metrics, std::vector{MetricId::must_contain}) << "nothing left is judged";
  RunArm arm;
  arm.arm.name = "mini";
  ASSERT_TRUE(keep_asked(std::vector<AskedCase>{{"a@mini", 1, 1}}, std::vector{arm}, suite));
  EXPECT_EQ(suite.cases.size(), 1u);
}

TEST(PastSuite, WhatIsGoneOrChangedStandsInItsPlace) {
  Suite suite;
  suite.cases.push_back(text_case("a"));
  suite.cases.push_back(text_case("b"));
  suite.cases.push_back(text_case("d", "ask another thing"));
  suite.metrics = {MetricId::must_contain};
  const Plan now = plan_of(suite);
  Results results;
  results.trials = {scored(0, now.key(0), {failed}), scored(1, now.key(1), {half, failed}),
                    scored(2, sha256("gone"), {half}), scored(3, sha256("asked otherwise"), {failed})};
  const std::vector<AskedCase> then{{"a", 1, 1}, {"b", 1, 2}, {"c", 1, 3}, {"d", 1, 4}};
  SharedCases shared;
  shared.otherwise = {"b", "d"};
  shared.lost = {"c"};
  const Outcomes outcomes(
      std::in_place, std::map<std::string, CaseOutcome>{{"c", {2, "c", CaseStatus::fail, {"rouge_n 0.50"}}}});
  const auto past = put_back({then, results, outcomes}, shared, &now, {}, suite);
  ASSERT_TRUE(past);
  ASSERT_EQ(suite.cases.size(), 4u);
  EXPECT_EQ(suite.metrics, (std::vector{MetricId::must_contain, MetricId::rouge_n}));
  EXPECT_EQ(past->find(0), nullptr);
  EXPECT_EQ((*suite.cases.read(0))->expectations.front().what.texts, std::vector<std::string>{"x"});

  const Case& changed = **suite.cases.read(1);
  EXPECT_FALSE(past->find(1)->is_gone);
  EXPECT_EQ(past->find(1)->status, CaseStatus::pass) << "nothing is noted of it";
  EXPECT_EQ(changed.content, "ask b") << "which is what it asked";
  ASSERT_EQ(changed.expectations.size(), 2u);
  EXPECT_EQ(changed.expectations[0].what.metric, MetricId::rouge_n) << "as its results have it";
  EXPECT_TRUE(changed.expectations[1].what.texts.empty());

  const Case& gone = **suite.cases.read(2);
  EXPECT_EQ(gone.id, "c");
  EXPECT_TRUE(past->find(2)->is_gone);
  EXPECT_EQ(past->find(2)->status, CaseStatus::fail);
  EXPECT_EQ(past->find(2)->missed, std::vector<std::string>{"rouge_n 0.50"});
  EXPECT_EQ(gone.content, "");

  const Case& asked_otherwise = **suite.cases.read(3);
  EXPECT_EQ(asked_otherwise.content, "") << "what it asks now is not what it asked";
  EXPECT_EQ(asked_otherwise.category, "old");

  const Plan whole = plan_of(suite);
  EXPECT_TRUE(numbers_now(then, whole.trials()).empty());
  PastCases cases = *past;
  ASSERT_TRUE(mark_asked_otherwise(whole, results, cases));
  EXPECT_EQ(cases.asked_otherwise, (std::vector<bool>{false, false, true, true}));
}

TEST(PastSuite, ClaimsStandForAsManyAsWereExpected) {
  Suite suite;
  Results results;
  ClaimsScore claims;
  claims.missing = {0, 2};
  claims.matched = {{1, 0}};
  claims.forbidden = {{3, 0}};
  CommittedTrial one = scored(0, {}, {{MetricId::claims_recall, 1.0 / 3, std::nullopt, ""}});
  one.unit.scores.front().claims = claims;
  results.trials = {one};
  const std::vector<AskedCase> then{{"a", 1, 1}};
  SharedCases shared;
  shared.lost = {"a"};
  const auto past = put_back({then, results, Outcomes()}, shared, nullptr, {}, suite);
  ASSERT_TRUE(past);
  const Case& form = **suite.cases.read(0);
  EXPECT_EQ(form.kind, CaseKind::claims);
  EXPECT_EQ(form.must_contain.size(), 3u);
  EXPECT_EQ(form.must_not_contain.size(), 4u);
  EXPECT_TRUE(form.expectations.empty()) << "as of a fixture";
  EXPECT_EQ(past->find(0)->status, std::nullopt) << "nobody noted any";
}

TEST(PastSuite, ATestUnderItsArmsHasOneNumber) {
  Suite suite;
  RunArm mini;
  mini.arm.name = "mini";
  RunArm nano;
  nano.arm.name = "nano/x";
  const std::vector arms{mini, nano};
  suite.cases = suite.cases.under(std::vector{mini.arm, nano.arm});
  const std::vector<AskedCase> then{{"a@mini", 1, 1}, {"a@nano/x", 1, 1}, {"b@mini", 1, 1}};
  SharedCases shared;
  for (const AskedCase& one : then) shared.lost.push_back(one.id);
  ASSERT_TRUE(put_back({then, Results(), Outcomes()}, shared, nullptr, arms, suite));
  EXPECT_EQ(suite.cases.arm(1), 1u);
  EXPECT_EQ((*suite.cases.read(0))->test, (*suite.cases.read(1))->test);
  EXPECT_NE((*suite.cases.read(0))->test, (*suite.cases.read(2))->test);
}

TEST(PastSuite, PerturbedTrialsOfALostTextHaveNoNumber) {
  TrialTable now(2);
  ASSERT_TRUE(now.add_case());
  ASSERT_TRUE(now.add_case(1));
  const std::vector<AskedCase> then{{"gone", 4, 1}, {"same", 4, 2}};
  EXPECT_EQ(numbers_now(then, now), (std::vector<RenumberedTrials>{{0, 0, 2}, {4, 2, 4}}));
}

}  // namespace
}  // namespace sluice::past_suite_test
