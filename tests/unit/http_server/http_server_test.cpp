#include "common/http_server/http_server.hpp"

#include "common/files.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

/// A connection to a server on loopback, which waits for 5 seconds at most.
class Connection {
 public:
  explicit Connection(const std::string& authority) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(authority.substr(authority.rfind(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{5, 0};
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  std::string answer_to(const std::string& request) {
    const auto sent = ::write(socket_.number(), request.data(), request.size());
    EXPECT_EQ(sent, static_cast<ssize_t>(request.size()));
    std::string answer;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(socket_.number(), buffer, sizeof buffer)) > 0;)
      answer.append(buffer, static_cast<std::size_t>(got));
    return answer;
  }

 private:
  FileDescriptor socket_;
};

/// What a server on loopback sends back.
std::string answer_to(const std::string& authority, const std::string& request) {
  return Connection(authority).answer_to(request);
}

ServedAnswer echo(const ServedRequest& request) {
  return {200,
          "text/plain",
          request.method + ' ' + request.path + ' ' + request.query + ' ' + request.host + request.fetch_site,
          {{"X-Frame-Options", "DENY"}}};
}

TEST(HttpServer, HandsOverEachRequestAndSendsWhatIsAnswered) {
  const auto server = HttpServer::start("127.0.0.1:0", 2, echo);
  ASSERT_TRUE(server) << server.error().message;
  const std::string answer = answer_to(
      server->authority(), "GET /a%20b?x=1&y=%2F HTTP/1.1\r\nHost: here:1\r\nsec-fetch-site: none\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_NE(answer.find("\r\nX-Frame-Options: DENY\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\nGET /a b x=1&y=%2F here:1none")) << answer;
}

TEST(HttpServer, EveryMethodAndPathIsTheFunctionsAlone) {
  const auto server = HttpServer::start("127.0.0.1:0", 2, echo);
  ASSERT_TRUE(server);
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "TRACE"}) {
    const auto answer = answer_to(server->authority(), method + " /x HTTP/1.0\r\nContent-Length: 0\r\n\r\n");
    const bool is_ours = answer.ends_with("\r\n\r\n" + method + " /x  ");
    const bool is_refused = answer.starts_with("HTTP/1.0 400 ");  // It is none to the library.
    EXPECT_TRUE(is_ours || is_refused) << answer;
  }
  const auto answer = answer_to(server->authority(), "GET /../../etc/passwd HTTP/1.0\r\n\r\n");
  EXPECT_EQ(answer.find("root:"), std::string::npos);
}

TEST(HttpServer, HeadHasNoBody) {
  const auto server = HttpServer::start("127.0.0.1:0", 2, echo);
  ASSERT_TRUE(server);
  const auto answer = answer_to(server->authority(), "HEAD / HTTP/1.0\r\n\r\n");
  EXPECT_NE(answer.find("Content-Length: 8\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

// Its own threads have a stack of 100 KB: a page that took more ended the process.
TEST(HttpServer, AnAnswerMayTakeAWholeStack) {
  const auto server = HttpServer::start("127.0.0.1:0", 2, [](const ServedRequest&) {
    volatile char large[1 << 20];
    for (std::size_t i = 0; i < sizeof large; i += 4096) large[i] = 'x';
    return ServedAnswer{200, "text/plain", std::string(1, large[0])};
  });
  ASSERT_TRUE(server);
  EXPECT_TRUE(answer_to(server->authority(), "GET / HTTP/1.0\r\n\r\n").ends_with("\r\n\r\nx"));
}

TEST(HttpServer, WhatGoesWrongIsAnAnswerToo) {
  const auto server = HttpServer::start(
      "127.0.0.1:0", 2, [](const ServedRequest&) -> ServedAnswer { throw std::runtime_error("no"); });
  ASSERT_TRUE(server);
  EXPECT_TRUE(answer_to(server->authority(), "GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 500"));
}

// They kept each thread for half a minute, and /healthz silent.
TEST(HttpServer, ConnectionsThatSayNothingKeepNobodyFromAnAnswer) {
  const auto server = HttpServer::start("127.0.0.1:0", 2, echo);
  ASSERT_TRUE(server);
  const Connection one(server->authority());
  const Connection other(server->authority());
  const auto answer = answer_to(server->authority(), "GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
}

TEST(HttpServer, APortThatIsTakenIsAnError) {
  const auto first = HttpServer::start("127.0.0.1:0", 1, echo);
  ASSERT_TRUE(first);
  const auto second = HttpServer::start(first->authority(), 1, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason, Reason::listen_failed);
}

TEST(Host, NamesLoopbackByItsOwnNamesAndPortAlone) {
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "[::1]:8080"})
    EXPECT_TRUE(names_loopback(host, "127.0.0.1:8080")) << host;
  for (const char* host :
       {"", "127.0.0.1", "127.0.0.1:80", "evil.example:8080", "localhost.evil.example:8080",
        "evil.example#localhost:8080", "127.0.0.1:8080.evil.example", "127.0.0.1:18080", " localhost:8080"})
    EXPECT_FALSE(names_loopback(host, "127.0.0.1:8080")) << host;
}

// Browsers leave out the port that is HTTP's own.
TEST(Host, OfPort80MayNameNoPort) {
  for (const char* host : {"127.0.0.1", "localhost", "[::1]", "127.0.0.1:80", "localhost:80", "[::1]:80"})
    EXPECT_TRUE(names_loopback(host, "127.0.0.1:80")) << host;
  for (const char* host : {"", ":80", "evil.example", "evil.example:80", "localhost:8080", "localhost:"})
    EXPECT_FALSE(names_loopback(host, "127.0.0.1:80")) << host;
}

TEST(Query, IsReadInItsOrder) {
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(query_parameters("base=a%7E1&current=b+c&&x"),
            (Parameters{{"base", "a~1"}, {"current", "b c"}, {"x", ""}}));
  EXPECT_EQ(query_parameters(""), Parameters());
}

}  // namespace
}  // namespace sluice
