#include "coordinator/suite/documents/line_reader.hpp"

#include "coordinator/defaults.hpp"

#include <cerrno>
#include <system_error>

#include <unistd.h>

namespace sluice {

LineReader::LineReader(int descriptor, std::size_t max_bytes)
    : descriptor_(descriptor), max_bytes_(max_bytes) {}

Result<std::optional<FileLine>> LineReader::next() {
  FileLine line;
  line.offset = buffer_offset_ + begin_;
  line.number = number_ + 1;
  while (true) {
    const auto end = buffer_.find('\n', searched_);
    const bool has_end = end != std::string::npos;
    const bool is_last = at_end_ && (begin_ < buffer_.size() || line.too_long);
    if (has_end || is_last) {
      const std::size_t stop = has_end ? end : buffer_.size();
      line.too_long = line.too_long || stop - begin_ > max_bytes_;
      if (!line.too_long) line.text = std::string_view(buffer_).substr(begin_, stop - begin_);
      begin_ = searched_ = has_end ? stop + 1 : stop;
      ++number_;
      return line;
    }
    if (at_end_) return std::nullopt;
    searched_ = buffer_.size();
    if (searched_ - begin_ > max_bytes_) {
      line.too_long = true;
      begin_ = searched_;
    }
    if (const auto filled = fill(); !filled) return fail(filled.error());
  }
}

Result<void> LineReader::fill() {
  buffer_.erase(0, begin_);
  buffer_offset_ += begin_;
  searched_ -= begin_;
  begin_ = 0;
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + defaults::line_block_bytes);
  ssize_t got = -1;
  do {
    got = ::pread(descriptor_, buffer_.data() + kept, defaults::line_block_bytes,
                  static_cast<off_t>(buffer_offset_ + kept));
  } while (got < 0 && errno == EINTR);
  const int error = errno;
  buffer_.resize(kept + (got > 0 ? static_cast<std::size_t>(got) : 0));
  if (got < 0)
    return fail(Reason::file_unreadable, "cannot be read: " + std::generic_category().message(error));
  at_end_ = got == 0;
  return {};
}

}  // namespace sluice
