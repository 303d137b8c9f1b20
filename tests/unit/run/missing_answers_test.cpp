// What a run does and says where no cache holds an answer.
#include "coordinator/run/run_errors.hpp"
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

TEST(RunErrors, MissingAnswersAreCountedAsPeopleCount) {
  const auto words = [](std::size_t cases, const std::vector<UnitId>& units, TrialDesign design = {}) {
    const Suite suite = make_suite(cases);
    const std::string message =
        missing_answers(make_plan(suite, std::move(design)), units, {Reason::cache_miss, "the reason"})
            .message;
    return message.substr(0, message.find(';'));
  };
  EXPECT_EQ(words(1, {0}), "no cache holds the answer of the only case (case-0)");
  EXPECT_EQ(words(4, {0}), "no cache holds the answer of 1 of 4 cases (case-0)");
  EXPECT_EQ(words(4, {0, 1}), "no cache holds the answers of 2 of 4 cases (case-0, case-1)");
  TrialDesign repeated;
  repeated.repeats = 2;
  EXPECT_EQ(words(1, {1}, repeated), "no cache holds the answer of 1 of 2 trials (case-0 (repeat 2))");
}

TEST(RunErrors, AMissingVoteIsNotCalledAMissingAnswer) {
  Suite suite = make_suite(1);
  suite.cases.held(0).expectations = {{{MetricId::semantic_similarity_to, {"text"}}, {}, {}}};
  const auto message =
      missing_answers(make_plan(suite), {0}, {Reason::cache_miss, "the cache does not hold a vote"}).message;
  EXPECT_TRUE(
      message.starts_with("no cache holds all that is needed for "
                          "the only case (case-0): the cache does not hold a vote; the same command with "))
      << message;
}

// The candidate's answers were called missing where the baseline's were.
TEST(RunErrors, ARunThatGradesSaysWhatItsCachesLack) {
  const Suite suite = make_suite(1);
  const auto message = missing_answers(make_plan(suite), {0},
                                       {Reason::cache_miss, "the baseline's answer did not come: none"}, true)
                           .message;
  EXPECT_EQ(
      message,
      "no cache holds all that is needed for the only case (case-0): the baseline's answer did not come: "
      "none; the same command with `--mode live` asks for it");
}

TEST_F(RunControllerTest, ACacheMissIsOfferedToTheOthersAndThenFinal) {
  config.settings.mode = Mode::cached;
  begin();
  join("p", 1, 10);
  EXPECT_TRUE(leased(join("q", 2, 10), "q").empty()) << "p holds all of them";
  const auto missed = report(
      "p", {failed(0, Reason::cache_miss), failed(1, Reason::cache_miss), failed(2, Reason::cache_miss)});
  EXPECT_EQ(acked(missed, "p").at(0).code, wire::AckCode::retry);
  EXPECT_TRUE(missed.to_record.empty());
  EXPECT_EQ(leased(missed, "q"), (std::vector<UnitId>{0, 1, 2}));
  EXPECT_TRUE(leased(missed, "p").empty());
  record(report("q", {answered(1)}));
  report("q", {failed(2, Reason::cache_miss)});
  EXPECT_FALSE(controller->over());
  report("q", {failed(0, Reason::cache_miss)});
  expect_stopped(Reason::cache_miss);
  const auto message = controller->stopped()->message;
  EXPECT_NE(message.find("3 of 4 cases (case-0, case-2, case-3)"), std::string::npos) << message;
  EXPECT_NE(message.find("--mode live"), std::string::npos);
}

// The run ended at the first miss, and did not say how much it lacked.
TEST_F(RunControllerTest, WhatAnotherProcessMayBeStoringIsCountedAndNobodyIsToldToPay) {
  config.settings.mode = Mode::cached;
  begin();
  join("p", 1, 10);
  report("p", {failed(0, Reason::cache_in_use)});
  EXPECT_FALSE(controller->over());
  record(report("p", {answered(1)}));
  report("p", {failed(2, Reason::cache_in_use)});
  expect_stopped(Reason::cache_in_use);
  EXPECT_EQ(
      controller->stopped()->message,
      "no cache was seen to hold all that is needed for 3 of 4 cases (case-0, case-2, case-3): it failed");
}

TEST_F(RunControllerTest, AMissIsNotFinalWhileSomebodyIsAboutToJoin) {
  config.settings.mode = Mode::cached;
  begin();
  join("p", 1, 10);
  hello("q", 2);
  report("p", {failed(0, Reason::cache_miss), failed(1, Reason::cache_miss), failed(2, Reason::cache_miss)});
  EXPECT_FALSE(controller->over()) << "q may hold what p lacks";
  EXPECT_EQ(leased(ready("q", 10), "q"), (std::vector<UnitId>{0, 1, 2}));
  report("q", {failed(0, Reason::cache_miss), failed(1, Reason::cache_miss), failed(2, Reason::cache_miss)});
  expect_stopped(Reason::cache_miss);
}

TEST_F(RunControllerTest, AMissThatComesAfterItsLeaseWasLostIsFinalToo) {
  config.settings.mode = Mode::cached;
  config.dispatch.lease_time = 1500ms;
  begin();
  join("p", 1, 10);
  for (const auto time : {1000ms, 2000ms}) {
    send("p", wire::Heartbeat{run_id, 0, 0, {}});  // No window: what expires is not leased again.
    tick(time);
  }
  EXPECT_EQ(controller->waiting_count() + controller->started_count(), 0u) << "the leases have expired";
  for (UnitId unit = 0; unit < 3; ++unit) {
    send("p", wire::Report{run_id, 0, {}, {failed(unit, Reason::cache_miss)}});
  }
  expect_stopped(Reason::cache_miss);
}

}  // namespace
}  // namespace sluice
