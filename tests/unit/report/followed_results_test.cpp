#include "coordinator/merge/followed_results.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// Results that other threads commit meanwhile.
class Committed final : public ResultSource {
 public:
  void commit(TrialId trial) {
    const std::lock_guard lock(mutex_);
    trials_.insert(trial);
  }

  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override {
    for (const TrialId trial : from(first)) visit({trial, {}});
    return {};
  }

  Result<TrialId> visit_consecutive(TrialId first, const VisitTrial& visit) const {
    TrialId next = first;
    for (const TrialId trial : from(first)) {
      if (trial != next) break;
      visit({next++, {}});
    }
    return next;
  }

 private:
  std::vector<TrialId> from(TrialId first) const {
    const std::lock_guard lock(mutex_);
    return {trials_.lower_bound(first), trials_.end()};
  }

  mutable std::mutex mutex_;
  std::set<TrialId> trials_;
};

class FollowedResultsTest : public ::testing::Test {
 protected:
  /// On a thread of its own; what was visited.
  std::future<std::vector<TrialId>> follow(TrialId first = 0) {
    return std::async(std::launch::async, [this, first] {
      std::vector<TrialId> visited;
      const FollowedResults followed(
          committed, [this](TrialId next, const VisitTrial& visit) { return read(next, visit); }, over);
      const auto done = followed.visit_from(first, [&](const CommittedTrial& trial) {
        visited.push_back(trial.trial);
        const std::lock_guard lock(mutex_);
        seen_.insert(trial.trial);
        changed_.notify_all();
      });
      EXPECT_EQ(done.has_value(), !over.is_given_up());
      return visited;
    });
  }

  void wait_until_visited(TrialId trial) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen_.contains(trial); });
  }

  void wait_until_failed() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return has_failed_; });
  }

  Committed committed;
  RunOver over;
  std::optional<TrialId> fails_at;

 private:
  Result<TrialId> read(TrialId next, const VisitTrial& visit) {
    const auto reached = committed.visit_consecutive(next, [&](const CommittedTrial& trial) {
      if (!fails_at || trial.trial < *fails_at) visit(trial);
    });
    if (!fails_at || *reached <= *fails_at) return reached;
    const std::lock_guard lock(mutex_);
    has_failed_ = true;
    changed_.notify_all();
    return fail(Reason::ledger_failed, "the disk is away");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<TrialId> seen_;
  bool has_failed_ = false;
};

using Trials = std::vector<TrialId>;

TEST_F(FollowedResultsTest, ATrialIsVisitedOnceItAndAllBeforeItAreCommitted) {
  committed.commit(0);
  committed.commit(2);
  auto visited = follow();
  wait_until_visited(0);
  committed.commit(1);
  wait_until_visited(2);
  committed.commit(3);
  over.tell();
  EXPECT_EQ(visited.get(), (Trials{0, 1, 2, 3}));
}

TEST_F(FollowedResultsTest, WhatIsMissingInTheEndIsPassedOver) {
  committed.commit(0);
  auto visited = follow();
  wait_until_visited(0);
  committed.commit(5);
  committed.commit(3);
  over.tell();
  EXPECT_EQ(visited.get(), (Trials{0, 3, 5}));
}

// All cases of a run that could not listen were judged, as missing, before it said why.
TEST_F(FollowedResultsTest, OfARunThatIsGivenUpNothingMoreIsVisited) {
  committed.commit(0);
  committed.commit(2);
  auto visited = follow();
  wait_until_visited(0);
  over.give_up();
  EXPECT_EQ(visited.get(), (Trials{0}));
  EXPECT_EQ(follow().get(), Trials());
}

TEST_F(FollowedResultsTest, ARunThatIsOverIsReadAtOnce) {
  for (const TrialId trial : {4u, 1u, 7u}) committed.commit(trial);
  over.tell();
  EXPECT_EQ(follow(2).get(), (Trials{4, 7}));
}

TEST_F(FollowedResultsTest, AReadThatFailsIsTriedAgainWhenTheRunIsOver) {
  for (const TrialId trial : {0u, 1u, 2u}) committed.commit(trial);
  fails_at = 1;
  auto visited = follow();
  wait_until_failed();
  over.tell();
  EXPECT_EQ(visited.get(), (Trials{0, 1, 2})) << "each once";
}

TEST_F(FollowedResultsTest, EveryOrderOfCommitsComesInPlanOrder) {
  Trials order(200);
  for (TrialId i = 0; i < order.size(); ++i) order[i] = i * 73 % 200;
  auto visited = follow();
  for (const TrialId trial : order) committed.commit(trial);
  wait_until_visited(199);
  over.tell();
  const Trials all = visited.get();
  EXPECT_EQ(all.size(), order.size());
  EXPECT_TRUE(std::ranges::is_sorted(all));
}

}  // namespace
}  // namespace sluice
