#include "coordinator/governor/token_ledger.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>

namespace sluice {

BootTime TokenLedger::earliest(double tokens, BootTime from) {
  replay();
  return newest_.earliest(tokens, from);
}

double TokenLedger::level(BootTime at) {
  replay();
  return newest_.level(at);
}

void TokenLedger::reserve(std::uint64_t charge, double tokens, BootTime at) {
  replay();
  charges_.push_back({charge, at, tokens, false, false});
  newest_.take(tokens, at);
  bound();
}

/// Many come at once, so nothing is replayed before somebody asks for the level.
void TokenLedger::note_foreign(std::uint64_t charge, double tokens, BootTime at) {
  charges_.push_back({charge, at, tokens, false, true});
  stale_ = true;
  bound();
}

void TokenLedger::bound() {
  if (charges_.size() <= defaults::max_retained_charges) return;
  charges_.front().settled = true;
  stale_ = true;
}

void TokenLedger::settle(std::uint64_t charge, double tokens) {
  const auto found = std::ranges::lower_bound(charges_, charge, {}, &Charge::id);
  if (found == charges_.end() || found->id != charge || found->settled) return;
  found->settled = true;
  found->tokens = tokens;
  stale_ = true;
}

void TokenLedger::give_up(BootTime before) {
  for (auto& charge : charges_) {
    if (charge.at >= before) break;
    charge.settled = true;
    stale_ = true;
  }
}

void TokenLedger::reshape(const Bucket::Shape& shape, BootTime now) {
  replay();
  const auto before = newest_.shape();
  if (shape.rate == before.rate && shape.surcharge == 0 && before.surcharge == 0) {
    // Another margin: open charges are settled as before, and none of the room that is new is had at once.
    folded_.reshape(shape, BootTime::zero());
    const double more = std::max(0.0, shape.capacity - before.capacity);
    folded_.delay(BootTime(static_cast<BootTime::rep>(more / shape.rate * 1e6)));
    stale_ = true;
    return;
  }
  // What was charged at another rate is not replayed at this one.
  charges_.clear();
  newest_.reshape(shape, now);
  folded_ = newest_;
}

void TokenLedger::replay() {
  if (!stale_) return;
  stale_ = false;
  while (!charges_.empty() && charges_.front().settled) {
    take(folded_, charges_.front());
    charges_.pop_front();
  }
  newest_ = folded_;
  for (const auto& charge : charges_) take(newest_, charge);
}

}  // namespace sluice
