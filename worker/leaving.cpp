#include "worker/leaving.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace sluice {

std::string leaving_in_words(std::size_t begun, std::chrono::milliseconds patience) {
  std::ostringstream words;
  words << "leaving; ";
  if (begun == 0) {
    words << "results on their way have ";
  } else {
    words << begun << (begun == 1 ? " unit under way has " : " units under way have ");
  }
  words << std::chrono::duration<double>(patience).count() << (begun == 0 ? " s to be taken" : " s to end")
        << "; press Ctrl-C again, or send one more signal, to end at once";
  return words.str();
}

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
