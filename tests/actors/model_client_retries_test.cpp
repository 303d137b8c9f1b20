// When a call is made again: back-offs, named delays, pauses, and the time of the case.
#include "tests/actors/model_client_fixture.hpp"

namespace sluice {
namespace {

TEST_F(ModelClientTest, RetriesAfterABackOff) {
  start();
  complete(1);
  answer(only_call(), 500, "oops");
  EXPECT_TRUE(outcomes().empty());
  pass(500ms);
  answer_claims(only_call());
  const auto done = only_outcome();
  EXPECT_TRUE(std::holds_alternative<Completion>(done.outcome));
  EXPECT_EQ(done.spend.calls, 2u);
  EXPECT_EQ(done.spend.retries, 1u);
  EXPECT_EQ(done.spend.latency_ms, 1u) << "of the try that was answered";
}

TEST_F(ModelClientTest, GivesUpWhenTheRetriesAreSpent) {
  start();
  complete(1);
  for (int call = 0; call < 6; ++call) {
    answer(only_call(), 503, "busy");
    pass(16s);
  }
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::provider_failed);
  EXPECT_NE(std::get<Error>(done.outcome).message.find("6 calls"), std::string::npos);
  EXPECT_EQ(done.spend.calls, 6u);
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientTest, NoCallStartsBeforeTheTimeThatTheServerNamed) {
  start();
  for (UnitId id = 1; id <= 3; ++id) complete(id);
  const auto first = calls();
  ASSERT_EQ(first.size(), 3u);
  answer(first[0].id, 429, "slow down", {{"retry-after", "7"}});
  const auto told = demands();
  ASSERT_EQ(told.size(), 1u) << "at once";
  EXPECT_EQ(told[0].provider, "openai");
  EXPECT_EQ(told[0].pause_ms, 7000u);
  answer(first[1].id, 500, "its own back-off is shorter");
  answer_claims(first[2].id);
  complete(4);
  pass(6999ms);
  EXPECT_TRUE(calls().empty()) << "neither the one that was refused nor any other";
  pass(1ms);
  EXPECT_EQ(calls().size(), 3u);
}

TEST_F(ModelClientTest, ANamedDelaySpendsNoAttempt) {
  start();
  complete(1);
  for (int i = 0; i < 20; ++i) {
    answer(only_call(), 429, "slow down", {{"retry-after", "1"}});
    pass(1s);
  }
  answer_claims(only_call());
  const auto done = only_outcome();
  EXPECT_TRUE(std::holds_alternative<Completion>(done.outcome));
  EXPECT_EQ(done.spend.rate_limited, 20u);
}

TEST_F(ModelClientTest, APauseOfTheGovernorIsKeptUntilItSaysOtherwise) {
  start();
  budget(true, {paused(3000)});
  complete(1);
  pass(1s);
  budget(true, {paused(2000)});
  pass(1s);
  budget(true, {paused(500)});
  pass(499ms);
  EXPECT_TRUE(calls().empty());
  pass(1ms);
  only_call();
}

TEST_F(ModelClientTest, WhoIsCutOffStartsNoCall) {
  start();
  complete(1);
  const auto in_flight = only_call();
  budget(false);
  complete(2);
  answer(in_flight, 500, "oops");
  pass(30s);
  EXPECT_TRUE(calls().empty());
  EXPECT_TRUE(outcomes().empty());
  budget(true, {unlimited()});
  EXPECT_EQ(calls().size(), 2u);
}

TEST_F(ModelClientTest, ACaseThatPausesHoldBeyondItsTimeEnds) {
  settings.case_timeout = 10s;
  start();
  budget(true, {paused(9'000)});
  complete(1);
  pass(5s);
  budget(true, {paused(9'000)});
  pass(4999ms);
  EXPECT_TRUE(outcomes().empty());
  pass(1ms);
  EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientTest, ANamedDelayBeyondTheCasesTimeEndsItAtOnce) {
  settings.case_timeout = 10s;
  start();
  complete(1);
  pass(4s);
  answer(only_call(), 429, "later", {{"retry-after", "6"}});
  const auto done = only_outcome();
  EXPECT_EQ(reason_of(done), Reason::rate_limited);
  EXPECT_NE(std::get<Error>(done.outcome).message.find("time of the case"), std::string::npos);
}

TEST_F(ModelClientTest, ACallGetsNoMoreTimeThanTheCaseHasLeft) {
  settings.case_timeout = 10s;
  start();
  complete(1);
  const auto first = calls();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].total_timeout, 10s);
  pass(4s);
  answer(first[0].id, 429, "later", {{"retry-after", "2"}});
  pass(2s);
  EXPECT_EQ(calls().at(0).total_timeout, 4s);
}

// Each waiting call once set a timer of its own, and each timer that fired set one for each call that still
// waited: their number doubled with every back-off.
TEST_F(ModelClientTest, ManyBackOffsTakeFewTurns) {
  start();
  constexpr UnitId units = 60;
  for (UnitId id = 0; id < units; ++id) complete(id);
  for (const auto& call : calls()) answer(call.id, 503, "busy");
  const auto turns = pass(501ms);
  EXPECT_EQ(calls().size(), units);
  EXPECT_LE(turns, 6 * units);
}

}  // namespace
}  // namespace sluice
