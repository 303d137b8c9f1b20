#pragma once

#include "common/clock.hpp"
#include "common/transport/envelopes.hpp"
#include "coordinator/facts/worker_id.hpp"
#include "coordinator/plan/plan.hpp"

#include <deque>
#include <functional>
#include <map>
#include <string>

namespace sluice::scale {

/// A worker as a coordinator sees it (docs/protocol.md): each beat it reports what has ended, and begins what
/// it has places for; each call takes the same time. On simulated time; not thread-safe.
class SimWorker {
 public:
  using Send = std::function<void(wire::ToCoordinator)>;

  static constexpr BootTime beat = std::chrono::milliseconds(100);
  static constexpr BootTime latency = std::chrono::milliseconds(250);
  static constexpr std::uint32_t concurrency = 50;
  static constexpr std::uint32_t window = 3 * concurrency;
  static constexpr const char* provider = "simulated";

  SimWorker(WorkerId id, const Plan& plan, Send send) : id_(id), plan_(plan), send_(std::move(send)) {}

  WorkerId id() const { return id_; }
  Peer peer() const { return "peer-" + std::to_string(id_); }
  /// False once it has said GOODBYE or has died.
  bool is_there() const { return is_there_; }
  void die() { is_there_ = false; }
  /// It does and hears nothing until then.
  void stop_until(BootTime time) { stopped_until_ = time; }
  bool is_stopped(BootTime now) const { return now < stopped_until_; }

  void begin();
  /// Each `beat`.
  void work(BootTime now);
  void send_heartbeat(BootTime now);
  void take(wire::ToWorker& message, BootTime now);

 private:
  struct Unit {
    wire::HeldUnit held;
    BootTime ends{};
  };

  void on(const wire::Welcome& welcome, BootTime now);
  void on(const wire::Work& work, BootTime now);
  void on(const wire::Ack& ack, BootTime now);
  void on(const wire::Grants& grants, BootTime now);
  void on(const wire::Drain& drain, BootTime now);
  void on(const wire::Reject& reject, BootTime now);
  void on(const wire::Withdraw& withdraw, BootTime now);
  template <class Other>
  void on(const Other& /*not sent here*/, BootTime /*now*/) {}

  UnitResult result_of(const wire::HeldUnit& held) const;

  WorkerId id_;
  const Plan& plan_;
  Send send_;
  bool is_there_ = true;
  bool is_known_ = false;
  BootTime stopped_until_{};
  std::string run_id_;
  std::deque<wire::HeldUnit> waiting_;
  std::deque<Unit> under_way_;
  std::map<UnitId, wire::HeldUnit> unacknowledged_;
  std::vector<wire::HeldUnit> to_report_;
  std::uint32_t places_ = 0;
  std::uint64_t newest_grants_us_ = 0;
  wire::CallOutcomes outcomes_;
};

}  // namespace sluice::scale
