#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::sim {

inline constexpr std::size_t max_head_bytes = 64u << 10;  ///< More than any client of an HTTP API sends.
inline constexpr std::size_t max_body_bytes = 32u << 20;  ///< Anthropic's own limit for a request.

struct HttpHeader {
  std::string_view name;
  std::string_view value;  ///< Without surrounding white space.
};

/// A whole request. All views lie in the parser's buffer and die with `HttpParser::discard`.
struct HttpRequest {
  std::string_view method;
  std::string_view target;
  std::string_view body;
  std::vector<HttpHeader> headers;
  bool keep_alive = true;

  /// The first header of that name (ASCII case does not count); empty if there is none.
  std::string_view header(std::string_view name) const;
};

/// True if both are the same but for ASCII case.
bool equal_ignoring_case(std::string_view a, std::string_view b);

/// An incremental HTTP/1.1 request parser (RFC 9112) that owns its input buffer: fill `space`, `commit` what
/// came, ask `parse`. Bodies come with a length or chunked. Not thread-safe.
class HttpParser {
 public:
  enum class Outcome { incomplete, complete, failed };

  /// Free room to read into, at least `at_least` bytes.
  std::span<char> space(std::size_t at_least);
  void commit(std::size_t bytes);

  /// Looks at what is there. `complete`: `request()` is valid until `discard`. `failed`: `error_status()`
  /// says which answer to give, and the connection is of no further use.
  Outcome parse();
  const HttpRequest& request() const { return request_; }
  int error_status() const { return error_status_; }
  /// True once for each request whose client waits for `100 Continue` before it sends the body.
  bool take_continue();
  /// Drops the complete request, keeping what was pipelined behind it.
  void discard();
  /// Drops everything.
  void clear();

 private:
  enum class Stage { head, body, chunk_size, chunk_data, trailers, complete, failed };
  struct Slice {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct HeaderSlices {
    Slice name;
    Slice value;
  };

  bool parse_head();
  bool parse_request_line(std::size_t line_end);
  bool parse_header_line(std::size_t begin, std::size_t end);
  bool understand_headers();
  bool parse_body();
  bool parse_chunk_size();
  bool parse_chunk_data();
  bool parse_trailers();
  bool fail(int status);
  void publish();
  std::string_view view(Slice slice) const { return {buffer_.data() + slice.begin, slice.size}; }

  std::string buffer_;
  std::size_t begin_ = 0;   ///< First byte of the current request.
  std::size_t filled_ = 0;  ///< End of what was read.
  std::size_t at_ = 0;      ///< How far the current stage has come.
  Stage stage_ = Stage::head;
  Slice method_;
  Slice target_;
  Slice body_;
  std::vector<HeaderSlices> headers_;
  std::size_t remaining_ = 0;  ///< Bytes left of the body or the chunk.
  bool version_1_0_ = false;
  bool wants_continue_ = false;
  bool chunked_ = false;
  int error_status_ = 0;
  HttpRequest request_;
};

}  // namespace sluice::sim
