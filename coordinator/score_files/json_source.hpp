#pragma once

#include "coordinator/defaults.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <streambuf>

namespace sluice {

/// JSON text on its way into a parser, piece by piece: counts lines, and ends the text early where a limit is
/// passed, so that no text can make the parser take more memory than a few pieces.
class JsonSource final : public std::streambuf {
 public:
  struct Limits {
    std::uint64_t text_bytes = defaults::max_json_bytes;
    /// From where one text or number begins to where the next does: a parser keeps all of it.
    std::size_t piece_bytes = defaults::max_json_piece_bytes;
  };
  /// Why the text ended.
  enum class End : std::uint8_t { none, whole, unreadable, text_too_long, piece_too_long };

  JsonSource(std::istream& text, Limits limits) : text_(text), limits_(limits) {
    setg(buffer_.data(), buffer_.data(), buffer_.data());
  }

  /// Of the byte that was read last, from 1.
  std::uint32_t line() const;
  /// `none` until the end was read.
  End end() const { return end_seen_ ? end_ : End::none; }
  /// No byte but white space was read.
  bool blank() const { return blank_; }

 protected:
  int_type underflow() override;

 private:
  /// How much of the piece keeps the limits.
  std::size_t within_limits(std::size_t size);
  void outside_of_strings(char byte);

  std::istream& text_;
  Limits limits_;
  std::array<char, defaults::json_read_bytes> buffer_{};
  std::uint64_t bytes_ = 0;
  // Counted on demand, each byte once.
  mutable std::uint32_t lines_before_ = 0;           ///< Line breaks before counted_to_.
  mutable const char* counted_to_ = buffer_.data();  ///< In the buffer.
  std::size_t piece_bytes_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_number_ = false;
  bool blank_ = true;
  bool end_seen_ = false;
  End end_ = End::none;
};

}  // namespace sluice
