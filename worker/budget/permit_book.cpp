#include "worker/budget/permit_book.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

std::optional<TimeSpan> own_window(const wire::Permit& permit, const ClockBounds& clock) {
  return clock.own_times_within({boot_time(permit.opens_us), boot_time(permit.closes_us)});
}

}  // namespace

bool covers(const wire::Permit& permit, const wire::CallSize& call) {
  if (permit.size == wire::CallSize{}) return true;
  return call.input_tokens <= permit.size.input_tokens && call.output_tokens <= permit.size.output_tokens;
}

void PermitBook::grant(const wire::Permit& permit) {
  const auto place = std::ranges::upper_bound(held_, permit.closes_us, {}, &wire::Permit::closes_us);
  held_.insert(place, permit);
}

std::optional<TakenPermit> PermitBook::take(const wire::CallSize& call, bool probes_only,
                                            const ClockBounds& clock, BootTime now) {
  const auto open_window = [&](const wire::Permit& permit) -> std::optional<TimeSpan> {
    if ((probes_only && !permit.probe) || !covers(permit, call)) return std::nullopt;
    auto window = own_window(permit, clock);
    return window && window->from <= now && now <= window->to ? window : std::nullopt;
  };
  auto best = held_.end();
  for (auto permit = held_.begin(); permit != held_.end(); ++permit) {
    const bool exact = permit->size == call;
    if ((best != held_.end() && !exact) || !open_window(*permit)) continue;
    best = permit;
    if (exact) break;
  }
  if (best == held_.end()) return std::nullopt;
  const TakenPermit taken{*best, *open_window(*best)};
  held_.erase(best);
  spent_.push_back({taken.permit.id, true});
  return taken;
}

void PermitBook::drop_closed(const ClockBounds& clock, BootTime now) {
  std::erase_if(held_, [&](const wire::Permit& permit) {
    const auto window = own_window(permit, clock);
    if (!window || now <= window->to) return false;
    spent_.push_back({permit.id, false});
    return true;
  });
}

void PermitBook::keep_for(std::span<const wire::CallSize> calls) {
  if (held_.empty()) return;
  std::vector<bool> needed(held_.size());
  std::size_t kept = 0;
  for (const auto& call : calls) {
    if (kept == held_.size()) return;
    auto best = held_.size();
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const bool exact = held_[i].size == call;
      if (needed[i] || (best < held_.size() && !exact) || !covers(held_[i], call)) continue;
      best = i;
      if (exact) break;
    }
    if (best == held_.size()) continue;
    needed[best] = true;
    ++kept;
  }
  std::size_t position = 0;
  std::erase_if(held_, [&](const wire::Permit& permit) {
    if (needed[position++]) return false;
    spent_.push_back({permit.id, false});
    return true;
  });
}

void PermitBook::forget() {
  held_.clear();
  spent_.clear();
}

std::optional<BootTime> PermitBook::next_change(const ClockBounds& clock, BootTime now) const {
  std::optional<BootTime> next;
  const auto consider = [&](BootTime when) {
    if (when > now && (!next || when < *next)) next = when;
  };
  for (const auto& permit : held_) {
    const auto window = own_window(permit, clock);
    if (!window) continue;
    if (window->from <= window->to) consider(window->from);
    consider(window->to + BootTime(1));
  }
  return next;
}

bool PermitBook::has_unused() const {
  return !std::ranges::all_of(spent_, &wire::SpentPermit::used);
}

std::vector<wire::SpentPermit> PermitBook::take_spent() {
  return std::exchange(spent_, {});
}

}  // namespace sluice
