#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// A line of a file, without its line feed.
struct FileLine {
  std::uint64_t offset = 0;
  std::uint32_t number = 0;  ///< From 1.
  bool too_long = false;     ///< The text was passed over.
  std::string_view text;     ///< Until the next line is read.
};

/// Reads a file line by line, in blocks, with memory for one line and one block. Not thread-safe.
class LineReader {
 public:
  /// `descriptor` stays the caller's. Lines longer than `max_bytes` are passed over.
  LineReader(int descriptor, std::size_t max_bytes);
  /// The next line; nothing at the end. file_unreadable as read_file.
  Result<std::optional<FileLine>> next();

 private:
  Result<void> fill();

  int descriptor_;
  std::size_t max_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;            ///< Of what is not handed out yet.
  std::size_t searched_ = 0;         ///< Up to here there is no line end.
  std::uint64_t buffer_offset_ = 0;  ///< Of the buffer in the file.
  std::uint32_t number_ = 0;
  bool at_end_ = false;
};

}  // namespace sluice
