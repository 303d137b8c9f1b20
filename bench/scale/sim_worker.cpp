#include "bench/scale/sim_worker.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

namespace sluice::scale {

void SimWorker::begin() {
  is_known_ = false;
  const auto name = "worker-" + std::to_string(id_);
  send_(wire::Hello{id_, name, "cache-" + std::to_string(id_), "0", concurrency, true});
}

/// Every tenth answer fails.
UnitResult SimWorker::result_of(const wire::HeldUnit& held) const {
  UnitResult result;
  result.unit = held.unit;
  result.lease = held.lease;
  result.key = plan_.key(held.unit);
  result.answer = result.key;
  result.usage = {200, 20};
  result.spend.calls = 1;
  result.spend.add_answer(CallKind::answer, result.usage);
  for (const TrialId trial : plan_.trials_of(held.unit)) {
    result.scores.push_back({trial, {{MetricId::must_contain, std::nullopt, held.unit % 10 != 0, ""}}, {}});
  }
  return result;
}

void SimWorker::work(BootTime now) {
  if (!is_known_ || is_stopped(now)) return;
  wire::Report report{run_id_, window, {}, {}};
  while (!under_way_.empty() && under_way_.front().ends <= now) {
    const auto& held = under_way_.front().held;
    unacknowledged_[held.unit] = held;
    to_report_.push_back(held);
    ++outcomes_.answered;
    outcomes_.latency_sum_us += static_cast<std::uint64_t>(latency.count());
    under_way_.pop_front();
  }
  for (const auto& held : std::exchange(to_report_, {})) report.results.push_back(result_of(held));
  while (!waiting_.empty() && under_way_.size() < places_) {
    report.started.push_back(waiting_.front().unit);
    under_way_.push_back({waiting_.front(), now + latency});
    waiting_.pop_front();
  }
  report.window = window;
  if (!report.results.empty() || !report.started.empty()) send_(std::move(report));
}

void SimWorker::send_heartbeat(BootTime now) {
  if (!is_known_ || is_stopped(now)) return;
  wire::Demand demand;
  demand.provider = provider;
  demand.ready_calls = static_cast<std::uint32_t>(waiting_.size());
  demand.in_flight = static_cast<std::uint32_t>(under_way_.size());
  demand.reached = true;
  demand.outcomes = std::exchange(outcomes_, {});
  const auto sent_at = static_cast<std::uint64_t>(now.count());
  send_(wire::Heartbeat{run_id_, sent_at, window, {std::move(demand)}, newest_grants_us_});
}

void SimWorker::take(wire::ToWorker& message, BootTime now) {
  if (!is_there_ || is_stopped(now)) return;
  std::visit([&](const auto& known) { on(known, now); }, message);
}

void SimWorker::on(const wire::Welcome& welcome, BootTime /*now*/) {
  is_known_ = true;
  run_id_ = welcome.settings.run_id;
  // What it wants it says in a message of its own, so that what joining costs is seen alone.
  wire::Ready ready{run_id_, {}, 0, {waiting_.begin(), waiting_.end()}};
  for (const auto& unit : under_way_) ready.held.push_back(unit.held);
  // What was not acknowledged may not have come.
  to_report_.clear();
  for (const auto& [unit, held] : unacknowledged_) {
    ready.held.push_back(held);
    to_report_.push_back(held);
  }
  send_(std::move(ready));
  send_(wire::Report{run_id_, window, {}, {}});
}

void SimWorker::on(const wire::Work& work, BootTime now) {
  const bool was_idle = waiting_.empty() && under_way_.empty();
  for (const auto& unit : work.units) waiting_.push_back({unit.unit, unit.lease});
  if (was_idle) send_heartbeat(now);
}

void SimWorker::on(const wire::Ack& ack, BootTime /*now*/) {
  for (const auto& item : ack.items) unacknowledged_.erase(item.unit);
}

void SimWorker::on(const wire::Grants& grants, BootTime /*now*/) {
  newest_grants_us_ = std::max(newest_grants_us_, grants.now_us);
  places_ = std::min(grants.grants.front().places, concurrency);
}

void SimWorker::on(const wire::Drain& /*drain*/, BootTime /*now*/) {
  send_(wire::Goodbye{"the run is over"});
  is_there_ = false;
}

void SimWorker::on(const wire::Reject& reject, BootTime /*now*/) {
  if (reject.code == wire::RejectCode::unknown_worker && is_known_) begin();
}

/// What has begun goes on; what has not goes back.
void SimWorker::on(const wire::Withdraw& withdraw, BootTime /*now*/) {
  const std::set<UnitId> named(withdraw.units.begin(), withdraw.units.end());
  wire::Report report{run_id_, window, {}, {}};
  std::erase_if(waiting_, [&](const wire::HeldUnit& held) {
    const bool is_named = named.contains(held.unit);
    if (is_named) report.returned.push_back(held.unit);
    return is_named;
  });
  if (!report.returned.empty()) send_(std::move(report));
}

}  // namespace sluice::scale
