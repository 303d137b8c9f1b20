#pragma once

#include "common/wire/messages.hpp"
#include "coordinator/dispatch/work_queue.hpp"
#include "tests/properties/simulated_provider.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace sluice::testing {

/// A clock that runs apart from the coordinator's.
struct WorkerClock {
  double offset_us = 0;
  double drift = 0;  ///< 100e-6: fast by 100 ppm.

  double at(BootTime time) const { return offset_us + static_cast<double>(time.count()) * (1 + drift); }
  BootTime time_of(double own_us) const {
    return BootTime(static_cast<BootTime::rep>(std::ceil((own_us - offset_us) / (1 + drift))));
  }
};

/// What a worker knows of the coordinator's clock: budget.md's interval, the best of its samples.
class ClockBounds {
 public:
  void hear(double sent_us, double received_us, double coordinator_us) {
    samples_.push_back({sent_us, received_us, coordinator_us});
    if (samples_.size() > 32) samples_.pop_front();
  }
  double earliest(double own_us) const {
    double bound = -std::numeric_limits<double>::infinity();
    for (const auto& one : samples_)
      bound = std::max(bound, one.coordinator_us + (own_us - one.received_us) * (1 - drift));
    return bound;
  }
  /// The newest HEARTBEAT that is known to have been heard was sent then.
  double newest_heard_us() const {
    double newest = -std::numeric_limits<double>::infinity();
    for (const auto& one : samples_) newest = std::max(newest, one.sent_us);
    return newest;
  }
  double latest(double own_us) const {
    double bound = std::numeric_limits<double>::infinity();
    for (const auto& one : samples_)
      bound = std::min(bound, one.coordinator_us + (own_us - one.sent_us) * (1 + drift));
    return bound;
  }

 private:
  static constexpr double drift = 200e-6;
  struct Sample {
    double sent_us = 0;
    double received_us = 0;
    double coordinator_us = 0;
  };
  std::deque<Sample> samples_;
};

/// A call as the tests plan it.
struct PlannedCall {
  wire::CallSize reserved;
  wire::CallSize used;
};

/// A worker's use of one provider by the rule of budget.md: starts a call only on a permit whose window
/// certainly holds the coordinator's clock, within its places and not during a pause; retries what was
/// refused or failed.
class ModelWorker {
 public:
  struct Surroundings {
    EventQueue& events;
    SimulatedProvider& provider;
    std::mt19937_64& random;
    std::string provider_name;
    BootTime arrival_jitter{};
    std::function<void(BootTime)> started;  ///< Each start, at its true time.
    std::function<void()> finished;         ///< Each answered call.
    std::function<void()> changed;          ///< The demand has changed.
  };

  ModelWorker(Surroundings around, WorkerClock clock, std::uint32_t max_concurrent)
      : around_(std::move(around)), clock_(clock), max_concurrent_(max_concurrent) {}

  /// Calls that it may hold at a time.
  std::uint32_t room() const {
    const auto most = searched_ ? std::max(max_concurrent_, places_) : max_concurrent_;
    const auto held = static_cast<std::uint32_t>(ready_.size()) + in_flight_ + backing_off_;
    return most > held ? most - held : 0;
  }
  void give(const PlannedCall& call) { ready_.push_back(call); }
  std::uint32_t in_flight() const { return in_flight_; }
  std::uint32_t places() const { return places_; }
  std::deque<PlannedCall> take_ready() { return std::exchange(ready_, {}); }
  const WorkerClock& clock() const { return clock_; }

  wire::Demand demand() {
    wire::Demand demand = std::exchange(report_, {});
    demand.provider = around_.provider_name;
    demand.ready_calls = static_cast<std::uint32_t>(ready_.size());
    demand.in_flight = in_flight_;
    if (!unlimited_) {
      for (std::size_t i = 0; i < std::min<std::size_t>(ready_.size(), 256); ++i)
        demand.sizes.push_back(ready_[i].reserved);
    }
    const auto left = own_pause_until_ - around_.events.now();
    if (left > BootTime::zero()) demand.pause_ms = static_cast<std::uint32_t>(left.count() / 1000 + 1);
    return demand;
  }

  void hear(const wire::Grant& grant, const ClockBounds& bounds, bool newest) {
    bounds_ = &bounds;
    for (const auto& permit : grant.permits) {
      if (seen_.insert(permit.id).second) permits_.emplace(permit.id, permit);
    }
    if (newest) {
      unlimited_ = grant.unlimited;
      // The places are free for others only when the coordinator knows that this one has heard.
      if (grant.places < places_) around_.changed();
      places_ = grant.places;
      searched_ = grant.searched;
      held_until_ = around_.events.now() + std::chrono::milliseconds(grant.pause_ms);
    }
    act();
  }
  /// HELLO again: permits are void.
  void begin_anew() {
    permits_.clear();
    report_ = {};
    places_ = 0;
    unlimited_ = false;
  }
  void freeze() { frozen_ = true; }
  void thaw() {
    frozen_ = false;
    act();
  }

  /// Starts what may start now, and comes back when more may.
  void act() {
    if (frozen_ || !bounds_) return;
    const auto own = clock_.at(around_.events.now());
    bool changed = false;
    for (auto it = permits_.begin(); it != permits_.end();) {
      const auto& permit = it->second;
      if (bounds_->latest(own) > static_cast<double>(permit.closes_us)) {
        report_.spent.push_back({permit.id, false});
        it = permits_.erase(it);
        changed = true;
        continue;
      }
      if (bounds_->earliest(own) < static_cast<double>(permit.opens_us)) {
        come_back(static_cast<double>(permit.opens_us) - bounds_->earliest(own));
        ++it;
        continue;
      }
      const auto call = std::ranges::find_if(ready_, [&](const PlannedCall& one) {
        return one.reserved.input_tokens <= permit.size.input_tokens &&
               one.reserved.output_tokens <= permit.size.output_tokens;
      });
      if (call == ready_.end() || !may_start(permit.probe)) {
        if (call == ready_.end()) {
          report_.spent.push_back({permit.id, false});
          it = permits_.erase(it);
          changed = true;
        } else {
          come_back(1000);
          ++it;
        }
        continue;
      }
      report_.spent.push_back({permit.id, true});
      start(call, permit.id);
      it = permits_.erase(it);
      changed = true;
    }
    while (unlimited_ && !ready_.empty() && may_start(false)) {
      start(ready_.begin(), 0);
      changed = true;
    }
    if (unlimited_ && !ready_.empty() && !may_start(false) && in_flight_ < places_) come_back(1000);
    if (changed) around_.changed();
  }

 private:
  bool may_start(bool probe) const {
    if (in_flight_ >= places_) return false;
    // Cut off: after three heartbeats the coordinator takes it for lost, and its places for free in time.
    if (clock_.at(around_.events.now()) - bounds_->newest_heard_us() > 3e6) return false;
    const auto now = around_.events.now();
    return probe || (now >= held_until_ && now >= own_pause_until_);
  }
  void come_back(double own_us) {
    const auto when = around_.events.now() + BootTime(static_cast<BootTime::rep>(std::ceil(own_us)) + 1);
    if (wake_at_ > around_.events.now() && wake_at_ <= when) return;
    wake_at_ = when;
    around_.events.at(when, [this] { act(); });
  }
  void start(std::deque<PlannedCall>::iterator call, std::uint64_t permit) {
    const auto planned = *call;
    ready_.erase(call);
    ++in_flight_;
    around_.started(around_.events.now());
    const auto jitter = static_cast<double>(around_.arrival_jitter.count());
    const BootTime way(
        static_cast<BootTime::rep>(std::uniform_real_distribution<>(0, jitter)(around_.random)));
    const auto begun = around_.events.now();
    around_.events.after(way, [this, planned, permit, begun] {
      around_.provider.arrive(
          planned.used, [this, planned, permit, begun](Reply reply) { end(planned, permit, begun, reply); });
    });
  }
  void end(const PlannedCall& planned, std::uint64_t permit, BootTime begun, const Reply& reply) {
    --in_flight_;
    const auto latency = static_cast<std::uint64_t>((around_.events.now() - begun).count());
    const bool answered = reply.outcome == Outcome::answered;
    if (permit != 0) report_.settled.push_back({permit, answered ? planned.used : wire::CallSize{}});
    if (answered) {
      ++report_.outcomes.answered;
      report_.outcomes.latency_sum_us += latency;
      around_.finished();
    } else {
      if (reply.outcome == Outcome::failed) ++report_.outcomes.failed;
      if (reply.outcome == Outcome::refused && reply.named_delay == BootTime::zero())
        ++report_.outcomes.rate_limited;
      own_pause_until_ = std::max(own_pause_until_, around_.events.now() + reply.named_delay);
      back_off(planned, reply.named_delay);
    }
    act();
    around_.changed();
  }
  void back_off(const PlannedCall& planned, BootTime named) {
    ++backing_off_;
    const BootTime wait(std::uniform_int_distribution<BootTime::rep>(0, 500'000)(around_.random));
    around_.events.after(named > BootTime::zero() ? named : wait, [this, planned] {
      --backing_off_;
      ready_.push_front(planned);
      around_.changed();
      act();
    });
  }

  Surroundings around_;
  WorkerClock clock_;
  std::uint32_t max_concurrent_;
  const ClockBounds* bounds_ = nullptr;
  std::deque<PlannedCall> ready_;
  std::map<std::uint64_t, wire::Permit> permits_;
  std::set<std::uint64_t> seen_;  ///< A message may come twice.
  wire::Demand report_;
  std::uint32_t in_flight_ = 0;
  std::uint32_t backing_off_ = 0;
  std::uint32_t places_ = 0;
  bool unlimited_ = false;
  bool searched_ = false;
  bool frozen_ = false;
  BootTime held_until_{};
  BootTime own_pause_until_{};
  BootTime wake_at_{};
};

}  // namespace sluice::testing
