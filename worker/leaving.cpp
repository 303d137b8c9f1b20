#include "worker/leaving.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void Leaving::begin(Farewell farewell, TimePoint until) {
  until_ = begun() ? std::min(until_, until) : until;
  farewell_ = at_once(std::move(farewell));
}

Farewell Leaving::at_once(Farewell farewell) const {
  if (!farewell_) return farewell;
  auto first = *farewell_;
  first.ends = first.ends || farewell.ends;
  return first;
}

std::optional<Farewell> Leaving::when_done(const HeldUnits& held, bool connected, TimePoint now) const {
  const bool worked = held.waiting() == 0 && held.running() == 0;
  const bool over = now >= until_ || (worked && (held.done() == 0 || !connected));
  return over ? farewell_ : std::nullopt;
}

}  // namespace sluice
