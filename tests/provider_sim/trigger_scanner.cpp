#include "tests/provider_sim/trigger_scanner.hpp"

namespace sluice::sim {

namespace {

unsigned char fold(char c) {
  return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

}  // namespace

TriggerScanner::TriggerScanner(std::span<const std::string_view> triggers) {
  for (const auto trigger : triggers) {
    for (const char c : trigger) {
      std::uint8_t& byte_class = class_of_[fold(c)];
      if (byte_class == 0) byte_class = static_cast<std::uint8_t>(classes_++);
    }
  }
  for (unsigned char c = 'A'; c <= 'Z'; ++c) class_of_[c] = class_of_[c + 32];
  next_.assign(classes_, 0);
  ends_.emplace_back();
  for (std::uint32_t i = 0; i < triggers.size(); ++i) insert(triggers[i], i);
  link();
}

void TriggerScanner::insert(std::string_view trigger, std::uint32_t index) {
  State state = 0;
  for (const char c : trigger) {
    const std::uint8_t byte_class = class_of_[fold(c)];
    if (next(state, byte_class) == 0) {
      const auto fresh = static_cast<State>(ends_.size());
      ends_.emplace_back();
      next_.resize(next_.size() + classes_, 0);
      next(state, byte_class) = fresh;
    }
    state = next(state, byte_class);
  }
  ends_[state].push_back(index);
}

/// Breadth first, so that a state's fallback is complete before the state itself is: the table becomes a
/// plain automaton with one step a byte.
void TriggerScanner::link() {
  std::vector<State> fallback(ends_.size(), 0);
  std::vector<State> order;
  for (std::size_t c = 1; c < classes_; ++c) {
    if (next_[c] != 0) order.push_back(next_[c]);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const State state = order[i];
    const State back = fallback[state];
    ends_[state].insert(ends_[state].end(), ends_[back].begin(), ends_[back].end());
    for (std::size_t c = 1; c < classes_; ++c) {
      const auto byte_class = static_cast<std::uint8_t>(c);
      State& step = next(state, byte_class);
      if (step == 0) {
        step = next(back, byte_class);
      } else {
        fallback[step] = next(back, byte_class);
        order.push_back(step);
      }
    }
  }
  has_end_.resize(ends_.size());
  for (std::size_t state = 0; state < ends_.size(); ++state) has_end_[state] = !ends_[state].empty();
}

std::vector<TriggerHit> TriggerScanner::scan(std::string_view text) const {
  std::vector<TriggerHit> hits;
  std::size_t state = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    state = next_[state * classes_ + class_of_[static_cast<unsigned char>(text[i])]];
    if (!has_end_[state]) continue;
    for (const auto trigger : ends_[state]) hits.push_back({trigger, i + 1});
  }
  return hits;
}

}  // namespace sluice::sim
