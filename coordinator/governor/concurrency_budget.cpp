#include "coordinator/governor/concurrency_budget.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <limits>

namespace sluice {

void ConcurrencyBudget::widen(BootTime now) {
  const auto next = widens_at();
  if (!next || now < *next) return;
  widened_at_ = now;
  const auto places = std::max(widened_, defaults::search_first_places);
  widened_ = std::min(defaults::search_max_places, places + places / 2);
}

std::optional<BootTime> ConcurrencyBudget::widens_at() const {
  if (!rate_is_known_ || all_named_ || max_in_flight_ || widened_ >= defaults::search_max_places)
    return std::nullopt;
  return widened_at_ + defaults::widening_interval;
}

void ConcurrencyBudget::join(WorkerId worker, const Members& members, BootTime now) {
  places_.join(worker, members.at(worker).account.most_places(), now);
  count_named(members);
  bound_search(members);
}

void ConcurrencyBudget::leave(WorkerId worker, const Members& members, BootTime busy_until, BootTime now) {
  // What is only searched for is no agreement with the provider: nobody waits for the calls of the dead.
  places_.leave(worker, max_in_flight_ ? busy_until : now);
  count_named(members);
  if (!members.empty()) bound_search(members);
}

void ConcurrencyBudget::count_named(const Members& members) {
  all_named_ = std::ranges::all_of(
      members, [](const auto& item) { return item.second.account.max_concurrent_named(); });
}

void ConcurrencyBudget::bound_search(const Members& members) {
  if (!search_) return;
  const std::uint32_t bound = refused_beyond_.value_or(std::numeric_limits<std::uint32_t>::max());
  search_->set_most(static_cast<std::uint32_t>(std::min<std::uint64_t>(most_named(members), bound)));
}

std::uint64_t ConcurrencyBudget::most_named(const Members& members) const {
  std::uint64_t most = 0;
  for (const auto& [worker, member] : members) most += member.account.most_places();
  return max_in_flight_ ? std::min<std::uint64_t>(most, *max_in_flight_) : most;
}

void ConcurrencyBudget::refuse_beyond(std::optional<std::uint32_t> most, const Members& members) {
  if (refused_beyond_ == most) return;
  refused_beyond_ = most;
  bound_search(members);
}

bool ConcurrencyBudget::wants_beyond_refused(const Members& members) const {
  if (!refused_beyond_ || !search_ || !searches() || search_->limit() < *refused_beyond_) return false;
  return std::min(most_named(members), places_.wanted()) > *refused_beyond_;
}

void ConcurrencyBudget::on_demand(WorkerId worker, const Members& members, BootTime newest_grants) {
  if (!search_ && searches()) {
    std::uint32_t all = 0;
    for (const auto& [id, member] : members) {
      all += std::min(member.account.max_concurrent(), first_places_);
    }
    search_.emplace(std::min(all, first_places_));
    bound_search(members);
  }
  const auto& account = members.at(worker).account;
  places_.on_demand(worker, account.wanted(), account.in_flight(), newest_grants);
}

void ConcurrencyBudget::on_outcomes(const wire::CallOutcomes& outcomes, std::uint32_t failed, bool went_down,
                                    bool is_down, const Members& members) {
  if (!search_ || !searches()) return;
  if (went_down) search_->interrupt();
  // Where other runs leave fewer places, nothing is measured of so many.
  if (is_down || total() < search_->limit()) return;
  std::uint64_t wanted = 0;
  for (const auto& [id, member] : members) wanted += member.account.wanted();
  search_->on_outcomes({outcomes.answered, failed, outcomes.latency_sum_us, outcomes.latency_deviation_us},
                       wanted);
}

KeyPlaces ConcurrencyBudget::of_key(BootTime now) const {
  const auto narrow = [](std::uint64_t count) {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
  };
  return {narrow(places_.taken(now)), narrow(places_.wanted())};
}

void ConcurrencyBudget::leave_to_others(const OtherPlaces& others, BootTime now) {
  if (max_in_flight_) of_this_run_ = places_of_run(*max_in_flight_, of_key(now), others, now);
}

void ConcurrencyBudget::allot(BootTime now) {
  if (searches()) {
    if (search_) places_.allot(std::min(search_->limit(), total()), now);
  } else if (max_in_flight_) {
    places_.allot(total(), now);
  }
}

std::uint32_t ConcurrencyBudget::places_for(WorkerId worker, const Member& member) const {
  if (searches()) return places_.of(worker);
  const auto& account = member.account;
  if (account.most_places() == 0) return 0;
  const bool is_set = account.max_concurrent_named();
  const auto set = account.max_concurrent();
  if (max_in_flight_) return std::min(places_.of(worker), is_set ? set : account.most_places());
  return is_set ? set : std::max(set, widened_);
}

std::optional<BootTime> ConcurrencyBudget::next_change(BootTime now) const {
  if (!max_in_flight_ && !searches()) return std::nullopt;
  auto next = places_.next_change(now);
  // Another run that leaves places sends no message.
  if (max_in_flight_ && of_this_run_ < *max_in_flight_ && places_.wanted() > total()) {
    const auto look = now + defaults::shared_places_interval;
    if (!next || look < *next) next = look;
  }
  return next;
}

void ConcurrencyBudget::describe(BudgetFacts& facts) const {
  const bool searched = search_ && searches();
  if (searched) facts.found_concurrency = refused_beyond_ ? refused_beyond_ : search_->found();
  facts.places = searched ? search_->limit() : max_in_flight_.value_or(0);
}

}  // namespace sluice
