#include "worker/calls/waiting_calls.hpp"

#include "tests/unit/worker/fake_request.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace waiting_calls_test {

struct WaitingCallsTest : testing::Test {
  WaitingCallsTest() {
    for (const auto& one : settings.providers) providers.try_emplace(one.name, one, settings.case_timeout);
  }

  Call& add(CallId id, const std::string& provider = "a") {
    const RetryPolicy retry({2, 500ms, 8s, 60s}, start.now);
    auto& at = providers.at(provider);
    auto& call = calls.try_emplace(id, request, CallContext{1, id}, at, retry, OutageClock({}, 6), start.now)
                     .first->second;
    begin_ready(id, call, start.now);
    return call;
  }
  void go_out(const std::string& provider) {
    auto grant = unlimited(provider);
    grant.hold = wire::HoldReason::outage;
    grant.pause_ms = 3000;
    providers.at(provider).budget.take(grant, start.now);
  }
  static void fail_probes(Call& call, int times) {
    while (times-- > 0) call.outages.probe_failed();
  }

  const RunSettings settings = two_providers();
  const Moment start = moment_at(0s);
  FakeRequest request;
  CalledProviders providers;
  CallTable calls;
  CalledProvider& a = providers.try_emplace("a", settings.providers[0], settings.case_timeout).first->second;
};

TEST_F(WaitingCallsTest, ACallStandsInItsProvidersLineUntilItLeaves) {
  auto& call = add(7);
  EXPECT_TRUE(a.ready.contains(7));
  end_ready(7, call, start.now + 2s);
  EXPECT_FALSE(a.ready.contains(7));
  end_ready(7, call, start.now + 5s);
  Spend spend;
  call.waits.add_to(spend);
  EXPECT_EQ(spend.waited_permit_ms, 2000u) << "it is waited for once";
}

TEST_F(WaitingCallsTest, ABackOffIsCounted) {
  auto& call = add(1);
  end_ready(1, call, start.now);
  call.waits.begin(start.now);
  begin_back_off(call);
  EXPECT_EQ(a.backing_off, 1u);
  EXPECT_EQ(waiting_calls(a, calls), std::vector<CallId>{1});
  end_back_off(call, start.now + 3s);
  EXPECT_EQ(a.backing_off, 0u);
  Spend spend;
  call.waits.add_to(spend);
  EXPECT_EQ(spend.waited_retry_ms, 3000u);
}

TEST_F(WaitingCallsTest, ThoseWhoseProbesFailedLeastProbeFirst) {
  fail_probes(add(1), 2);
  fail_probes(add(2), 0);
  fail_probes(add(3), 1);
  fail_probes(add(4), 0);
  EXPECT_EQ(probe_order(a, calls), (std::vector<CallId>{2, 4, 3, 1}));
}

TEST_F(WaitingCallsTest, OneMoreMayTryOnceEachHasProbedInVain) {
  EXPECT_FALSE(all_probes_failed(providers, calls)) << "nothing is called";
  fail_probes(add(1), 1);
  auto& second = add(2);
  EXPECT_FALSE(all_probes_failed(providers, calls)) << "no outage";
  go_out("a");
  EXPECT_FALSE(all_probes_failed(providers, calls)) << "the second has not tried";
  fail_probes(second, 1);
  add(3, "b");
  EXPECT_TRUE(all_probes_failed(providers, calls)) << "whatever waits for another provider";
}

// It would fail whatever its provider does, and keep an outage on.
TEST_F(WaitingCallsTest, WhatFailsAloneProbesLastAndKeepsNobodyFromTrying) {
  auto& alone = add(1);
  fail_probes(add(2), 1);
  a.failing.failed(&alone, a.failing.begin(), start.now);
  a.failing.answered(a.failing.begin(), start.now + 1s);
  EXPECT_EQ(probe_order(a, calls), (std::vector<CallId>{2, 1}));
  go_out("a");
  EXPECT_TRUE(all_probes_failed(providers, calls));
}

TEST_F(WaitingCallsTest, SizesComeInTheOrderInWhichCallsStart) {
  std::vector<FakeRequest> requests(3);
  for (CallId id = 0; id < 3; ++id) {
    requests[id].bounds = {static_cast<std::uint32_t>(id), 0};
    add(id).request = &requests[id];
  }
  fail_probes(calls.at(0), 1);
  EXPECT_EQ(next_sizes(a, calls), (std::vector<wire::CallSize>{{0, 0}, {1, 0}, {2, 0}}));
  go_out("a");
  EXPECT_EQ(next_sizes(a, calls), (std::vector<wire::CallSize>{{1, 0}, {2, 0}, {0, 0}}));
}

TEST_F(WaitingCallsTest, NoDemandNamesMoreSizesThanTheWireTakes) {
  for (CallId id = 0; id < wire::max_demand_sizes + 5; ++id) add(id);
  EXPECT_EQ(next_sizes(a, calls).size(), wire::max_demand_sizes);
}

TEST_F(WaitingCallsTest, CallsInFlightAndThoseOfOthersDoNotWaitHere) {
  add(3);
  add(1);
  add(2, "b");
  add(4).state = Call::State::in_flight;
  add(5).state = Call::State::seeks_entry;
  EXPECT_EQ(waiting_calls(a, calls), (std::vector<CallId>{1, 3}));
}

}  // namespace waiting_calls_test
}  // namespace sluice
