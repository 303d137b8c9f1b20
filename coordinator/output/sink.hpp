#pragma once

#include "coordinator/defaults.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// Where a report goes. A sink remembers its first failure and swallows what comes after it; whoever opened
/// it asks for the failure once the report is written (output_file.hpp).
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::string_view bytes) = 0;
};

/// Keeps everything in memory: for small texts and tests.
class StringSink final : public Sink {
 public:
  void write(std::string_view bytes) override { text_.append(bytes); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Gathers small pieces before they go to a sink, so that the memory of a report is flat. Flushes at the end
/// of its life.
class BufferedWriter {
 public:
  explicit BufferedWriter(Sink& sink) : sink_(sink) { buffer_.reserve(2 * defaults::output_buffer_bytes); }
  ~BufferedWriter() { flush(); }
  BufferedWriter(const BufferedWriter&) = delete;
  BufferedWriter& operator=(const BufferedWriter&) = delete;

  /// Append here, then call `passed` now and then.
  std::string& text() { return buffer_; }
  /// Hands the buffer on if it has grown large enough.
  void passed() {
    if (buffer_.size() >= defaults::output_buffer_bytes) flush();
  }
  /// For bytes that are many already: they go past the buffer.
  void write(std::string_view bytes) {
    flush();
    if (!bytes.empty()) sink_.write(bytes);
  }
  void flush() {
    if (!buffer_.empty()) sink_.write(buffer_);
    buffer_.clear();
  }

 private:
  Sink& sink_;
  std::string buffer_;
};

}  // namespace sluice
