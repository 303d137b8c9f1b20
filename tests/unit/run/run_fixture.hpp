#pragma once

#include "coordinator/run/run_controller.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {

using namespace std::chrono_literals;  // NOLINT(google-global-names-in-headers): for tests alone

inline constexpr const char* run_id = "run-1";

inline Suite make_suite(std::size_t cases) {
  Suite suite;
  for (std::size_t i = 0; i < cases; ++i) {
    Case one;
    one.id = "case-" + std::to_string(i);
    // The last two are one unit of work.
    one.content = "content " + std::to_string(i + 1 == cases && cases > 1 ? i - 1 : i);
    suite.cases.push_back(one);
  }
  return suite;
}

inline Plan make_plan(const Suite& suite, TrialDesign design = {}) {
  PromptTemplate prompt;
  prompt.user = "{{content}}";
  RequestSettings request;
  request.provider.name = "openai";
  request.model = "m";
  return *Plan::make(suite, prompt, Ontology(), request, std::move(design));
}

/// A controller with a plan of 4 cases in 3 units; the workers' side is played by the test.
class RunControllerTest : public ::testing::Test {
 protected:
  RunControllerTest() : suite(make_suite(4)), plan(make_plan(suite)) {
    config.settings.run_id = run_id;
    config.settings.mode = Mode::live;
    config.dispatch = {1000ms, 3, 3, 60s};
    config.worker_timeout = 10s;
    config.how_to_start_a_worker = "start one";
    for (UnitId unit = 0; unit < plan.unit_count(); ++unit) config.affinities.push_back({unit, 0});
  }

  void begin() { controller.emplace(plan, config, at(0ms)); }
  TimePoint at(std::chrono::milliseconds time) const { return TimePoint() + 1h + time; }

  /// Results without the number of a lease get the one of the peer's.
  Effects send(const Peer& peer, wire::ToCoordinator message) {
    if (const auto* hello = std::get_if<wire::Hello>(&message)) instances[peer] = hello->instance;
    FromWorkers messages;
    messages.items.push_back({peer, std::move(message)});
    return send(std::move(messages));
  }
  Effects send(FromWorkers messages) {
    for (auto& [peer, message] : messages.items) {
      auto* reported = std::get_if<wire::Report>(&message);
      if (reported == nullptr) continue;
      for (UnitResult& result : reported->results) {
        if (result.lease == 0) result.lease = lease(peer, result.unit);
      }
    }
    Effects effects;
    controller->on_messages(messages, at(now), effects);
    return effects;
  }

  Effects hello(const Peer& peer, std::uint64_t instance) {
    return send(peer, wire::Hello{instance, "worker-" + std::to_string(instance),
                                  "cache-" + std::to_string(instance), "0", 5});
  }
  Effects ready(const Peer& peer, std::uint32_t window = 10, std::vector<UnitId> held = {}) {
    std::vector<wire::HeldUnit> numbered;
    for (const UnitId unit : held) numbered.push_back({unit, lease(peer, unit)});
    return send(peer, wire::Ready{run_id, {}, window, std::move(numbered)});
  }
  std::uint64_t lease(const Peer& peer, UnitId unit) {
    return LeaseNumbers(config.lease_secret, config.settings.run_id).number(instances[peer], unit);
  }
  Effects join(const Peer& peer, std::uint64_t instance, std::uint32_t window = 10) {
    hello(peer, instance);
    return ready(peer, window);
  }
  Effects report(const Peer& peer, std::vector<UnitResult> results, std::vector<UnitId> started = {}) {
    return send(peer, wire::Report{run_id, 10, std::move(started), std::move(results)});
  }

  UnitResult answered(UnitId unit, const std::string& text = "answer") const {
    UnitResult result;
    result.unit = unit;
    result.key = plan.key(unit);
    result.answer = sha256(text);
    for (const auto trial : plan.trials_of(unit)) result.scores.push_back({trial, {}, {}});
    return result;
  }
  static UnitResult paid(UnitResult result, std::uint64_t tokens) {
    result.spend.paid.of(CallKind::answer).input_tokens = tokens;
    return result;
  }
  UnitResult failed(UnitId unit, Reason reason) const {
    UnitResult result;
    result.unit = unit;
    result.key = plan.key(unit);
    result.error = Error{reason, "it failed"};
    return result;
  }

  /// Plays the recorder: everything is committed, the first result of a unit wins. `failed_trials` did.
  Effects record(const Effects& from, const std::vector<TrialId>& failed_trials = {}) {
    ResultsRecorded recorded;
    for (const auto& record : from.to_record) {
      const auto& result = record.item.result;
      const auto [winner, first] = committed.try_emplace(result.unit, result.answer);
      recorded.items.push_back({record.worker,
                                result.unit,
                                result.key,
                                {first, winner->second},
                                result.error.has_value(),
                                !is_zero(result.answer),
                                failed_trials,
                                result.spend});
    }
    Effects effects;
    controller->on_recorded(recorded, at(now), effects);
    return effects;
  }

  Effects tick(std::chrono::milliseconds time) {
    now = time;
    Effects effects;
    controller->on_tick(at(now), effects);
    return effects;
  }

  template <class Message>
  static std::vector<Message> sent(const Effects& effects, const Peer& peer) {
    std::vector<Message> found;
    for (const auto& [to, message, in_hand] : effects.to_workers) {
      if (const auto* wanted = std::get_if<Message>(&message); wanted && to == peer) found.push_back(*wanted);
    }
    return found;
  }
  static std::vector<UnitId> leased(const Effects& effects, const Peer& peer) {
    std::vector<UnitId> units;
    for (const auto& work : sent<wire::Work>(effects, peer)) {
      for (const auto& unit : work.units) units.push_back(unit.unit);
    }
    std::ranges::sort(units);
    return units;
  }
  static std::vector<wire::Acknowledged> acked(const Effects& effects, const Peer& peer) {
    std::vector<wire::Acknowledged> items;
    for (const auto& ack : sent<wire::Ack>(effects, peer))
      items.insert(items.end(), ack.items.begin(), ack.items.end());
    return items;
  }
  static void expect_rejected(const Effects& effects, const Peer& peer) {
    const auto rejects = sent<wire::Reject>(effects, peer);
    ASSERT_EQ(rejects.size(), 1u);
    EXPECT_EQ(rejects[0].code, wire::RejectCode::unknown_worker);
  }
  void expect_stopped(Reason reason) const {
    ASSERT_TRUE(controller->over());
    ASSERT_TRUE(controller->stopped());
    EXPECT_EQ(controller->stopped()->reason, reason) << controller->stopped()->message;
  }

  Suite suite;
  Plan plan;
  RunController::Config config;
  std::optional<RunController> controller;
  std::chrono::milliseconds now = 0ms;
  std::map<UnitId, Digest> committed;
  std::map<Peer, WorkerId> instances;
};

}  // namespace sluice
