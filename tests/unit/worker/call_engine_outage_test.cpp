// Providers that fail: what is said of them, and what calls do until they are back.
#include "tests/unit/worker/call_engine_fixture.hpp"

namespace sluice {
namespace call_engine_outage_test {

TEST_F(CallEngineTest, WhyAProviderThatNeverAnswersFailsIsSaidOnce) {
  std::vector<CallProblem> problems;
  for (std::uint64_t failures = 1; failures <= 5; ++failures) {
    submit(failures);
    done(calls().at(0).id, 500, "no model is loaded");
    const auto said = turn().problems;
    EXPECT_EQ(said.size(), failures == 3 ? 1u : 0u) << "after failure " << failures;
    problems.insert(problems.end(), said.begin(), said.end());
  }
  ASSERT_EQ(problems.size(), 1u);
  const std::string& message = problems[0].message;
  EXPECT_NE(message.find("calls to provider \"a\" fail: "), std::string::npos) << message;
  EXPECT_NE(message.find("no model is loaded"), std::string::npos) << message;
  EXPECT_EQ(problems[0].provider, "a") << "the log's lines have it";
}

// The first calls of a run go out together. That a limit refused four of them was said here, and by the
// coordinator.
TEST_F(CallEngineTest, CallsThatAreRefusedTogetherAreOneFailure) {
  for (std::uint64_t id = 1; id <= 4; ++id) submit(id);
  std::vector<std::uint64_t> sent;
  for (const HttpCall& call : calls()) sent.push_back(call.id);
  ASSERT_EQ(sent.size(), 4u);
  for (int wave = 1; wave <= 3; ++wave) {
    for (const auto id : sent) done(id, 429, "limit of 10 tokens");
    EXPECT_EQ(turn().problems.size(), wave == 3 ? 1u : 0u) << "of wave " << wave;
    pass(8s);
    turn();
  }
}

TEST_F(CallEngineTest, WhyAnOutageBeganIsSaidAndStandsInWhatItEnds) {
  submit(1);
  done(calls().at(0).id, 200);
  submit(2);
  done(calls().at(0).id, 503, "out of memory");
  EXPECT_TRUE(turn().problems.empty()) << "one failure is nothing to tell";
  wire::Grant outage = permits({}, now);
  outage.hold = wire::HoldReason::outage;
  grant({outage});
  const auto said = turn().problems;
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].message.find("out of memory"), std::string::npos) << said[0].message;
  EXPECT_TRUE(turn().problems.empty());
  outage.hold = wire::HoldReason::given_up;
  engine.take_ended();
  grant({outage});
  const auto ended = only_end();
  ASSERT_TRUE(ended.error);
  EXPECT_NE(ended.error->message.find("out of memory"), std::string::npos) << ended.error->message;
}

// The last case waited for up to a minute at a provider that answered all others.
TEST_F(CallEngineTest, TheEndOfAnOutageEndsBackOffsButOfWhatFailsAlone) {
  const auto outage_comes_and_goes = [&] {
    auto outage = permits({}, now);
    outage.hold = wire::HoldReason::outage;
    grant({outage});
    EXPECT_TRUE(calls().empty());
    grant({unlimited("a")});
  };
  submit(1);
  const auto first = calls().at(0).id;
  done(first, 503, "down");
  outage_comes_and_goes();
  const auto again = calls();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id, first);
  done(first, 503, "down");
  submit(2);
  done(calls().at(0).id, 200);
  outage_comes_and_goes();
  EXPECT_TRUE(calls().empty()) << "another was answered meanwhile";
}

TEST_F(CallEngineTest, AProbeAfterLostCallsGoesByAConnectionOfItsOwn) {
  using Kind = HttpFailure::Kind;
  std::uint64_t permit = 0;
  const auto probe = [&] {
    auto outage = permits({++permit}, now);
    outage.hold = wire::HoldReason::outage;
    outage.permits[0].probe = true;
    grant({outage});
    return calls().at(0);
  };
  const auto lose = [&](std::uint64_t id, Kind kind) {
    HttpDone lost;
    lost.id = id;
    lost.started = kind != Kind::permit_expired;
    lost.failure = HttpFailure{kind, "gone"};
    engine.on_done(lost, now, {});
  };
  submit(1);
  lose(calls().at(0).id, Kind::timed_out);
  submit(2);
  auto next = probe();
  EXPECT_TRUE(next.fresh_connection);
  lose(next.id, Kind::permit_expired);
  next = probe();
  EXPECT_FALSE(next.fresh_connection) << "the one that took too long is there now";
  lose(next.id, Kind::connection_lost);
  next = probe();
  EXPECT_TRUE(next.fresh_connection);
  done(next.id, 503, "out of memory");
  EXPECT_FALSE(probe().fresh_connection) << "it answers, if only that it is down";
}

}  // namespace call_engine_outage_test
}  // namespace sluice
