// A third kind of call, made here: what it takes is this one class, and nothing in worker/calls/.
#include "worker/units/unit_flow.hpp"

#include "tests/unit/worker/fake_request.hpp"

#include <map>

#include <gtest/gtest.h>

namespace sluice {
namespace unit_flow_test {

/// Asks a second provider for its opinion of each answer.
class Votes final : public Enricher {
 public:
  Votes(const RunSettings&, std::shared_ptr<AnswerStore>, CallEngine& engine, std::uint32_t owner)
      : engine_(engine), owner_(owner) {}

  std::optional<std::variant<Evidence, Error>> begin(std::uint64_t unit, const WorkUnit& work,
                                                     std::string_view answer, TimePoint deadline,
                                                     const Moment& moment) override {
    if (work.request.user == "no votes") return Evidence{};
    auto& vote = votes_.try_emplace(unit, std::string(answer), "b").first->second;
    deadlines_[unit] = deadline;
    engine_.submit(vote, {owner_, unit}, deadline, moment);
    return std::nullopt;
  }
  void start_calls(const Moment&) override {}
  void on_call_ended(const CallEnded& ended, const Moment& /*moment*/,
                     std::vector<Enriched>& outcomes) override {
    votes_.erase(ended.context.id);
    if (deadlines_.erase(ended.context.id) == 0) return;  // Its unit is gone.
    auto& outcome = outcomes.emplace_back();
    outcome.unit = ended.context.id;
    outcome.spend = ended.spend;
    if (ended.error) outcome.result = *ended.error;
  }
  TimePoint deadline(std::uint64_t unit, TimePoint) override { return deadlines_.at(unit); }
  Spend leave(std::uint64_t unit) override {
    deadlines_.erase(unit);  // The vote itself goes on: it is paid for.
    return {};
  }
  Error late() const override { return {Reason::timed_out, "no vote came"}; }
  void cancel() override {
    votes_.clear();
    deadlines_.clear();
  }

 private:
  CallEngine& engine_;
  std::uint32_t owner_;
  std::map<std::uint64_t, FakeRequest> votes_;
  std::map<std::uint64_t, TimePoint> deadlines_;
};

std::unique_ptr<Enricher> make_votes(const RunSettings& settings, std::shared_ptr<AnswerStore> store,
                                     CallEngine& engine, std::uint32_t owner, const KeyMask& /*keys*/) {
  return std::make_unique<Votes>(settings, std::move(store), engine, owner);
}

struct UnitFlowTest : testing::Test {
  UnitFlowTest() {
    flow.on_budget(granted({unlimited("a"), unlimited("b")}, now), now);
    flow.turn(now);
  }

  static UnitFlowConfig config() {
    UnitFlowConfig config;
    config.settings = two_providers();
    config.credentials = {{"a", ""}, {"b", ""}};
    config.store = std::make_shared<AnswerStore>(std::nullopt, std::vector<AnswerCache>());
    config.max_concurrent = 2;
    return config;
  }
  static std::vector<MakeEnricher> kinds() {
    auto kinds = every_enricher();
    kinds.push_back(make_votes);
    return kinds;
  }
  static SharedUnit unit(UnitId id, std::string user = "question", std::vector<ScoringTask> tasks = {}) {
    WorkUnit work;
    work.tasks = std::move(tasks);
    work.unit = id;
    work.key = sha256(std::to_string(id));
    work.request.provider = "a";
    work.request.model = "m";
    work.request.user = std::move(user);
    return std::make_shared<const WorkUnit>(std::move(work));
  }
  /// Ends a call of the model's with a text, or one of a vote with its own answer.
  void answer(const HttpCall& call, int status = 200) {
    const bool is_vote = call.request.url.starts_with("http://b");
    HttpDone done;
    done.id = call.id;
    done.response.status = status;
    done.response.body = is_vote
                             ? "yes"
                             : R"({"choices":[{"message":{"content":"the answer"},"finish_reason":"stop"}],)"
                               R"("usage":{"prompt_tokens":10,"completion_tokens":5}})";
    flow.on_done(done, now, std::chrono::system_clock::time_point());
  }
  void refuse(const HttpCall& call) {
    HttpDone done;
    done.id = call.id;
    done.response.status = 200;
    done.response.body =
        R"({"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]})";
    flow.on_done(done, now, std::chrono::system_clock::time_point());
  }
  void pass(Duration time) {
    now = {now.now + time, now.boot + std::chrono::duration_cast<BootTime>(time)};
    flow.on_budget(granted({}, now), now);
  }

  Moment now = moment_at(0s);
  UnitFlow flow{config(), kinds()};
};

TEST_F(UnitFlowTest, AUnitIsCompleteOnceEveryEnricherIs) {
  flow.add({unit(1)});
  auto turn = flow.turn(now);
  ASSERT_EQ(turn.engine.calls.size(), 1u);
  EXPECT_EQ(turn.started, std::vector<UnitId>{1});
  answer(turn.engine.calls[0]);
  turn = flow.turn(now);
  ASSERT_EQ(turn.engine.calls.size(), 1u);
  EXPECT_EQ(turn.engine.calls[0].request.body, "the answer") << "what is voted on";
  EXPECT_TRUE(turn.completed.empty());
  pass(2s);
  answer(turn.engine.calls[0]);
  turn = flow.turn(now);
  ASSERT_EQ(turn.completed.size(), 1u);
  const auto& done = turn.completed[0];
  EXPECT_EQ(std::get<Completion>(done.outcome).text, "the answer");
  EXPECT_EQ(done.spend.calls, 2u) << "the answer's and the vote's";
  EXPECT_EQ(done.spend.latency_ms, 1u) << "the answer's own";
}

TEST_F(UnitFlowTest, AnEnricherThatNeedsNothingHoldsNobody) {
  flow.add({unit(1, "no votes")});
  answer(flow.turn(now).engine.calls.at(0));
  EXPECT_EQ(flow.turn(now).completed.size(), 1u);
}

TEST_F(UnitFlowTest, ARefusalIsVotedOnForTheTasksThatCheckForOne) {
  const ScoringTask plain{1, {}, {}, 0.0, false, {{MetricId::must_contain, {"x"}}}};
  const ScoringTask checks{2, {}, {}, 0.0, false, {{MetricId::refusal}}};
  flow.add({unit(1, "question", {plain})});
  refuse(flow.turn(now).engine.calls.at(0));
  auto turn = flow.turn(now);
  EXPECT_TRUE(turn.engine.calls.empty()) << "nothing is paid for an error";
  ASSERT_EQ(turn.completed.size(), 1u);
  EXPECT_EQ(turn.completed[0].unit->tasks.size(), 1u);

  flow.add({unit(2, "question", {plain, checks})});
  refuse(flow.turn(now).engine.calls.at(0));
  turn = flow.turn(now);
  ASSERT_EQ(turn.engine.calls.size(), 1u);
  EXPECT_EQ(turn.engine.calls[0].request.body, "No.") << "what is voted on";
  answer(turn.engine.calls[0]);
  turn = flow.turn(now);
  ASSERT_EQ(turn.completed.size(), 1u);
  EXPECT_EQ(turn.completed[0].unit->unit, 2u);
  ASSERT_EQ(turn.completed[0].unit->tasks.size(), 1u);
  EXPECT_EQ(turn.completed[0].unit->tasks[0].trial, 2u);
  EXPECT_TRUE(std::get<Completion>(turn.completed[0].outcome).non_answer);
}

TEST_F(UnitFlowTest, ARecordedAnswerCallsTheToolsThatItCalled) {
  WorkUnit work = *unit(1, "no votes");
  work.recorded = RecordedAnswer{"called", "m", {}, {{"", "look_up", "{}"}}};
  flow.add({std::make_shared<const WorkUnit>(std::move(work))});
  const auto turn = flow.turn(now);
  ASSERT_EQ(turn.completed.size(), 1u);
  EXPECT_EQ(std::get<Completion>(turn.completed[0].outcome).calls,
            (std::vector<ToolCall>{{"", "look_up", "{}"}}));
}

TEST_F(UnitFlowTest, AnErrorOfAnEnricherIsTheUnits) {
  flow.add({unit(1)});
  answer(flow.turn(now).engine.calls.at(0));
  answer(flow.turn(now).engine.calls.at(0), 400);
  const auto turn = flow.turn(now);
  ASSERT_EQ(turn.completed.size(), 1u);
  EXPECT_EQ(std::get<Error>(turn.completed[0].outcome).reason, Reason::request_refused);
  EXPECT_EQ(turn.completed[0].spend.calls, 2u);
}

TEST_F(UnitFlowTest, NoEnricherHoldsAUnitBeyondItsTime) {
  flow.add({unit(1)});
  answer(flow.turn(now).engine.calls.at(0));
  ASSERT_EQ(flow.turn(now).engine.calls.size(), 1u);
  pass(60s);
  EXPECT_TRUE(flow.turn(now).completed.empty()) << "the vote's own end knows more, and goes first";
  pass(100ms);
  const auto turn = flow.turn(now);
  ASSERT_EQ(turn.completed.size(), 1u);
  EXPECT_EQ(std::get<Error>(turn.completed[0].outcome).message, "no vote came");
}

TEST_F(UnitFlowTest, AUnitThatWaitsForItsVotesCountsAsUnderWay) {
  flow.add({unit(1), unit(2), unit(3)});
  auto turn = flow.turn(now);
  ASSERT_EQ(turn.engine.calls.size(), 2u);
  answer(turn.engine.calls[0]);
  turn = flow.turn(now);
  ASSERT_EQ(turn.engine.calls.size(), 1u);
  EXPECT_EQ(turn.engine.calls[0].request.body, "the answer");
  answer(turn.engine.calls[0]);
  turn = flow.turn(now);
  EXPECT_EQ(turn.completed.size(), 1u);
  EXPECT_EQ(turn.started, std::vector<UnitId>{3}) << "what ends makes room";
}

// Two bad cases would have held both places for half a minute.
TEST_F(UnitFlowTest, WhatFailsLeavesItsPlaceToOthers) {
  flow.add({unit(1, "no votes"), unit(2, "no votes"), unit(3, "no votes"), unit(4, "no votes"),
            unit(5, "no votes")});
  const auto made = flow.turn(now).engine.calls;
  ASSERT_EQ(made.size(), 2u);
  answer(made[0], 503);
  EXPECT_EQ(flow.turn(now).started, std::vector<UnitId>{3}) << "it shows whether this is an outage";
  answer(made[1]);
  EXPECT_EQ(flow.turn(now).started, std::vector<UnitId>{4});
}

TEST_F(UnitFlowTest, WhatHasNoCallUnderWayCanBeWithdrawn) {
  auto none = unlimited("a");
  none.places = 1;
  flow.on_budget(granted({none}, now), now);
  flow.add({unit(1), unit(2), unit(3)});
  ASSERT_EQ(flow.turn(now).engine.calls.size(), 1u);
  flow.withdraw({1, 2, 7}, now);
  auto turn = flow.turn(now);
  EXPECT_EQ(turn.returned, std::vector<UnitId>{2}) << "the first is being called for";
  EXPECT_EQ(turn.started, std::vector<UnitId>{3}) << "and there is room for the next one";
  flow.wind_down();
  EXPECT_EQ(flow.turn(now).returned, std::vector<UnitId>{3});
}

TEST_F(UnitFlowTest, AWithdrawnUnitWhoseCallFailsIsNotCalledForAgain) {
  flow.add({unit(1), unit(2)});
  const auto made = flow.turn(now).engine.calls;
  ASSERT_EQ(made.size(), 2u);
  flow.withdraw({1}, now);
  answer(made[0], 503);
  answer(made[1], 503);
  EXPECT_EQ(flow.turn(now).returned, std::vector<UnitId>{1});
  pass(10s);
  EXPECT_EQ(flow.turn(now).engine.calls.size(), 1u) << "the other one is tried again";
}

// --- winding down with answers that wait for their votes ---

struct WindingDown : UnitFlowTest {
  /// Brings units to their votes, which are returned.
  std::vector<HttpCall> votes_for(std::vector<SharedUnit> units) {
    flow.add(std::move(units));
    for (const auto& call : flow.turn(now).engine.calls) answer(call);
    return flow.turn(now).engine.calls;
  }
  /// Given back with what was paid for it, and no error.
  static void expect_returned(const FlowTurn& turn, UnitId unit) {
    EXPECT_TRUE(turn.completed.empty());
    EXPECT_EQ(turn.returned, std::vector<UnitId>{unit});
    ASSERT_EQ(turn.spent.size(), 1u);
    EXPECT_EQ(turn.spent[0].unit, unit);
    EXPECT_EQ(turn.spent[0].spend.paid.of(CallKind::answer), (Usage{10, 5}));
  }
};

// It became an error of the case, which a run that goes on took for its result.
TEST_F(WindingDown, AVoteThatFailsWhenTheRunIsOverLeavesTheUnitToWhoeverGoesOn) {
  const auto votes = votes_for({unit(1), unit(2)});
  ASSERT_EQ(votes.size(), 2u);
  answer(votes[0], 503);
  flow.turn(now);  // It backs off.
  flow.wind_down(now.now + 5s);
  auto turn = flow.turn(now);
  expect_returned(turn, 1);
  EXPECT_EQ(turn.spent.at(0).spend.calls, 2u);
  answer(votes[1], 503);
  expect_returned(flow.turn(now), 2);
  pass(10s);
  EXPECT_TRUE(flow.turn(now).engine.calls.empty());
}

TEST_F(WindingDown, WhatIsNotThereAtTheEndOfTheRunIsGivenBackWithWhatWasPaid) {
  ASSERT_EQ(votes_for({unit(1)}).size(), 1u);
  flow.wind_down(now.now + 5s);
  auto turn = flow.turn(now);
  EXPECT_TRUE(turn.completed.empty());
  EXPECT_EQ(turn.engine.wake, now.now + 5s);
  pass(5s);
  expect_returned(flow.turn(now), 1);
}

TEST_F(WindingDown, AVoteThatNobodyWouldGetIsTheUnitsErrorAlsoThen) {
  const auto votes = votes_for({unit(1)});
  flow.wind_down(now.now + 5s);
  answer(votes.at(0), 400);
  const auto turn = flow.turn(now);
  EXPECT_TRUE(turn.returned.empty());
  ASSERT_EQ(turn.completed.size(), 1u);
  EXPECT_EQ(std::get<Error>(turn.completed[0].outcome).reason, Reason::request_refused);
}

TEST_F(WindingDown, AnAnswerThatComesStillGetsItsVote) {
  flow.add({unit(1)});
  const auto call = flow.turn(now).engine.calls.at(0);
  flow.wind_down(now.now + 5s);
  flow.turn(now);
  answer(call);
  const auto votes = flow.turn(now).engine.calls;
  ASSERT_EQ(votes.size(), 1u);
  answer(votes[0]);
  const auto turn = flow.turn(now);
  ASSERT_EQ(turn.completed.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Completion>(turn.completed[0].outcome));
}

TEST_F(WindingDown, InARunThatGoesOnAVoteThatFailsLeavesTheUnitToOthers) {
  const auto votes = votes_for({unit(1), unit(2)});
  ASSERT_EQ(votes.size(), 2u);
  flow.wind_down();
  answer(votes[0], 503);
  answer(votes[1], 400);
  const auto turn = flow.turn(now);
  EXPECT_EQ(turn.returned, std::vector<UnitId>{1});
  ASSERT_EQ(turn.spent.size(), 1u) << "the other one has it in its result";
  EXPECT_EQ(turn.spent[0].unit, 1u);
  EXPECT_EQ(turn.spent[0].spend.paid.of(CallKind::answer), (Usage{10, 5})) << "it was paid for";
  EXPECT_EQ(turn.spent[0].spend.calls, 2u);
  ASSERT_EQ(turn.completed.size(), 1u) << "nobody else would do better";
  EXPECT_EQ(turn.completed[0].unit->unit, 2u);
  pass(10s);
  EXPECT_TRUE(flow.turn(now).engine.calls.empty());
}

TEST_F(UnitFlowTest, CancelReachesEveryKindOfCall) {
  flow.add({unit(1), unit(2, "no votes")});
  auto turn = flow.turn(now);
  answer(turn.engine.calls.at(0));
  const auto vote = flow.turn(now).engine.calls.at(0);
  EXPECT_EQ(flow.cancel().size(), 2u);
  answer(vote);
  pass(10min);
  turn = flow.turn(now);
  EXPECT_TRUE(turn.completed.empty() && turn.engine.calls.empty());
}

}  // namespace unit_flow_test
}  // namespace sluice
