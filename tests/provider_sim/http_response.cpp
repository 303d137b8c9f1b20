#include "tests/provider_sim/http_response.hpp"

#include "tests/provider_sim/json_text.hpp"

#include <array>
#include <utility>

namespace sluice::sim {

std::string_view reason_phrase(int status) {
  constexpr std::array<std::pair<int, std::string_view>, 19> phrases{
      {{200, "OK"},
       {400, "Bad Request"},
       {401, "Unauthorized"},
       {402, "Payment Required"},
       {403, "Forbidden"},
       {404, "Not Found"},
       {405, "Method Not Allowed"},
       {408, "Request Timeout"},
       {409, "Conflict"},
       {413, "Content Too Large"},
       {417, "Expectation Failed"},
       {429, "Too Many Requests"},
       {431, "Request Header Fields Too Large"},
       {500, "Internal Server Error"},
       {501, "Not Implemented"},
       {502, "Bad Gateway"},
       {503, "Service Unavailable"},
       {504, "Gateway Timeout"},
       {529, "Overloaded"}}};
  for (const auto& [number, phrase] : phrases) {
    if (number == status) return phrase;
  }
  return "Status";
}

void append_response(std::string& out, int status, std::string_view content_type, std::string_view headers,
                     bool close, std::string_view body) {
  out += "HTTP/1.1 ";
  append_number(out, status);
  out += ' ';
  out += reason_phrase(status);
  if (!content_type.empty()) {
    out += "\r\ncontent-type: ";
    out += content_type;
  }
  out += "\r\ncontent-length: ";
  append_number(out, static_cast<std::int64_t>(body.size()));
  out += "\r\n";
  out += headers;
  if (close) out += "connection: close\r\n";
  out += "\r\n";
  out += body;
}

}  // namespace sluice::sim
