#pragma once

#include "common/model/claim.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace sluice {

/// Appends JSON to a text without building a document first: a report may hold a million fixtures. The caller
/// keeps the order of brackets; commas come by themselves.
class Json {
 public:
  explicit Json(std::string& out) : out_(out) {}

  /// The next member's name, which needs no escapes.
  Json& key(std::string_view name) {
    out_ += fresh_ ? "\"" : ", \"";
    out_ += name;
    out_ += "\": ";
    fresh_ = true;
    return *this;
  }
  template <std::size_t size>
  Json& key(const char (&name)[size]) {
    Piece piece(out_);
    add_name(piece, name);
    piece.flush();
    fresh_ = true;
    return *this;
  }
  /// The same for a name that is foreign text.
  Json& key_of(std::string_view name) {
    separate();
    append_text(name);
    out_ += ": ";
    fresh_ = true;
    return *this;
  }
  void open(char bracket) {
    separate();
    out_ += bracket;
    fresh_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    fresh_ = false;
  }
  /// A text, a number, a boolean, a claim's value, or an optional one of these. JSON has no infinity and no
  /// NaN: they become null.
  template <class T>
  void value(const T& content) {
    Piece piece(out_);
    if (!fresh_) piece.add(", ");
    fresh_ = false;
    put(piece, content);
    piece.flush();
  }
  void null() { raw("null"); }
  /// A value that is JSON already.
  void raw_json(std::string_view text) { raw(text); }
  template <class T>
  void member(std::string_view name, const T& content) {
    key(name).value(content);
  }
  template <std::size_t size, class T>
  void member(const char (&name)[size], const T& content) {
    Piece piece(out_);
    add_name(piece, name);
    fresh_ = false;
    put(piece, content);
    piece.flush();
  }
  /// A member that is an object of texts by names, which may be foreign.
  void texts(std::string_view name, const std::map<std::string, std::string, std::less<>>& by_name) {
    key(name).open('{');
    for (const auto& [one, text] : by_name) key_of(one).value(text);
    close('}');
  }
  /// A line break and an indentation in front of what comes next.
  void line(std::size_t depth) {
    if (!fresh_) out_ += ',';
    out_ += '\n';
    out_.append(2 * depth, ' ');
    fresh_ = true;
  }
  /// For line breaks in front of a closing bracket.
  std::string& text() { return out_; }

 private:
  /// A member's name and a short value, which are appended together: a report has a hundred of them for each
  /// case, and to append costs more than to copy a few bytes whose number the compiler knows.
  class Piece {
   public:
    explicit Piece(std::string& out) : out_(out) {}

    template <std::size_t size>
    void add(const char (&literal)[size]) {
      static_assert(size <= longest_literal);
      std::memcpy(end_, literal, size - 1);
      end_ += size - 1;
    }
    void add(auto number) { end_ = std::to_chars(end_, end_ + 32, number).ptr; }
    /// False, and nothing is added, if it is too long, or JSON has it otherwise than it is.
    bool add_plain(std::string_view text) {
      if (text.size() > longest_text || !is_plain_json(text)) return false;
      *end_++ = '"';
      end_ = std::ranges::copy(text, end_).out;
      *end_++ = '"';
      return true;
    }
    void flush() {
      out_.append(bytes_.data(), end_);
      end_ = bytes_.data();
    }

   private:
    static constexpr std::size_t longest_literal = 48;
    static constexpr std::size_t longest_text = 64;

    std::string& out_;
    std::array<char, 3 * longest_literal + longest_text + 2> bytes_;
    char* end_ = bytes_.data();
  };

  /// Control characters beyond ASCII's, which a terminal may follow.
  static bool is_control(char32_t code) { return code >= 0x7f && code < 0xa0; }
  static bool has_controls(std::string_view text) {
    for (auto at = text.find_first_of("\x7f\xc2"); at != std::string_view::npos;
         at = text.find_first_of("\x7f\xc2", at + 1)) {
      if (is_control(first_character(text.substr(at)).code)) return true;
    }
    return false;
  }
  /// Such, and characters that turn the writing direction, are escaped: a reader gets them, and whoever looks
  /// at the file is not misled.
  void append_text(std::string_view text) {
    if (is_plain_ascii(text) || (!has_direction_controls(text) && !has_controls(text)))
      return append_json_string(out_, text);
    std::string quoted;
    append_json_string(quoted, text);
    constexpr std::string_view hex = "0123456789abcdef";
    for (std::string_view rest = quoted; !rest.empty();) {
      const Character next = first_character(rest);
      rest.remove_prefix(next.bytes.size());
      if (!turns_direction(next.code) && !is_control(next.code)) {
        out_ += next.bytes;
        continue;
      }
      out_ += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out_ += hex[(next.code >> shift) & 0xfu];
    }
  }
  void separate() {
    if (!fresh_) out_ += ", ";
    fresh_ = false;
  }
  void raw(std::string_view text) {
    separate();
    out_ += text;
  }
  template <std::size_t size>
  void add_name(Piece& piece, const char (&name)[size]) const {
    fresh_ ? piece.add("\"") : piece.add(", \"");
    piece.add(name);
    piece.add("\": ");
  }
  void put(Piece& piece, std::string_view text) {
    if (piece.add_plain(text)) return;
    piece.flush();
    append_text(text);
  }
  void put(Piece& piece, const char* text) { put(piece, std::string_view(text)); }
  void put(Piece& piece, const std::string& text) { put(piece, std::string_view(text)); }
  static void put(Piece& piece, bool boolean) { boolean ? piece.add("true") : piece.add("false"); }
  static void put(Piece& piece, std::integral auto number) { piece.add(number); }
  static void put(Piece& piece, double number) {
    if (!std::isfinite(number)) return piece.add("null");
    // Most scores are 0 or 1, of which the shortest form needs no search.
    const int whole = number == 1.0 ? 1 : 0;
    if (number == whole && !std::signbit(number)) return piece.add(whole);
    piece.add(number);
  }
  template <class T>
  void put(Piece& piece, const std::optional<T>& optional) {
    optional ? put(piece, *optional) : piece.add("null");
  }
  void put(Piece& piece, const ClaimValue& claim) {
    std::visit([&](const auto& inner) { put(piece, inner); }, claim);
  }

  std::string& out_;
  bool fresh_ = true;  // Nothing stands before the next value that a comma must part it from.
};

}  // namespace sluice
