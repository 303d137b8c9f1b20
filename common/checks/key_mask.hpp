#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What stands in a key's place.
inline constexpr std::string_view masked_key = "[key]";

/// Takes API keys out of foreign text: each becomes "[key]". Found are a key as it is, in any letter case,
/// percent-encoded, escaped as in JSON, with line ends (and blanks behind them) between its characters, and
/// in Base64, alone or in the midst of other text ("Bearer ..."). JSON text stays JSON text. Immutable;
/// thread-safe.
class KeyMask {
 public:
  /// Which keys are looked for.
  enum class Keys {
    /// Those of at least 8 characters that are no word: servers without keys are given one ("EMPTY",
    /// "not-needed"), which an answer may use. A word has fewer than 20 characters, all of them letters, '-',
    /// '_' or '.', or is a number.
    unmistakable,
    /// Those of at least 5 characters: no message needs the word.
    all,
  };

  KeyMask() = default;
  /// What is looked for is each key's `usable_key`.
  explicit KeyMask(std::span<const std::string> keys, Keys which = Keys::unmistakable);
  explicit KeyMask(std::string_view key, Keys which = Keys::unmistakable);

  /// The text without keys; nothing if there is none in it. Linear in the text.
  std::optional<std::string> masked(std::string_view text) const;
  /// Takes the keys out of the text. Returns whether there were any.
  bool apply(std::string& text) const;

 private:
  struct Form {
    std::string text;
    bool base64 = false;  ///< Compared in its letter case; '-' and '_' as '+' and '/'.
  };

  void add(std::string_view key, Keys which);
  void note_beginning(const Form& form);
  /// The end of the longest key that begins there; nothing if none does.
  std::optional<std::size_t> end_of_key(std::string_view text, std::size_t at) const;

  std::vector<Form> forms_;
  // Bytes that can be the first two of a form: they rule out nearly every place.
  std::array<bool, 256> may_begin_{};
  std::array<bool, 256> may_follow_{};
};

/// A key as it is sent: without control characters (the line end of a secret file), and without blanks at its
/// ends.
std::string usable_key(std::string_view key);

}  // namespace sluice
