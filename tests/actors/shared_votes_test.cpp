// Votes that several units, workers or runs have a part in.
#include "tests/actors/judging_flow_fixture.hpp"

namespace sluice {
namespace shared_votes_test {

TEST_F(JudgingFlowTest, AVoteThatIsRenewedIsSoughtAtOtherWorkers) {
  caches_hold_nothing = false;
  start(true);
  for (const bool refreshes_all : {false, true}) {
    settings.judge.refresh = !refreshes_all;
    settings.read_cache = !refreshes_all;
    restart();
    complete({judged(1, 1)});
    if (const auto made = calls(); !made.empty()) end_calls({said(made[0].id, "answer")});
    const auto keys = sought();
    ASSERT_EQ(keys.size(), 1u);
    EXPECT_EQ(keys[0].kind, EntryKind::vote);
    EXPECT_TRUE(calls().empty()) << "another may have renewed it";
    auto elsewhere = AnswerCache::open(folder_.path() / (refreshes_all ? "other" : "elsewhere"));
    ASSERT_TRUE(elsewhere) << elsewhere.error().message;
    AnswerStore other(std::move(*elsewhere), {});
    const double score = refreshes_all ? 0.75 : 0.25;
    Completion vote{R"({"score":)" + std::to_string(score) + "}", "stop", "m", {10, 5}, 0, {}};
    ASSERT_TRUE(other.store_vote(keys[0].digest, vote));
    found(keys[0], other.lend(keys[0]));
    EXPECT_EQ(scores_of(only_outcome()), std::vector<double>{score});
    complete({judged(2, 1)});
    if (const auto made = calls(); !made.empty()) end_calls({said(made[0].id, "answer")});
    EXPECT_TRUE(sought().empty()) << "this run has it";
    EXPECT_TRUE(calls().empty());
    EXPECT_EQ(scores_of(only_outcome()), std::vector<double>{score});
  }
}

TEST_F(JudgingFlowTest, AVoteThatComesTooLateIsKeptForTheNextRun) {
  settings.case_timeout = 10s;
  start(true);
  const auto votes = ask_and_answer(judged(1, 1));
  ASSERT_EQ(votes.size(), 1u);
  pass(10s + 100ms);
  EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  end_calls({voted(votes[0], 0.6)});
  const auto late = worker.take<UnitsReturned>();
  ASSERT_EQ(late.size(), 1u) << "it was paid for, whoever needs it";
  EXPECT_TRUE(late[0].units.empty());
  ASSERT_EQ(late[0].spent.size(), 1u);
  EXPECT_EQ(late[0].spent[0].unit, 1u);
  EXPECT_EQ(late[0].spent[0].spend.calls, 1u);
  EXPECT_EQ(late[0].spent[0].spend.paid.of(CallKind::judge), (Usage{10, 5}));
  restart();
  complete({judged(1, 1)});
  EXPECT_TRUE(calls().empty()) << "it was paid for";
  EXPECT_EQ(scores_of(only_outcome()), std::vector<double>{0.6});
}

TEST_F(JudgingFlowTest, OthersHaveMoreTimeThanTheFirstWhoWaits) {
  settings.case_timeout = 10s;
  settings.request_timeout = 20s;
  start();
  complete({judged(1, 1)});
  const auto slow = only_call();
  pass(6s);
  complete({judged(2, 1)});
  const auto quick = only_call();
  end_calls({said(slow, "same"), said(quick, "same")});
  const auto vote = only_call();
  pass(4s);
  fail_call(vote, HttpFailure::Kind::timed_out);
  const auto again = only_call();
  pass(200ms);
  const auto late = only_outcome();
  EXPECT_EQ(late.unit->unit, 1u);
  EXPECT_EQ(reason_of(late), Reason::timed_out);
  end_calls({said(again, R"({\"score\":1})")});
  EXPECT_EQ(only_outcome().unit->unit, 2u);
}

TEST_F(JudgingFlowTest, AnotherWorkersVoteIsTakenAndItsOwnIsReported) {
  caches_hold_nothing = false;
  start(true);
  complete({judged(1, 2)});
  end_calls({said(only_call(), "answer")});
  const auto keys = sought();
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].kind, EntryKind::vote);
  EXPECT_TRUE(calls().empty()) << "another may have them";
  // The first is nobody's: this worker pays. The second comes from elsewhere.
  found(keys[0], "");
  const auto call = only_call();
  end_calls({said(call, R"({\"score\":0.25})")});
  sought();
  ASSERT_EQ(stored.size(), 1u);
  const auto paid = store->find_vote(keys[0].digest);
  ASSERT_TRUE(paid && *paid);
  auto elsewhere = AnswerCache::open(folder_.path() / "elsewhere");
  ASSERT_TRUE(elsewhere) << elsewhere.error().message;
  AnswerStore other(std::move(*elsewhere), {});
  Completion vote = **paid;
  vote.text = R"({"score":0.75})";
  ASSERT_TRUE(other.store_vote(keys[1].digest, vote));
  found(keys[1], other.lend(keys[1]));
  const auto done = only_outcome();
  auto scores = scores_of(done);
  std::ranges::sort(scores);
  EXPECT_EQ(scores, (std::vector<double>{0.25, 0.75}));
  EXPECT_TRUE(calls().empty());
  EXPECT_EQ(done.spend.paid.of(CallKind::judge), (Usage{10, 5})) << "what was lent is not paid for";
}

// The unit waited for its other vote, and then its error was the case's result.
TEST_F(JudgingFlowTest, WhenTheRunIsOverAFailedVoteOfSeveralGivesBackItsUnit) {
  start();
  const auto votes = ask_and_answer(judged(1, 2));
  ASSERT_EQ(votes.size(), 2u);
  answer(votes[0].id, 503, "down");
  caf::anon_send(client, WindDown{now() + 20s});
  settle();
  EXPECT_TRUE(worker.take<UnitsReturned>().empty()) << "the other vote is paid for";
  end_calls({voted(votes[1], 0.9)});
  EXPECT_TRUE(outcomes().empty());
  const auto returned = worker.take<UnitsReturned>();
  ASSERT_EQ(returned.size(), 1u);
  EXPECT_EQ(returned[0].units, std::vector<UnitId>{1});
  ASSERT_EQ(returned[0].spent.size(), 1u);
  EXPECT_EQ(returned[0].spent[0].spend.calls, 3u);
  EXPECT_EQ(returned[0].spent[0].spend.paid.of(CallKind::judge), (Usage{10, 5}));
}

TEST_F(JudgingFlowTest, CancelEndsVotesToo) {
  start();
  const auto votes = ask_and_answer(judged(1));
  caf::anon_send(client, CancelCalls{});
  settle();
  EXPECT_EQ(http.take<HttpCancel>().size(), 3u);
  end_calls({voted(votes[0], 1.0)});
  pass(20min);
  EXPECT_TRUE(outcomes().empty());
  EXPECT_TRUE(calls().empty());
}

}  // namespace shared_votes_test
}  // namespace sluice
