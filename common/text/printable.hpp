#pragma once

#include <string>
#include <string_view>

/// Foreign text (answers, worker names, errors of providers, names in suites) where it must not give orders:
/// to a terminal, to whoever reads a log, or to a build server.
namespace sluice {

/// A character and the bytes that it stands in.
struct Character {
  std::string_view bytes;
  char32_t code = 0;
};

/// The first character of a text that is not empty. A byte that begins no character counts as one of its own,
/// so that foreign bytes cannot lead past the end.
Character first_character(std::string_view text);

/// True for characters that turn the writing direction or end a line without being a control character: what
/// is shown around them is not what stands there.
bool turns_direction(char32_t code);
/// True if the text has such a character.
bool has_direction_controls(std::string_view text);
/// The text with U+FFFD for each of them; all else stays. REQUIRES: valid UTF-8.
std::string without_direction_controls(std::string_view text);

/// The text with U+FFFD for each of them, and for each other character that nobody sees: zero-width spaces,
/// soft hyphens, byte order marks, joiners where they join nothing, and variation selectors that vary
/// nothing. So texts that differ look different. REQUIRES: valid UTF-8.
std::string without_unseen(std::string_view text);

/// The text with U+FFFD for each control character but tabs and line ends (LF, CR), and for what is no UTF-8.
std::string without_controls(std::string_view text);

/// The text fit for one line of a terminal: line ends and tabs become spaces, other control characters (which
/// could move the cursor or change colours) and what without_unseen() replaces become U+FFFD, as does what is
/// no UTF-8.
std::string printable(std::string_view text);

/// The same for a line of a log, which a build server may read for commands: no `##` is left that could begin
/// one (`##[error]`, `##vso[...]`). Those that begin with `::` count only where a line begins, and a line of
/// ours begins with the time or the program's name.
std::string log_text(std::string_view text);

}  // namespace sluice
