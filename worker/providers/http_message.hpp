#pragma once

#include "common/model/request.hpp"
#include "worker/providers/credentials.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// A POST that a provider's format asks for, or a program that answers in its place: its body is what the
/// program reads, and what it writes is the body of the response. The headers hold the key: never log them.
struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  ///< Each "Name: value", without control characters.
  std::string body;                  ///< Without `shared`.
  SharedText shared = nullptr;       ///< A part that the bodies of other requests have as well; null: none.
  std::size_t shared_at = 0;         ///< Where in `body` it belongs.
  std::shared_ptr<const OwnFormat> program = nullptr;  ///< Null: it is a POST.
};

/// Puts the whole body into `body`, whose memory is used again.
inline void put_together(const HttpRequest& request, std::string& body) {
  body.clear();
  body.reserve(request.body.size() + (request.shared ? request.shared->size() : 0));
  body.append(request.body, 0, request.shared_at);
  if (request.shared) body += *request.shared;
  body.append(request.body, request.shared_at);
}

/// The body as it is sent.
inline std::string whole_body(const HttpRequest& request) {
  std::string body;
  put_together(request, body);
  return body;
}

/// Header names in lower case, values without surrounding white space, in the order of arrival.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// What came back, whole.
struct HttpResponse {
  int status = 0;
  HttpHeaders headers;
  std::string body;
};

/// The first header of that lower-case name; nullptr if there is none.
inline const std::string* find_header(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace sluice
