#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace sluice {

/// Stands in for an actor that the tested one talks to: keeps what it is sent, by type and in order.
template <class... Messages>
class Probe {
 public:
  explicit Probe(caf::actor_system& system) {
    handle_ = system.spawn([inbox = inbox_](caf::event_based_actor* self) -> caf::behavior {
      return {[inbox, self](Messages& message) {
        inbox->last_sender = self->current_sender();
        std::get<std::vector<Messages>>(inbox->boxes).push_back(std::move(message));
      }...};
    });
  }

  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  /// Ends the actor, which may stand in a circle of references with the tested one.
  ~Probe() {
    inbox_->last_sender = nullptr;
    caf::anon_send_exit(handle_, caf::exit_reason::user_shutdown);
  }

  const caf::actor& handle() const { return handle_; }
  template <class Message>
  std::vector<Message>& got() {
    return std::get<std::vector<Message>>(inbox_->boxes);
  }
  /// What came since the last call.
  template <class Message>
  std::vector<Message> take() {
    return std::exchange(got<Message>(), {});
  }

  /// Who sent the latest message; null if nobody said.
  const caf::strong_actor_ptr& last_sender() const { return inbox_->last_sender; }

 private:
  struct Inbox {
    std::tuple<std::vector<Messages>...> boxes;
    caf::strong_actor_ptr last_sender;
  };

  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  caf::actor handle_;
};

/// Actors on one thread and a simulated clock: nothing happens but in `settle` and `pass`.
class ActorTest : public ::testing::Test {
 protected:
  using milliseconds = std::chrono::milliseconds;

  ActorTest()
      : config_(std::make_unique<caf::actor_system_config>()),
        system_(std::make_unique<caf::actor_system>(configured(*config_))),
        scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system_->scheduler())) {
    spdlog::set_level(spdlog::level::off);
    // Time points of 0 mean "never" to nobody, but a clock that starts there would hide who thinks so.
    scheduler_.advance_time(std::chrono::hours(1));
  }

  ~ActorTest() override {
    for (const auto& actor : to_end_) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    to_end_.clear();
    scheduler_.run();
  }

  caf::actor_system& system() { return *system_; }
  /// Ends the actor with the test.
  const caf::actor& owned(const caf::actor& actor) { return to_end_.emplace_back(actor); }

  /// Runs until no actor has anything to do. Returns how many turns that took.
  std::size_t settle() { return scheduler_.run(); }
  /// Time passes without anybody noticing: the process was stopped. Every timer that is due fires once.
  std::size_t jump(milliseconds time) {
    auto turns = settle();
    scheduler_.advance_time(time);
    return turns + settle();
  }
  /// Lets time pass, millisecond by millisecond where something happens.
  std::size_t pass(milliseconds time) {
    auto turns = settle();
    for (milliseconds gone{}; gone < time; gone += step) {
      scheduler_.advance_time(std::min(step, time - gone));
      turns += settle();
    }
    return turns;
  }

  std::size_t running() const { return system_->registry().running(); }

 private:
  static constexpr milliseconds step{1};

  static caf::actor_system_config& configured(caf::actor_system_config& config) {
    config.set("scheduler.policy", caf::atom("testing"));
    return config;
  }

  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
  caf::scheduler::test_coordinator& scheduler_;
  std::vector<caf::actor> to_end_;
};

}  // namespace sluice
