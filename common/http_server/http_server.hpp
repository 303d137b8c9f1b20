#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What a server is asked. Foreign text: whoever answers takes nothing in it for granted.
struct ServedRequest {
  std::string method;
  std::string path;   ///< Begins with a slash; percent escapes are decoded.
  std::string query;  ///< Behind the question mark, as it came; empty without one.
  std::string host;   ///< The header; empty without one.
  /// The header Sec-Fetch-Site, by which a browser says whose page asks; empty without one.
  std::string fetch_site{};
};

struct ServedAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  ///< Beside those of type and length.
};

/// Called on threads of its own, several at a time.
using AnswerRequest = std::function<ServedAnswer(const ServedRequest&)>;

/// Answers HTTP requests until it is destroyed. Serves no files: what a function answers is all there is. A
/// connection whose request is not there in time (defaults::http_request_timeout) is closed.
class HttpServer {
 public:
  /// `endpoint`: `ADDRESS:PORT`, with port 0 for one that is free. listen_failed if it cannot be bound; the
  /// message is a clause.
  static Result<HttpServer> start(const std::string& endpoint, std::size_t threads, AnswerRequest answer);
  ~HttpServer();
  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) noexcept;

  /// `HOST:PORT` with the port that was picked.
  const std::string& authority() const;

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

/// Whether a Host header names a server that listens at `authority` on loopback; port 80 need not be named. A
/// page of the web whose name was made to lead here (DNS rebinding) names itself.
bool names_loopback(std::string_view host, std::string_view authority);

/// The parameters of a query in their order, decoded (`+` is a space).
std::vector<std::pair<std::string, std::string>> query_parameters(const std::string& query);

}  // namespace sluice
