#pragma once

#include <string>
#include <string_view>

namespace sluice::sim {

/// The standard phrase of a status, e.g. "Too Many Requests".
std::string_view reason_phrase(int status);

/// Appends a whole HTTP/1.1 response. `headers` holds complete lines, each with its CRLF; `content_type` may
/// be empty.
void append_response(std::string& out, int status, std::string_view content_type, std::string_view headers,
                     bool close, std::string_view body);

}  // namespace sluice::sim
