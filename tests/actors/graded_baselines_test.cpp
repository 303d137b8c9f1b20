// What becomes of the baseline's answer that a grade has called for.
#include "tests/actors/grading_flow_fixture.hpp"

namespace sluice {
namespace graded_baselines_test {

// What a run of the baseline's model had pinned was gone, whether the pair had a grade or not.
TEST_F(GradingFlowTest, ABaselinesAnswerIsReplacedOnceItsPairIsGraded) {
  grade_by(GradeJudge::llm);
  start(true);
  const auto cached = [this] { return cached_baseline(); };
  const auto judge = [this](const std::vector<HttpCall>& judged) {
    ASSERT_EQ(judged.size(), 2u);
    end_calls({compared(judged[0], 0.5), compared(judged[1], 0.5)});
  };
  judge(answer_both(question(1), "Rome", "Paris"));
  EXPECT_EQ(pinned_by(only_outcome()), answer_digest(cached()));
  EXPECT_EQ(cached().text, "Paris");

  settings.read_cache = false;
  restart();
  answer_both(question(1), "Oslo", "Lyon");
  EXPECT_EQ(cached().text, "Paris") << "what the ledger pins, until there is a grade";
  restart();
  const auto judged = answer_both(question(1), "Oslo", "Nice");
  EXPECT_EQ(cached().text, "Paris");
  judge(judged);
  EXPECT_EQ(cached().text, "Nice");
  EXPECT_EQ(pinned_by(only_outcome()), answer_digest(cached()));

  settings.read_cache = true;
  restart();
  complete({question(1)});
  EXPECT_TRUE(is_zero(pinned_by(only_outcome()))) << "it is pinned already";
}

// The cache kept an older answer, which no run takes any more: the baseline's was paid for again in each run.
TEST_F(GradingFlowTest, ABaselinesAnswerIsKeptWhereItsComparisonFails) {
  grade_by(GradeJudge::llm);
  start(true);
  Completion older{"Lyon", "stop", "m-1", {}, 1, {}};
  Completion refused{"", "stop", "m-1", {}, 2, Error{Reason::refusal, "declined"}};
  const std::array there{KeyedAnswer{baseline_key(), &older}, KeyedAnswer{baseline_key(), &refused}};
  ASSERT_TRUE(store->store(there));
  const auto judged = answer_both(question(1), "Rome", "Paris");
  ASSERT_EQ(judged.size(), 2u);
  end_calls({compared(judged[0], 0.5), said(judged[1].id, "B is better")});
  for (int i = 0; i < 2; ++i) end_calls({said(only_call(), "B is better")});
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::grade_unparsable);
  EXPECT_EQ(cached_baseline().text, "Paris");
  EXPECT_EQ(pinned_by(done), answer_digest(cached_baseline())) << "what is replaced may be pinned";
  restart();
  complete({question(1)});
  const auto again = calls();
  EXPECT_FALSE(again.empty());
  for (const HttpCall& call : again)
    EXPECT_EQ(body_of(call)["model"], "judge-1") << "both answers were paid for";
}

TEST_F(GradingFlowTest, ABaselinesAnswerReplacesAnotherWhereTimeEndsAndNoneWhereTheRunEnds) {
  grade_by(GradeJudge::llm);
  settings.case_timeout = 10s;
  settings.read_cache = false;
  start(true);
  for (const auto& judged : answer_both(question(1), "Rome", "Paris")) end_calls({compared(judged, 0.5)});
  EXPECT_EQ(pinned_by(only_outcome()), answer_digest(cached_baseline()));
  restart();
  const auto refused = answer_both(question(1), "Rome", "Nice");
  ASSERT_EQ(refused.size(), 2u);
  end_calls({answered(refused[0].id, 401, "{}"), answered(refused[1].id, 401, "{}")});
  const auto ended = only_outcome();
  EXPECT_EQ(reason_of(ended), Reason::key_refused);
  EXPECT_TRUE(is_zero(pinned_by(ended)));
  EXPECT_EQ(cached_baseline().text, "Paris") << "such a result is not recorded";
  restart();
  answer_both(question(1), "Rome", "Oslo");
  pass(10s + 100ms);
  const auto late = only_outcome();
  EXPECT_EQ(reason_of(late), Reason::timed_out);
  EXPECT_EQ(cached_baseline().text, "Oslo");
  EXPECT_EQ(pinned_by(late), answer_digest(cached_baseline()));
}

TEST_F(GradingFlowTest, ABaselineThatComesTooLateIsKeptForTheNextRun) {
  settings.case_timeout = 10s;
  start(true);
  complete({question(1)});
  end_calls({said(only_call(), "Paris")});
  const auto late = only_call();
  pass(10s + 100ms);
  EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  end_calls({said(late, "Paris")});
  const auto spent = worker.take<UnitsReturned>();
  ASSERT_EQ(spent.size(), 1u);
  ASSERT_EQ(spent[0].spent.size(), 1u);
  EXPECT_EQ(spent[0].spent[0].unit, 1u);
  EXPECT_EQ(spent[0].spent[0].spend.paid.of(CallKind::baseline), (Usage{10, 5}));
  restart();
  complete({question(1)});
  EXPECT_TRUE(calls().empty()) << "it was paid for";
  EXPECT_EQ(grade_of(only_outcome()).grade.quality_score, 1.0);
}

// What was paid for it was in nobody's costs.
TEST_F(GradingFlowTest, ABaselineThatComesForNobodyIsPaidByItsUnit) {
  settings.case_timeout = 10s;
  start();
  complete({question(1)});
  end_calls({said(only_call(), "Paris")});
  const auto late = only_call();
  pass(10s + 100ms);
  EXPECT_EQ(only_outcome().spend.paid.of(CallKind::baseline), Usage());
  end_calls({said(late, "Paris")});
  const auto spent = worker.take<UnitsReturned>();
  ASSERT_EQ(spent.size(), 1u);
  ASSERT_EQ(spent[0].spent.size(), 1u);
  EXPECT_EQ(spent[0].spent[0].unit, 1u);
  EXPECT_EQ(spent[0].spent[0].spend.paid.of(CallKind::baseline), (Usage{10, 5}));
  EXPECT_TRUE(answer_both(question(2), "Rome", "Rome").empty());
  EXPECT_EQ(only_outcome().spend.paid.of(CallKind::baseline), (Usage{10, 5}));
  EXPECT_TRUE(worker.take<UnitsReturned>().empty()) << "once";
}

}  // namespace graded_baselines_test
}  // namespace sluice
