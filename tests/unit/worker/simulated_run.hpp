#pragma once

#include "common/defaults.hpp"
#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/governor.hpp"
#include "tests/unit/worker/fake_request.hpp"
#include "worker/units/unit_flow.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

/// A run of one worker and its governor, without delay between them, on simulated time.
class SimulatedRun {
 public:
  /// True if the provider fails this try of the case, which begins now.
  using Fails = std::function<bool(UnitId unit, Duration now)>;

  /// `places`: how many calls the worker may have in flight; 0: nobody said.
  SimulatedRun(UnitId cases, Duration latency, Fails fails, std::uint64_t seed = 1, std::uint32_t places = 0)
      : cases_(cases),
        latency_(latency),
        fails_(std::move(fails)),
        random_(seed),
        flow_(config(seed, places)) {
    governor_.join(1, {places > 0 ? places : defaults::search_first_places, places > 0}, start_.boot);
    std::vector<SharedUnit> units;
    for (UnitId id = 1; id <= cases; ++id) units.push_back(unit(id));
    flow_.add(std::move(units));
  }

  /// Until each case has its end. False if that takes longer than `patience`, or if worker and governor
  /// answer each other for ever.
  bool run(Duration patience = std::chrono::minutes(30)) {
    constexpr int most_steps_at_once = 1000;
    int steps = 0;
    for (send_demand({}); answered_ + errors_.size() < cases_;) {
      const auto before = now_.now;
      step();
      steps = now_.now == before ? steps + 1 : 0;
      if (elapsed() > patience || steps > most_steps_at_once) return false;
    }
    return true;
  }

  Duration elapsed() const { return now_.now - start_.now; }
  /// The cases that ended without an answer.
  const std::set<UnitId>& errors() const { return errors_; }
  std::size_t answered() const { return answered_; }
  int outages() const { return outages_; }
  Duration outage_time() const {
    return std::chrono::duration_cast<Duration>(governor_.facts(now_.boot)[0].outage_time);
  }
  std::uint32_t tries(UnitId unit) const { return tries_.at(unit); }
  /// Cases that have begun.
  std::size_t begun() const { return tries_.size(); }

 private:
  /// Ends so close together are told together, as by the one thread that waits for all of them.
  static constexpr Duration told_together = std::chrono::microseconds(300);

  struct End {
    HttpCall call;
    bool failed = false;
  };

  static UnitFlowConfig config(std::uint64_t seed, std::uint32_t places) {
    UnitFlowConfig config;
    config.settings = two_providers();
    config.settings.providers.pop_back();
    config.settings.max_retries = defaults::max_retries;
    config.settings.case_timeout = defaults::case_timeout;
    config.credentials = {{"a", ""}};
    config.store = std::make_shared<AnswerStore>(std::nullopt, std::vector<AnswerCache>());
    config.max_concurrent = places > 0 ? places : defaults::search_first_places;
    config.random_seed = seed;
    return config;
  }
  static SharedUnit unit(UnitId id) {
    WorkUnit work;
    work.unit = id;
    work.key = sha256(std::to_string(id));
    work.request.provider = "a";
    work.request.model = "m";
    work.request.user = "case " + std::to_string(id) + ".";
    return std::make_shared<const WorkUnit>(std::move(work));
  }
  static UnitId unit_of(const HttpCall& call) {
    const auto at = call.request.body.find("case ");
    return std::stoull(call.request.body.substr(at + 5));
  }

  /// What is due happens, and what follows from it.
  void step() {
    auto turn = flow_.turn(now_);
    for (auto& call : turn.engine.calls) begin(std::move(call));
    for (const auto& done : turn.completed) {
      if (std::holds_alternative<Completion>(done.outcome)) {
        ++answered_;
      } else {
        errors_.insert(done.unit->unit);
      }
    }
    if (turn.engine.demand) return send_demand(turn.engine.demand->demands);
    pass(turn.engine.wake);
  }
  void begin(HttpCall call) {
    const auto unit = unit_of(call);
    ++tries_[unit];
    const bool failed = fails_(unit, elapsed());
    const auto jitter = std::chrono::microseconds(std::uniform_int_distribution<>(0, 2000)(random_));
    ends_.emplace(now_.now + latency_ + jitter, End{std::move(call), failed});
  }
  void send_demand(std::vector<wire::Demand> demands) {
    const auto now_us = static_cast<std::uint64_t>(now_.boot.count());
    governor_.on_heartbeat(1, {"run-1", now_us, 10, std::move(demands), 0}, now_.boot);
    turn_governor();
  }
  void turn_governor() {
    for (auto& answer : governor_.turn(now_.boot)) {
      answer.grants.run_id = "run-1";
      flow_.on_budget({true, false, std::move(answer.grants), now_.boot}, now_);
    }
    for (const auto& notice : governor_.take_notices()) outages_ += notice.event == BudgetEvent::went_down;
  }
  /// Goes to the next instant at which something is due.
  void pass(std::optional<TimePoint> wake) {
    auto next = heartbeat_;
    if (wake) next = std::min(next, *wake);
    if (!ends_.empty()) next = std::min(next, ends_.begin()->first + told_together);
    if (const auto governors = governor_.next_wake(now_.boot))
      next = std::min(next, now_.now + std::chrono::duration_cast<Duration>(*governors - now_.boot));
    // Clocks of whole microseconds must not stand.
    const auto time = std::max<Duration>(next - now_.now, std::chrono::microseconds(1));
    const auto whole = std::chrono::ceil<BootTime>(time);
    now_ = {now_.now + whole, now_.boot + whole};
    if (now_.now >= heartbeat_) {
      heartbeat_ = now_.now + std::chrono::seconds(1);
      flow_.want_demand();
    }
    while (!ends_.empty() && ends_.begin()->first <= now_.now) end(ends_.extract(ends_.begin()).mapped());
    turn_governor();
  }
  void end(const End& end) {
    HttpDone done;
    done.id = end.call.id;
    done.started = true;
    done.elapsed = std::chrono::duration_cast<std::chrono::microseconds>(latency_);
    done.response.status = end.failed ? 500 : 200;
    done.response.body = end.failed ? "oops"
                                    : R"({"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],)"
                                      R"("usage":{"prompt_tokens":10,"completion_tokens":5}})";
    flow_.on_done(done, now_, {});
  }

  const Moment start_ = moment_at(0s);
  Moment now_ = start_;
  TimePoint heartbeat_ = start_.now + std::chrono::seconds(1);
  std::size_t cases_;
  Duration latency_;
  Fails fails_;
  std::mt19937_64 random_;
  Governor governor_{{{{"a", {}}}, {defaults::request_timeout, 1s, defaults::outage_timeout}}, start_.boot};
  UnitFlow flow_;
  std::multimap<TimePoint, End> ends_;
  std::map<UnitId, std::uint32_t> tries_;
  std::set<UnitId> errors_;
  std::size_t answered_ = 0;
  int outages_ = 0;
};

}  // namespace sluice
