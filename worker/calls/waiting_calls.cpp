#include "worker/calls/waiting_calls.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void begin_ready(CallId id, Call& call, TimePoint now) {
  call.state = Call::State::ready;
  call.waits.begin(now, call.provider->budget.paused(now));
  call.provider->ready.insert(id);
}

void end_ready(CallId id, Call& call, TimePoint now) {
  if (call.provider->ready.erase(id) > 0) call.waits.end_ready(now, call.provider->budget.paused(now));
}

void begin_back_off(Call& call) {
  call.state = Call::State::backing_off;
  ++call.provider->backing_off;
}

void end_back_off(Call& call, TimePoint now) {
  call.waits.end_back_off(now);
  --call.provider->backing_off;
}

std::vector<CallId> probe_order(const CalledProvider& provider, const CallTable& calls) {
  std::vector<CallId> ids(provider.ready.begin(), provider.ready.end());
  std::ranges::stable_sort(ids, {}, [&](CallId id) {
    const auto& call = calls.at(id);
    return std::pair(call.fails_alone(), call.outages.failed_probes());
  });
  return ids;
}

bool all_probes_failed(const CalledProviders& providers, const CallTable& calls) {
  return std::ranges::any_of(providers, [&](const auto& named) {
    if (!named.second.budget.in_outage()) return false;
    bool any = false;
    for (const auto& [id, call] : calls) {
      if (call.provider != &named.second) continue;
      if (call.outages.failed_probes() == 0 && !call.fails_alone()) return false;
      any = true;
    }
    return any;
  });
}

std::vector<wire::CallSize> next_sizes(const CalledProvider& provider, CallTable& calls) {
  std::vector<wire::CallSize> sizes;
  sizes.reserve(std::min(provider.ready.size(), wire::max_demand_sizes));
  const auto add = [&](const auto& ids) {
    for (const auto id : ids) {
      if (sizes.size() == wire::max_demand_sizes) break;
      sizes.push_back(calls.at(id).known_size());
    }
  };
  provider.budget.in_outage() ? add(probe_order(provider, calls)) : add(provider.ready);
  return sizes;
}

std::vector<CallId> waiting_calls(const CalledProvider& provider, const CallTable& calls) {
  std::vector<CallId> ids;
  for (const auto& [id, call] : calls) {
    const bool waits = call.state == Call::State::ready || call.state == Call::State::backing_off;
    if (waits && call.provider == &provider) ids.push_back(id);
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace sluice
