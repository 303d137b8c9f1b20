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
  for (auto permit = held_.begin(); permit != held_.end(); ++permit) {
    if (probes_only && !permit->probe) continue;
    if (!covers(*permit, call)) continue;
    const auto window = own_window(*permit, clock);
    if (!window || now < window->from || now > window->to) continue;
    const TakenPermit taken{*permit, *window};
    held_.erase(permit);
    spent_.push_back({taken.permit.id, true});
    return taken;
  }
  return std::nullopt;
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
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (needed[i] || !covers(held_[i], call)) continue;
      needed[i] = true;
      ++kept;
      break;
    }
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

std::vector<wire::SpentPermit> PermitBook::take_spent() {
  return std::exchange(spent_, {});
}

}  // namespace sluice
