#include "tests/provider_sim/http_parser.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sluice::sim {

namespace {

constexpr std::size_t usual_buffer_bytes = 16u << 10;  // holds an ordinary request whole

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

bool is_token_char(char c) {
  const char l = lower(c);
  return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
}

template <class Number>
bool read_number(std::string_view text, int base, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& header : headers) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

std::span<char> HttpParser::space(std::size_t at_least) {
  if (filled_ + at_least > buffer_.size()) {
    buffer_.resize(std::max({filled_ + at_least, usual_buffer_bytes, buffer_.size() + buffer_.size() / 2}));
  }
  return {buffer_.data() + filled_, buffer_.size() - filled_};
}

void HttpParser::commit(std::size_t bytes) {
  filled_ += bytes;
}

bool HttpParser::fail(int status) {
  error_status_ = status;
  stage_ = Stage::failed;
  return false;
}

HttpParser::Outcome HttpParser::parse() {
  bool progress = true;
  while (progress) {
    switch (stage_) {
      case Stage::head:
        progress = parse_head();
        break;
      case Stage::body:
        progress = parse_body();
        break;
      case Stage::chunk_size:
        progress = parse_chunk_size();
        break;
      case Stage::chunk_data:
        progress = parse_chunk_data();
        break;
      case Stage::trailers:
        progress = parse_trailers();
        break;
      case Stage::complete:
        publish();
        return Outcome::complete;
      case Stage::failed:
        return Outcome::failed;
    }
  }
  return stage_ == Stage::failed ? Outcome::failed : Outcome::incomplete;
}

bool HttpParser::parse_head() {
  // Some clients send an empty line behind a body (RFC 9112, 2.2: ignore it).
  while (filled_ - begin_ >= 2 && at_ == begin_ && buffer_[begin_] == '\r' && buffer_[begin_ + 1] == '\n') {
    begin_ += 2;
    at_ = begin_;
  }
  const std::size_t from = at_ - std::min<std::size_t>(at_ - begin_, 3);
  const auto head_end = std::string_view(buffer_.data(), filled_).find("\r\n\r\n", from);
  if (head_end == std::string_view::npos) {
    at_ = filled_;
    // Of TLS, say, no end would ever come.
    const bool is_no_request = begin_ < filled_ && buffer_[begin_] != '\r' && !is_token_char(buffer_[begin_]);
    if (is_no_request) return fail(400);
    return filled_ - begin_ > max_head_bytes ? fail(431) : false;
  }
  if (head_end - begin_ > max_head_bytes) return fail(431);
  const std::string_view head(buffer_.data(), head_end);
  std::size_t line_end = std::min(head.find("\r\n", begin_), head_end);
  if (!parse_request_line(line_end)) return fail(error_status_ != 0 ? error_status_ : 400);
  headers_.clear();
  while (line_end < head_end) {
    const std::size_t begin = line_end + 2;
    line_end = std::min(head.find("\r\n", begin), head_end);
    if (!parse_header_line(begin, line_end)) return fail(400);
  }
  at_ = head_end + 4;
  return understand_headers();
}

bool HttpParser::parse_request_line(std::size_t line_end) {
  const std::string_view line(buffer_.data() + begin_, line_end - begin_);
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || first == 0) return false;
  method_ = {begin_, first};
  target_ = {begin_ + first + 1, last - first - 1};
  const std::string_view version = line.substr(last + 1);
  version_1_0_ = version == "HTTP/1.0";
  if (version != "HTTP/1.1" && !version_1_0_) error_status_ = 505;
  return error_status_ == 0 && view(method_).find_first_of("\r\n\t") == std::string_view::npos &&
         view(target_).find_first_of(" \t\r\n") == std::string_view::npos && target_.size > 0;
}

bool HttpParser::parse_header_line(std::size_t begin, std::size_t end) {
  const std::string_view line(buffer_.data() + begin, end - begin);
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  if (!std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), is_token_char))
    return false;
  std::size_t value_begin = begin + colon + 1;
  std::size_t value_end = end;
  auto blank = [this](std::size_t at) { return buffer_[at] == ' ' || buffer_[at] == '\t'; };
  while (value_begin < value_end && blank(value_begin)) ++value_begin;
  while (value_end > value_begin && blank(value_end - 1)) --value_end;
  headers_.push_back({{begin, colon}, {value_begin, value_end - value_begin}});
  return true;
}

bool HttpParser::understand_headers() {
  bool has_length = false;
  remaining_ = 0;
  chunked_ = wants_continue_ = false;
  request_.keep_alive = !version_1_0_;
  for (const auto& header : headers_) {
    const std::string_view name = view(header.name);
    const std::string_view value = view(header.value);
    if (equal_ignoring_case(name, "content-length")) {
      std::size_t length = 0;
      if (!read_number(value, 10, length) || (has_length && length != remaining_)) return fail(400);
      remaining_ = length;
      has_length = true;
    } else if (equal_ignoring_case(name, "transfer-encoding")) {
      if (!equal_ignoring_case(value, "chunked")) return fail(501);
      chunked_ = true;
    } else if (equal_ignoring_case(name, "connection")) {
      if (equal_ignoring_case(value, "close")) request_.keep_alive = false;
      if (equal_ignoring_case(value, "keep-alive")) request_.keep_alive = true;
    } else if (equal_ignoring_case(name, "expect")) {
      if (!equal_ignoring_case(value, "100-continue")) return fail(417);
      wants_continue_ = true;
    }
  }
  if (chunked_ && has_length) return fail(400);  // request smuggling (RFC 9112, 6.1)
  if (remaining_ > max_body_bytes) return fail(413);
  body_ = {at_, 0};
  stage_ = chunked_ ? Stage::chunk_size : Stage::body;
  return true;
}

bool HttpParser::parse_body() {
  if (filled_ - at_ < remaining_) {
    // One allocation for a large body instead of many doublings.
    if (at_ + remaining_ > buffer_.size()) buffer_.resize(at_ + remaining_);
    return false;
  }
  body_.size = remaining_;
  at_ += remaining_;
  stage_ = Stage::complete;
  return true;
}

bool HttpParser::parse_chunk_size() {
  const auto line_end = std::string_view(buffer_.data(), filled_).find("\r\n", at_);
  if (line_end == std::string_view::npos) return filled_ - at_ > 1024 ? fail(400) : false;
  std::string_view line(buffer_.data() + at_, line_end - at_);
  line = line.substr(0, line.find(';'));  // chunk extensions mean nothing here
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  if (!read_number(line, 16, remaining_)) return fail(400);
  if (remaining_ > max_body_bytes || body_.size + remaining_ > max_body_bytes) return fail(413);
  at_ = line_end + 2;
  stage_ = remaining_ == 0 ? Stage::trailers : Stage::chunk_data;
  return true;
}

bool HttpParser::parse_chunk_data() {
  if (filled_ - at_ < remaining_ + 2) return false;
  if (buffer_[at_ + remaining_] != '\r' || buffer_[at_ + remaining_ + 1] != '\n') return fail(400);
  // The body is gathered in place: it never grows faster than its chunks are read.
  std::memmove(buffer_.data() + body_.begin + body_.size, buffer_.data() + at_, remaining_);
  body_.size += remaining_;
  at_ += remaining_ + 2;
  stage_ = Stage::chunk_size;
  return true;
}

bool HttpParser::parse_trailers() {
  const auto line_end = std::string_view(buffer_.data(), filled_).find("\r\n", at_);
  if (line_end == std::string_view::npos) return filled_ - at_ > max_head_bytes ? fail(431) : false;
  const bool last = line_end == at_;
  at_ = line_end + 2;
  if (last) stage_ = Stage::complete;
  return true;
}

void HttpParser::publish() {
  request_.method = view(method_);
  request_.target = view(target_);
  request_.body = view(body_);
  request_.headers.clear();
  for (const auto& header : headers_) request_.headers.push_back({view(header.name), view(header.value)});
}

bool HttpParser::take_continue() {
  const bool waits = wants_continue_ && (stage_ == Stage::body || stage_ == Stage::chunk_size);
  if (waits) wants_continue_ = false;
  return waits;
}

void HttpParser::discard() {
  begin_ = at_;
  stage_ = Stage::head;
  error_status_ = 0;
  if (begin_ == filled_) {
    clear();
  } else {
    const std::size_t left = filled_ - begin_;
    std::memmove(buffer_.data(), buffer_.data() + begin_, left);
    begin_ = at_ = 0;
    filled_ = left;
  }
}

void HttpParser::clear() {
  begin_ = at_ = filled_ = 0;
  stage_ = Stage::head;
  error_status_ = 0;
  if (buffer_.size() > (1u << 20)) std::string().swap(buffer_);  // give the memory of a large body back
}

}  // namespace sluice::sim
