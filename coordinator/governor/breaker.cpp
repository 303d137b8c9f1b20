#include "coordinator/governor/breaker.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

/// Of failures that are reported together with answers, those that came after the last answer. A failure is
/// reported at once, answers with the next occasion: one came last. Of others the order is not known; they
/// may as well lie evenly among the answers.
std::uint32_t failed_last(std::uint32_t signs_of_life, std::uint32_t failed) {
  if (signs_of_life == 0 || failed == 0) return failed;
  // In 64 bits: the numbers come from the network.
  const std::uint64_t evenly = failed / (std::uint64_t{signs_of_life} + 1);
  return std::max(1u, static_cast<std::uint32_t>(evenly));
}

}  // namespace

bool Breaker::on_outcomes(WorkerId worker, const Ended& ended, BootTime now) {
  if (ended.signs_of_life == 0 && ended.failed == 0 && ended.refused == 0) return false;
  // What else ends then began before the outage: the probe says more.
  if (opened_) return probes(worker) && on_probe_outcome(worker, ended.signs_of_life > 0, now);
  const auto reached = ended.signs_of_life > 0 || ended.refused > 0;
  if (reached) {
    // What failed before anybody had reached it says nothing of an outage.
    if (!std::exchange(ever_reached_, true)) samples_.clear();
    failed_in_a_row_ = 0;
  }
  const auto not_failed = ended.signs_of_life + std::min(ended.refused, ~ended.signs_of_life);
  failed_in_a_row_ += failed_last(not_failed, ended.failed);
  note(not_failed, ended.failed, now);
  const bool down = failed_in_a_row_ >= defaults::breaker_failures || many_failed();
  if (!all_refused(ended, now) && (!ever_reached_ || !down)) return false;
  open_at(now);
  return true;
}

/// A few refusals are a rate that is too high, which a search finds. Where nothing at all is answered for so
/// long there is no rate to find.
bool Breaker::all_refused(const Ended& ended, BootTime now) {
  if (ended.signs_of_life > 0) refused_in_a_row_ = 0;
  if (ended.refused == 0) return false;
  if (refused_in_a_row_ == 0) refused_since_ = now;
  refused_in_a_row_ += ended.refused;
  return refused_in_a_row_ >= defaults::breaker_failures &&
         now - refused_since_ >= defaults::breaker_refused_time;
}

bool Breaker::on_probe_outcome(WorkerId worker, bool answered, BootTime now) {
  if (answered) {
    close_at(now);
    return true;
  }
  probers_.erase(worker);
  hold_ = std::clamp<BootTime>((now - *opened_) / defaults::breaker_hold_share, defaults::breaker_first_hold,
                               defaults::breaker_max_hold);
  probe_at_ = now + hold_;
  return false;
}

void Breaker::note(std::uint32_t signs_of_life, std::uint32_t failed, BootTime now) {
  while (!samples_.empty() && now - samples_.front().at > defaults::breaker_window) samples_.pop_front();
  if (samples_.empty() || now - samples_.back().at >= defaults::breaker_sample_length)
    samples_.push_back({now, 0, 0});
  samples_.back().signs_of_life += signs_of_life;
  samples_.back().failed += failed;
}

bool Breaker::many_failed() const {
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  for (const auto& sample : samples_) {
    calls += std::uint64_t{sample.signs_of_life} + sample.failed;
    failed += sample.failed;
  }
  return calls >= defaults::breaker_sample && 2 * failed >= calls;
}

void Breaker::open_at(BootTime now) {
  opened_ = now;
  hold_ = defaults::breaker_first_hold;
  probe_at_ = now + hold_;
  probers_.clear();
  samples_.clear();
}

void Breaker::close_at(BootTime now) {
  past_outages_ += now - *opened_;
  opened_.reset();
  failed_in_a_row_ = 0;
  refused_in_a_row_ = 0;
  probers_.clear();
  samples_.clear();
}

void Breaker::probe_started(WorkerId worker, BootTime now) {
  probers_.insert(worker);
  // A probe that hangs must not keep the outage from ending: the next is made meanwhile.
  probe_at_ = now + std::max<BootTime>(hold_, defaults::probe_lifetime);
}

void Breaker::probe_lost(WorkerId worker, BootTime now) {
  if (probers_.erase(worker) > 0 && probers_.empty()) probe_at_ = now;
}

std::optional<BootTime> Breaker::gives_up_at() const {
  if (!opened_) return std::nullopt;
  return *opened_ + outage_timeout_;
}

BootTime Breaker::outage_time(BootTime now) const {
  return past_outages_ + (opened_ ? now - *opened_ : BootTime::zero());
}

}  // namespace sluice
