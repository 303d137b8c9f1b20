#include "coordinator/run/work_leases.hpp"

#include "common/defaults.hpp"
#include "coordinator/run/work_batch.hpp"
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

/// A plan of 3 units, and two workers that are there.
class WorkLeasesTest : public RunControllerTest {
 protected:
  void make(RunBudget::Limits limits = {}) {
    dispatcher.emplace(config.dispatch, config.affinities, std::vector<std::string>());
    lending.emplace(config.settings, 60s);
    budget.emplace(limits, RunPrice());
    leases.emplace(plan, config.settings, pinned, numbers, *dispatcher, *lending, *budget);
    for (const WorkerId worker : {1, 2}) {
      const auto peer = worker == 1 ? "p" : "q";
      roster.admit(peer, {worker, peer, "", "0", 5}, at(0ms));
      dispatcher->join(worker, "", {}, at(0ms));
    }
  }
  std::optional<Error> hand_out() {
    sent_messages.clear();
    leases->release_returned();
    return leases->hand_out(roster, at(now), tally, sent_messages);
  }
  std::vector<WorkUnit> units(const Peer& peer) const {
    std::vector<WorkUnit> found;
    for (const auto& [to, message, in_hand] : sent_messages) {
      if (to == peer) std::ranges::copy(std::get<wire::Work>(message).units, std::back_inserter(found));
    }
    return found;
  }
  std::uint64_t most_of_one() const { return most_of(*plan.render(0)).total(); }

  std::vector<Digest> pinned;
  LeaseNumbers numbers{config.lease_secret, run_id};
  std::optional<Dispatcher> dispatcher;
  std::optional<Lending> lending;
  std::optional<RunBudget> budget;
  std::optional<WorkLeases> leases;
  WorkerRoster roster{10};
  RunTally tally{run_id, TimePoint() + 1h};
  std::vector<ToPeer> sent_messages;
};

TEST_F(WorkLeasesTest, EachWorkerGetsAsManyUnitsAsItHasRoomFor) {
  pinned.assign(plan.unit_count(), sha256("pinned"));
  make();
  dispatcher->set_window(1, 1);
  EXPECT_FALSE(hand_out());
  ASSERT_EQ(units("p").size(), 1u);
  EXPECT_TRUE(units("q").empty()) << "it has asked for nothing";
  EXPECT_EQ(units("p")[0].pinned_answer, sha256("pinned"));
  EXPECT_EQ(units("p")[0].key, plan.key(units("p")[0].unit));
  EXPECT_TRUE(numbers.is_held(1, units("p")[0].unit, units("p")[0].lease));
  dispatcher->set_window(2, 10);
  EXPECT_FALSE(hand_out());
  EXPECT_EQ(units("q").size(), 2u);
  EXPECT_FALSE(hand_out());
  EXPECT_TRUE(sent_messages.empty());
}

// 300 recorded answers of 400 KB were one message, which no worker took, for ever.
TEST(WorkBatch, RecordedAnswersCountInWhatAMessageTakes) {
  std::vector<ToPeer> messages;
  const std::string run = run_id;
  const Peer peer = "p";
  WorkBatch batch(run, peer, messages);
  for (UnitId id = 0; id < 256; ++id) {
    WorkUnit unit;
    unit.unit = id;
    unit.recorded = RecordedAnswer{std::string(400'000, 'x'), "", {}};
    batch.add(std::move(unit));
  }
  batch.finish();
  std::size_t units = 0;
  for (const auto& [to, message, in_hand] : messages) {
    const auto& work = std::get<wire::Work>(message).units;
    units += work.size();
    EXPECT_LE(work.size() * 400'000, defaults::max_bytes_per_work + 400'000);
  }
  EXPECT_EQ(units, 256u);
}

// 256 tests, each with a schema of 300 KB of its own, were one message, which no worker took, for ever.
TEST(WorkBatch, SchemasCountInWhatAMessageTakesAndEqualOnesOnce) {
  const auto messages_of = [](bool is_equal) {
    std::vector<ToPeer> messages;
    const std::string run = run_id;
    const Peer peer = "p";
    WorkBatch batch(run, peer, messages);
    for (UnitId id = 0; id < 8; ++id) {
      WorkUnit unit;
      unit.unit = id;
      unit.request.response_schema =
          share(std::string(300'000, is_equal ? 's' : static_cast<char>('a' + id)));
      batch.add(std::move(unit));
    }
    batch.finish();
    return messages.size();
  };
  EXPECT_EQ(messages_of(false), 2u);
  EXPECT_EQ(messages_of(true), 1u);
}

TEST_F(WorkLeasesTest, WhatTheBudgetDoesNotAllowWaitsForCallsUnderWay) {
  make({most_of_one(), std::nullopt});
  dispatcher->set_window(1, 10);
  EXPECT_FALSE(hand_out());
  ASSERT_EQ(units("p").size(), 1u);
  EXPECT_TRUE(leases->waits_for_budget());
  EXPECT_EQ(dispatcher->pending_count(), 2u) << "they can go to others";
  const auto unit = units("p")[0].unit;
  dispatcher->leave(1);  // It had not begun with it: nothing was paid.
  dispatcher->set_window(2, 10);
  EXPECT_FALSE(hand_out());
  EXPECT_EQ(units("q").size(), 1u) << "what unit " << unit << " had reserved is free again";
}

TEST_F(WorkLeasesTest, ASpentBudgetEndsTheRunOnceNothingIsUnderWay) {
  make({most_of_one() - 1, std::nullopt});
  dispatcher->set_window(1, 10);
  const auto problem = hand_out();
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, Reason::token_budget_spent);
  EXPECT_TRUE(sent_messages.empty());
  EXPECT_FALSE(leases->waits_for_budget());
}

TEST_F(WorkLeasesTest, WhatAWorkerBringsBackIsReserved) {
  make({most_of_one(), std::nullopt});
  dispatcher->join(1, "", {0}, at(0ms));
  leases->reserve_held(1, {0, 1});
  EXPECT_FALSE(budget->reserve(2, 1, most_of(*plan.render(1)))) << "unit 0 takes all of it";
  budget->give_back(1, 0);
  EXPECT_TRUE(budget->reserve(2, 1, most_of(*plan.render(1)))) << "unit 1 is not the worker's";
}

}  // namespace
}  // namespace sluice
