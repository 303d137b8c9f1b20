#pragma once

#include <string>

namespace sluice::support {

/// The whole answer of an HTTP server on this machine to a request: status line, headers and body, up to
/// where it closes the connection. `server` ends with ":PORT". Empty if nobody listens there; what takes
/// longer than a test waits is left out.
std::string ask_http(const std::string& server, const std::string& request);

}  // namespace sluice::support
