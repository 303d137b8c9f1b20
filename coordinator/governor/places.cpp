#include "coordinator/governor/places.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

std::uint32_t places_of_run(std::uint32_t total, const KeyPlaces& own, const OtherPlaces& others,
                            BootTime now) {
  const auto idle = [](const KeyPlaces& one) { return one == KeyPlaces(); };
  // What nobody else wants is for work that comes later.
  if (std::ranges::all_of(others.places, idle)) return total;
  std::vector<std::uint32_t> wishes;
  std::uint64_t taken = 0;
  for (const KeyPlaces& one : others.places) {
    wishes.push_back(one.wanted);
    taken += one.taken;
  }
  wishes.insert(wishes.begin() + static_cast<std::ptrdiff_t>(others.before), own.wanted);
  std::vector<std::uint32_t> shares(wishes.size(), 0);
  for (std::uint32_t left = total; left > 0;) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
      if (shares[i] < wishes[i]) open.push_back(i);
    }
    if (open.empty()) break;
    const auto each = std::max(1u, left / static_cast<std::uint32_t>(open.size()));
    if (left < open.size())
      std::rotate(open.begin(),
                  open.begin() + now / defaults::place_turn % static_cast<BootTime::rep>(open.size()),
                  open.end());
    for (const std::size_t i : open) {
      const auto more = std::min({each, wishes[i] - shares[i], left});
      shares[i] += more;
      left -= more;
    }
  }
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(shares[others.before], total - std::min<std::uint64_t>(total, taken)));
}

std::uint32_t Places::Holder::taken() const {
  std::uint32_t most_sent = std::max(places, in_flight);
  for (const auto& one : sent) most_sent = std::max(most_sent, one.places);
  return most_sent;
}

void Places::Holder::give(std::uint32_t now_places, BootTime now) {
  if (now_places == places) return;
  places = now_places;
  sent.push_back({now, now_places});
}

void Places::join(WorkerId worker, std::uint32_t most, BootTime now) {
  forget_ended(now);
  auto& holder = holders_[worker];
  holder = {};
  holder.most = most;
  holder.joined = now;
}

void Places::leave(WorkerId worker, BootTime free_at) {
  const auto found = holders_.find(worker);
  if (found == holders_.end()) return;
  const auto taken = found->second.taken();
  if (bound_ == Bound::fixed && taken > 0) lost_.emplace(worker, Lost{taken, free_at});
  holders_.erase(found);
}

void Places::on_demand(WorkerId worker, std::uint64_t wanted, std::uint32_t in_flight,
                       BootTime newest_grants) {
  const auto found = holders_.find(worker);
  if (found == holders_.end()) return;
  auto& holder = found->second;
  holder.wanted = wanted;
  holder.in_flight = in_flight;
  while (holder.sent.size() > 1 && holder.sent[1].at <= newest_grants) holder.sent.pop_front();
  // It is back and goes by what it was sent since: what it still has in flight is counted with it from here
  // on.
  if (newest_grants >= holder.joined && !std::exchange(holder.caught_up, true)) lost_.erase(worker);
}

std::uint64_t Places::taken(BootTime now) const {
  std::uint64_t taken = 0;
  for (const auto& [worker, holder] : holders_) taken += holder.taken();
  for (const auto& [worker, lost] : lost_) {
    if (lost.free_at > now) taken += lost.places;
  }
  return taken;
}

std::uint64_t Places::wanted() const {
  std::uint64_t wanted = 0;
  for (const auto& [worker, holder] : holders_) wanted += holder.wanted;
  return wanted;
}

/// By demand, the smaller ones whole (max-min fairness); what nobody wants is spread evenly beforehand, so
/// that work that comes later need not wait for it.
std::vector<std::uint32_t> Places::fair_shares(std::uint32_t total, BootTime now) const {
  std::vector<std::uint32_t> shares(holders_.size(), 0);
  std::vector<const Holder*> holders;
  for (const auto& [worker, holder] : holders_) holders.push_back(&holder);
  std::uint32_t left = total;
  const auto fill = [&](const auto& bound) {
    for (;;) {
      std::vector<std::size_t> open;
      for (std::size_t i = 0; i < holders.size(); ++i) {
        if (shares[i] < bound(*holders[i])) open.push_back(i);
      }
      if (open.empty() || left == 0) return;
      const auto each = left / static_cast<std::uint32_t>(open.size());
      if (each == 0) {
        // Only where somebody would get nothing at all must the remainder go round.
        const bool some_have_none = std::ranges::any_of(open, [&](std::size_t i) { return shares[i] == 0; });
        const auto offset = some_have_none ? static_cast<std::size_t>(now / defaults::place_turn) : 0;
        for (std::size_t i = 0; left > 0; ++i, --left) ++shares[open[(i + offset) % open.size()]];
        return;
      }
      for (const auto i : open) {
        const auto more = std::min(each, bound(*holders[i]) - shares[i]);
        shares[i] += more;
        left -= more;
      }
    }
  };
  fill([](const Holder& holder) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(holder.most, holder.wanted));
  });
  fill([this](const Holder& holder) {
    return bound_ == Bound::searched || holder.wanted > 0 ? holder.most : 0;
  });
  return shares;
}

void Places::forget_ended(BootTime now) {
  std::erase_if(lost_, [now](const auto& item) { return item.second.free_at <= now; });
}

std::uint32_t Places::total_of_living(std::uint32_t total, BootTime now) {
  forget_ended(now);
  std::uint64_t lost = 0;
  for (const auto& [worker, item] : lost_) lost += item.places;
  return static_cast<std::uint32_t>(total - std::min<std::uint64_t>(total, lost));
}

/// As long as everybody has what it wants nothing is moved: each change is a message.
bool Places::is_settled(std::uint32_t total) const {
  std::uint64_t given = 0;
  for (const auto& [worker, holder] : holders_) {
    given += holder.places;
    if (holder.wanted > holder.places && holder.places < holder.most) return false;
    if (bound_ == Bound::fixed && holder.wanted == 0 && holder.places > 0) return false;
  }
  return given == total;
}

void Places::allot(std::uint32_t total, BootTime now) {
  const auto living = total_of_living(total, now);
  const auto wanting =
      std::ranges::count_if(holders_, [](const auto& item) { return item.second.wanted > 0; });
  rotating_ = living > 0 && static_cast<std::uint64_t>(wanting) > living;
  if (is_settled(living)) return;

  const auto shares = fair_shares(living, now);
  std::size_t i = 0;
  for (auto& [worker, holder] : holders_) {
    const auto share = shares[i++];
    if (share < holder.places || bound_ == Bound::searched) holder.give(share, now);
  }
  if (bound_ == Bound::searched) return;
  std::uint64_t free = total - std::min<std::uint64_t>(total, taken(now));
  i = 0;
  for (auto& [worker, holder] : holders_) {
    const auto share = shares[i++];
    if (share <= holder.places) continue;
    // Up to what it may still be using anyway costs nothing.
    const auto already = std::min(share, holder.taken());
    const auto more = static_cast<std::uint32_t>(std::min<std::uint64_t>(share - already, free));
    const auto places = std::max(holder.places, already + more);
    free -= more;
    holder.give(places, now);
  }
}

std::uint32_t Places::of(WorkerId worker) const {
  const auto found = holders_.find(worker);
  return found == holders_.end() ? 0 : found->second.places;
}

std::optional<BootTime> Places::next_change(BootTime now) const {
  std::optional<BootTime> next;
  if (rotating_) next = (now / defaults::place_turn + 1) * defaults::place_turn;
  for (const auto& [worker, lost] : lost_) {
    if (lost.free_at > now && (!next || lost.free_at < *next)) next = lost.free_at;
  }
  return next;
}

}  // namespace sluice
