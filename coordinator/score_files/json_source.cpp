#include "coordinator/score_files/json_source.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

constexpr std::string_view white_space = " \t\r\n";
constexpr std::string_view number_bytes = "+.eE";

std::uint32_t line_breaks(const char* begin, const char* end) {
  return static_cast<std::uint32_t>(std::count(begin, end, '\n'));
}

}  // namespace

std::uint32_t JsonSource::line() const {
  // A number is known to be over once the byte behind it was read: a line break there is still its line.
  const char* last = gptr() > eback() ? gptr() - 1 : gptr();
  if (last > counted_to_) {
    lines_before_ += line_breaks(counted_to_, last);
    counted_to_ = last;
  }
  return 1 + lines_before_;
}

JsonSource::int_type JsonSource::underflow() {
  if (end_ != End::none) {
    end_seen_ = true;
    return traits_type::eof();
  }
  lines_before_ += line_breaks(counted_to_, egptr());
  counted_to_ = buffer_.data();
  setg(buffer_.data(), buffer_.data(), buffer_.data());
  text_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  const auto size = static_cast<std::size_t>(text_.gcount());
  if (text_.bad()) {
    end_ = End::unreadable;
  } else if (size < buffer_.size()) {
    end_ = End::whole;
  }
  const std::size_t kept = within_limits(size);
  if (kept == 0) {
    end_seen_ = true;
    return traits_type::eof();
  }
  setg(buffer_.data(), buffer_.data(), buffer_.data() + kept);
  return traits_type::to_int_type(buffer_[0]);
}

std::size_t JsonSource::within_limits(std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const char byte = buffer_[i];
    if (++bytes_ > limits_.text_bytes) {
      end_ = End::text_too_long;
      return i;
    }
    if (in_string_) {
      in_string_ = byte != '"' || escaped_;
      escaped_ = byte == '\\' && !escaped_;
    } else {
      outside_of_strings(byte);
    }
    if (++piece_bytes_ > limits_.piece_bytes) {
      end_ = End::piece_too_long;
      return i;
    }
  }
  return size;
}

void JsonSource::outside_of_strings(char byte) {
  blank_ = blank_ && white_space.find(byte) != std::string_view::npos;
  in_string_ = byte == '"';
  const bool begins_number = byte == '-' || (byte >= '0' && byte <= '9');
  const bool in_number = begins_number || (in_number_ && number_bytes.find(byte) != std::string_view::npos);
  if (in_string_ || (in_number && !in_number_)) piece_bytes_ = 0;
  in_number_ = in_number;
}

}  // namespace sluice
