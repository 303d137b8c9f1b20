#pragma once

#include "coordinator/import/pattern_piece.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// A character as RE2 writes it, or one of the sets `\d\w\s\D\W\S` as it stands in a class.
struct PatternCharacter {
  std::uint32_t code = 0;
  std::string text{};
  char set = '\0';             ///< Its letter.
  std::string without_long{};  ///< Of a set: its text without long characters.
};

/// How far a pattern of JavaScript is read.
class PatternCursor {
 public:
  explicit PatternCursor(std::string_view text) : text_(text) {}

  bool has_next(std::size_t offset = 0) const { return at_ + offset < text_.size(); }
  /// NUL at the end.
  char next(std::size_t offset = 0) const { return has_next(offset) ? text_[at_ + offset] : '\0'; }
  std::string_view rest() const { return text_.substr(at_); }
  bool take(std::string_view start);
  void skip(std::size_t bytes) { at_ += bytes; }

  /// Nothing is read any further: JavaScript does not read it, or RE2 does not find it. The first reason
  /// stands.
  void stop_unread();
  void stop_unsaid(std::string why);
  void stop_at_half();
  bool is_unread() const { return is_unread_; }
  const std::string& unsaid() const { return unsaid_; }

  /// A number, as 1,000,000 if it is more; RE2 takes up to 1000.
  std::optional<std::uint32_t> take_number();
  /// A quantifier. A brace that begins none is one of the text.
  std::optional<Repetition> take_repetition();
  /// One of `\d\w\s\D\W\S`.
  std::optional<PatternCharacter> take_set();
  /// The next character, which is one of the text.
  PatternCharacter take_character();
  /// What a backslash stands before. A letter that means nothing is itself.
  PatternCharacter take_escaped(bool is_in_class);

 private:
  std::optional<Repetition> count_in_braces();
  std::optional<std::uint32_t> hexadecimal(std::size_t offset, std::size_t digits) const;
  std::uint32_t octal();
  PatternCharacter control(bool is_in_class);
  std::uint32_t joined_halves(std::uint32_t code);
  PatternCharacter itself();

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_unread_ = false;
  std::string unsaid_{};
};

}  // namespace sluice
