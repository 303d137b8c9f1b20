#include "worker/leaving.hpp"

#include "common/wire/versions.hpp"
#include "worker/defaults.hpp"

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

Farewell UnreadWork::on_unread(Error why, std::uint8_t protocol) {
  const bool comes_back =
      ++in_a_row_ < defaults::max_unread_in_a_row && protocol >= wire::first_with_errors_of_goodbyes;
  Farewell farewell{why.message, std::nullopt, !comes_back, true};
  if (!comes_back) farewell.error = std::move(why);
  return farewell;
}

void Leaving::begin(Farewell farewell, TimePoint until) {
  until_ = begun() ? std::min(until_, until) : until;
  farewell_ = at_once(std::move(farewell));
}

Farewell Leaving::at_once(Farewell farewell) const {
  if (!farewell_) return farewell;
  auto first = *farewell_;
  if (!first.error && !first.ends) first.error = std::move(farewell.error);
  first.ends = first.ends || farewell.ends;
  return first;
}

std::optional<Farewell> Leaving::when_done(const HeldUnits& held, bool connected, TimePoint now) const {
  const bool worked = held.waiting() == 0 && held.running() == 0;
  const bool over = now >= until_ || (worked && (held.done() == 0 || !connected));
  return over ? farewell_ : std::nullopt;
}

}  // namespace sluice
