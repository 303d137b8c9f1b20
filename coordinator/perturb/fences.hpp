#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice {

/// The line that begins fenced code.
struct Fence {
  std::string_view mark;   ///< Three backticks or tildes, or more.
  std::size_t column = 0;  ///< The line that closes it has its mark less than four blanks behind this.
};

/// Without its line end.
std::string_view first_line(std::string_view text);
/// The first byte as often as it follows on itself.
std::string_view run_of(std::string_view text);
/// Behind a mark of a list that begins the text, `-` or `1.`; 0 if none does.
std::size_t end_of_list_mark(std::string_view text);
/// A fence may stand in an item of a list, and be indented as the item is.
std::optional<Fence> fence_of(std::string_view line);
/// The end of the line that closes the fence whose first line holds `at`, or of the text.
std::size_t end_of_fence(std::string_view text, std::size_t at, const Fence& fence);
/// The end of the last of the fences that begin behind the line end at `feed`; `feed` itself if none does.
std::size_t behind_fences(std::string_view text, std::size_t feed);

}  // namespace sluice
