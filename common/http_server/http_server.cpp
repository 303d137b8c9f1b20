#include "common/http_server/http_server.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <thread>

#include <CivetServer.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

/// Connects to a port of this machine, once and without a word.
void knock(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return;
  const int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket >= 0) {
    [[maybe_unused]] const int under_way = ::connect(socket, found->ai_addr, found->ai_addrlen);
    ::close(socket);
  }
  ::freeaddrinfo(found);
}

/// Where the server itself can be reached: any address is loopback too.
std::string own_host(const std::string& host) {
  if (host == "0.0.0.0") return "127.0.0.1";
  if (!host.starts_with('[')) return host;
  const std::string bare = host.substr(1, host.size() - 2);
  return bare == "::" ? "::1" : bare;
}

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

std::string head_of(mg_connection* connection, const ServedAnswer& answer) {
  std::string head =
      "HTTP/1.1 " + std::to_string(answer.status) + ' ' +
      mg_get_response_code_text(connection, answer.status) + "\r\nContent-Type: " + answer.type +
      "\r\nContent-Length: " + std::to_string(answer.body.size()) + "\r\nConnection: close\r\n";
  for (const auto& [name, value] : answer.headers) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

/// The library's threads have a stack of 100 KB, which is less than some answers take.
ServedAnswer answered(const AnswerRequest& answer_of, const ServedRequest& request) {
  try {
    return std::async(std::launch::async, [&] { return answer_of(request); }).get();
  } catch (const std::exception& error) {  // It may not pass through the library, which is in C.
    return {500, "text/plain; charset=utf-8", std::string("internal error: ") + error.what() + "\n", {}};
  }
}

/// Comes before everything that the library would do of its own, for whatever method and path.
int answer_request(mg_connection* connection) {
  const mg_request_info* asked = mg_get_request_info(connection);
  const auto& server = *static_cast<const CivetServer*>(asked->user_data);
  const auto& answer_of = *static_cast<const AnswerRequest*>(server.getUserContext());
  const ServedRequest request{text_of(asked->request_method), text_of(asked->local_uri),
                              text_of(asked->query_string), text_of(mg_get_header(connection, "Host")),
                              text_of(mg_get_header(connection, "Sec-Fetch-Site"))};
  const ServedAnswer answer = answered(answer_of, request);
  const std::string head = head_of(connection, answer);
  const bool is_sent = mg_write(connection, head.data(), head.size()) > 0;
  if (is_sent && request.method != "HEAD") mg_write(connection, answer.body.data(), answer.body.size());
  return answer.status;
}

CivetCallbacks callbacks() {
  CivetCallbacks calls;
  calls.begin_request = answer_request;
  return calls;
}

}  // namespace

struct HttpServer::Parts {
  Parts(const std::string& endpoint, std::size_t threads, AnswerRequest answer_of)
      : answer(std::move(answer_of)),
        calls(callbacks()),
        server(std::make_unique<CivetServer>(
            std::vector<std::string>{"listening_ports", endpoint, "num_threads", std::to_string(threads),
                                     "request_timeout_ms",
                                     std::to_string(defaults::http_request_timeout.count())},
            &calls, &answer)),
        host(endpoint.substr(0, endpoint.rfind(':'))) {
    const auto ports = server->getListeningPorts();
    port = ports.empty() ? endpoint.substr(endpoint.rfind(':') + 1) : std::to_string(ports.front());
    authority = host + ":" + port;
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  // The server looks up from its sockets every two seconds only, which nobody wants to wait for at a
  // process's end: connections wake it.
  ~Parts() {
    std::atomic<bool> ended = false;
    std::thread knocking([&] {
      while (!ended) {
        knock(own_host(host), port);
        std::this_thread::sleep_for(defaults::metrics_end_interval);
      }
    });
    server.reset();
    ended = true;
    knocking.join();
  }

  AnswerRequest answer;
  CivetCallbacks calls;
  std::unique_ptr<CivetServer> server;
  std::string host;
  std::string port;
  std::string authority;
};

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpServer::~HttpServer() = default;
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&&) noexcept = default;

const std::string& HttpServer::authority() const {
  return parts_->authority;
}

Result<HttpServer> HttpServer::start(const std::string& endpoint, std::size_t threads, AnswerRequest answer) {
  try {
    return HttpServer(std::make_unique<Parts>(endpoint, threads, std::move(answer)));
  } catch (const std::exception&) {  // Its message is no more than that its constructor failed.
    return fail(Reason::listen_failed, "the port is taken or the address is not this machine's");
  }
}

bool names_loopback(std::string_view host, std::string_view authority) {
  const std::string_view port = authority.substr(authority.rfind(':'));
  const bool names_port = host.ends_with(port);
  if (!names_port && port != ":80") return false;
  const std::string_view name = names_port ? host.substr(0, host.size() - port.size()) : host;
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
}

std::vector<std::pair<std::string, std::string>> query_parameters(const std::string& query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  const auto decoded = [](const std::string& text) {
    std::string plain(text.size() + 1, '\0');
    const int size = mg_url_decode(text.data(), static_cast<int>(text.size()), plain.data(),
                                   static_cast<int>(plain.size()), 1);
    plain.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return plain;
  };
  for (std::size_t at = 0; at < query.size();) {
    const std::size_t end = std::min(query.find('&', at), query.size());
    const std::string one = query.substr(at, end - at);
    const std::size_t equals = std::min(one.find('='), one.size());
    if (!one.empty())
      parameters.emplace_back(decoded(one.substr(0, equals)),
                              decoded(one.substr(std::min(equals + 1, one.size()))));
    at = end + 1;
  }
  return parameters;
}

}  // namespace sluice
