// What a worker says of connections that are refused: each cause once, by the best reason that is known.
#include "common/transport/refusals.hpp"

#include "common/transport/curve.hpp"
#include "common/transport/defaults.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace sluice::refusals_test {

const std::string endpoint = "tcp://127.0.0.1:5555";
const FleetKey key{"gpu-7", "public", "secret", {"coordinator"}};

Refusal hang_up() {
  return handshake_problem(ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL, 0, endpoint, key).value();
}
Refusal no_agreement(const std::optional<FleetKey>& own = key) {
  return handshake_problem(ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL, ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH,
                           endpoint, own)
      .value();
}
Refusal not_listed() {
  return handshake_problem(ZMQ_EVENT_HANDSHAKE_FAILED_AUTH, 400, endpoint, key).value();
}

/// How many of so many hang-ups in a row are to be logged.
int logged_hang_ups(Refusals& refusals, int count) {
  int logged = 0;
  for (int i = 0; i < count; ++i) logged += refusals.on_refusal(hang_up()).is_to_log ? 1 : 0;
  return logged;
}

// Two warnings: what it may be, and what it is.
TEST(Refusals, AHangUpBeforeTheExactReasonIsNotLogged) {
  Refusals refusals;
  EXPECT_TRUE(refusals.on_refusal(hang_up()).is_another) << "the worker may end before more is known";
  EXPECT_EQ(refusals.why(), hang_up().why);
  EXPECT_EQ(logged_hang_ups(refusals, defaults::hang_ups_in_a_row - 2), 0);
  const auto exact = refusals.on_refusal(no_agreement());
  EXPECT_TRUE(exact.is_to_log);
  EXPECT_TRUE(exact.is_another);
  EXPECT_EQ(refusals.why(), no_agreement().why);
  EXPECT_FALSE(refusals.on_refusal(no_agreement()).is_to_log);
}

TEST(Refusals, AHangUpAfterTheExactReasonLeavesItAlone) {
  Refusals refusals;
  EXPECT_TRUE(refusals.on_refusal(no_agreement()).is_to_log);
  EXPECT_FALSE(refusals.on_refusal(hang_up()).is_another);
  EXPECT_EQ(refusals.why(), no_agreement().why);
  EXPECT_EQ(logged_hang_ups(refusals, 3 * defaults::hang_ups_in_a_row), 0) << "one cause, one warning";
  EXPECT_EQ(refusals.why(), hang_up().why) << "by now it may be another coordinator";
}

TEST(Refusals, ManyHangUpsAreLoggedOnceAndStandForTheExactReason) {
  Refusals refusals;
  EXPECT_EQ(logged_hang_ups(refusals, defaults::hang_ups_in_a_row - 1), 0);
  EXPECT_EQ(logged_hang_ups(refusals, 3 * defaults::hang_ups_in_a_row), 1);
  const auto exact = refusals.on_refusal(no_agreement());
  EXPECT_FALSE(exact.is_to_log);
  EXPECT_TRUE(exact.is_another) << "the worker's last words name it";
}

TEST(Refusals, AKeyThatIsNotListedIsAMatterOfItsOwn) {
  Refusals refusals;
  EXPECT_EQ(logged_hang_ups(refusals, defaults::hang_ups_in_a_row), 1);
  EXPECT_TRUE(refusals.on_refusal(not_listed()).is_to_log);
  EXPECT_FALSE(refusals.on_refusal(not_listed()).is_to_log);
}

TEST(Refusals, AreLoggedAnewOnceTheCoordinatorWasHeard) {
  Refusals refusals;
  EXPECT_TRUE(refusals.on_refusal(no_agreement()).is_to_log);
  refusals.clear();
  EXPECT_TRUE(refusals.why().empty());
  EXPECT_TRUE(refusals.on_refusal(no_agreement()).is_to_log);
}

// A worker at a port of something else only said that the coordinator was silent.
TEST(Refusals, OfWhoHangsUpAWorkerWithoutAKeyIsToldToo) {
  const auto hung_up = handshake_problem(ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL, 0, endpoint, std::nullopt);
  ASSERT_TRUE(hung_up);
  EXPECT_EQ(hung_up->cause, Refusal::Cause::hang_up);
  for (const std::string& words : {endpoint, std::string("no coordinator"), std::string("--connect")})
    EXPECT_NE(hung_up->why.find(words), std::string::npos) << hung_up->why;
}

TEST(Refusals, WhatIsWrongGoesByHowFarAConnectionCame) {
  EXPECT_LT(stage_of(ZMQ_EVENT_CONNECT_DELAYED), stage_of(ZMQ_EVENT_CLOSED));
  EXPECT_LT(stage_of(ZMQ_EVENT_CLOSED), stage_of(ZMQ_EVENT_CONNECTED));
  EXPECT_LT(stage_of(ZMQ_EVENT_CONNECTED), stage_of(ZMQ_EVENT_HANDSHAKE_SUCCEEDED));
  EXPECT_EQ(stage_of(ZMQ_EVENT_HANDSHAKE_FAILED_AUTH), ConnectionStage::none);
  EXPECT_NE(unanswered(ConnectionStage::tried, endpoint)->find("firewall"), std::string::npos);
  EXPECT_NE(unanswered(ConnectionStage::failed, endpoint)->find("is refused"), std::string::npos);
  EXPECT_NE(unanswered(ConnectionStage::open, endpoint)->find("does not greet"), std::string::npos);
  for (const auto stage : {ConnectionStage::none, ConnectionStage::greeted})
    EXPECT_FALSE(unanswered(stage, endpoint)) << "a coordinator that is silent, or a name that is not known";
}

TEST(Refusals, NameWhatToDoOnEitherSide) {
  EXPECT_NE(no_agreement().why.find("start this worker without a key"), std::string::npos);
  EXPECT_NE(no_agreement(std::nullopt).why.find("--fleet-key FILE"), std::string::npos);
  EXPECT_NE(not_listed().why.find("sluice keys allow gpu-7 'public'"), std::string::npos);
  EXPECT_NE(unlisted_key("public", " --home here").find("`sluice keys allow NAME 'public' --home here`"),
            std::string::npos);
}

}  // namespace sluice::refusals_test
