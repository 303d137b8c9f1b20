#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sluice::sim {

/// Where a trigger ends in the text that was scanned.
struct TriggerHit {
  std::uint32_t trigger = 0;  ///< Index into the list that the scanner was made from.
  std::size_t end = 0;        ///< Offset behind its last byte.
};

/// Finds all occurrences of many short words in one pass (Aho and Corasick, 1975), so that the cost of an
/// answer does not grow with the number of rules. ASCII case does not count. Immutable; thread-safe.
class TriggerScanner {
 public:
  /// No trigger may be empty.
  explicit TriggerScanner(std::span<const std::string_view> triggers);

  /// Every occurrence, by end offset.
  std::vector<TriggerHit> scan(std::string_view text) const;

 private:
  using State = std::uint16_t;

  void insert(std::string_view trigger, std::uint32_t index);
  void link();
  State& next(State state, std::uint8_t byte_class) { return next_[state * classes_ + byte_class]; }

  std::array<std::uint8_t, 256> class_of_{};  ///< 0: a byte that stands in no trigger.
  std::size_t classes_ = 1;
  std::vector<State> next_;
  std::vector<std::vector<std::uint32_t>> ends_;  ///< For each state, the triggers that end there.
  std::vector<bool> has_end_;
};

}  // namespace sluice::sim
