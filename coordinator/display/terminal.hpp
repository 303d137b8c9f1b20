#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// What stands behind a descriptor, as far as it matters to what is written there.
struct Terminal {
  bool is_terminal =
      false;  ///< A terminal that understands escape sequences: TERM names one, and not `dumb`.
  /// Such a terminal, or FORCE_COLOR has a value (force-color.org) that is not `0`; and NO_COLOR is unset or
  /// empty (no-color.org).
  bool colour = false;
  std::optional<std::size_t> columns;  ///< Its width, where one is known.
};

/// The rule alone: `term`, `no_colour` and `force_colour` are the variables' values, null where they are not
/// set.
Terminal terminal_of(bool is_tty, const char* term, const char* no_colour,
                     const char* force_colour = nullptr);

/// Asks the system and the environment about a descriptor.
Terminal detect_terminal(int descriptor);

/// The codes that begin a colour.
namespace ansi {
inline constexpr std::string_view red = "\x1b[31m";
inline constexpr std::string_view green = "\x1b[32m";
inline constexpr std::string_view yellow = "\x1b[33m";
inline constexpr std::string_view bold = "\x1b[1m";
inline constexpr std::string_view dim = "\x1b[2m";
}  // namespace ansi

/// The words behind the code that begins a colour, which ends with them; as they are without a code.
std::string in_colour(std::string_view code, std::string_view words);

/// How wide what goes to stdout may be: 80 where it is no terminal.
std::size_t output_columns();

}  // namespace sluice
