#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A line of two texts, where they agree, or what one has instead of the other's.
struct LinePair {
  enum class Kind : std::uint8_t { same, changed, only_left, only_right };
  Kind kind = Kind::same;
  std::string_view left{};
  std::string_view right{};
  friend bool operator==(const LinePair&, const LinePair&) = default;
};

/// Every line of both texts, in order, with as many as possible that agree; of long texts that share little
/// fewer. The texts must outlive it.
std::vector<LinePair> pair_lines(std::string_view left, std::string_view right);

/// Two texts beside each other under headings, in at most `columns` columns (at least 40 are assumed): `|`
/// stands between lines that differ, `<` and `>` beside a line that one text alone has, and long stretches
/// that agree are left out. Foreign text cannot move the cursor. Ends with a line feed.
std::string side_by_side(std::string_view left_heading, std::string_view left, std::string_view right_heading,
                         std::string_view right, std::size_t columns);

}  // namespace sluice
