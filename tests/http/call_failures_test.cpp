// Calls that fail: no connection, no answer in time, one that is too large, cut off, or no HTTP.
#include "tests/http/http_fixture.hpp"

#include <cstdlib>

namespace sluice {
namespace {

TEST_F(HttpActorTest, RefusedConnection) {
  const auto host = free_port();
  expect_failure(perform(call_to("http://" + host + "/")), Kind::could_not_connect, host);
}

TEST_F(HttpActorTest, UnknownHost) {
  const auto done = perform(call_to("http://user:secret@no-such-host.invalid:81/"));
  expect_failure(done, Kind::could_not_resolve, "no-such-host.invalid:81");
}

TEST_F(HttpActorTest, AProxyThatRefusesTheWay) {
  RawServer proxy([](int, const std::string& request) {
    EXPECT_TRUE(request.starts_with("CONNECT ")) << request;
    EXPECT_EQ(request.find("secret"), std::string::npos) << request;
    return RawServer::Answer{"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
                             Then::close};
  });
  ::setenv("https_proxy", ("http://" + proxy.host()).c_str(), 1);
  const auto done = perform(call_to("https://api.example.invalid/v1"));
  ::unsetenv("https_proxy");
  expect_failure(done, Kind::could_not_connect, "the proxy refuses a connection to api.example.invalid:443");
  EXPECT_NE(done.failure->message.find("407"), std::string::npos) << done.failure->message;
  EXPECT_FALSE(done.started);
}

TEST_F(HttpActorTest, TlsToAPlainPort) {
  RawServer server([](int, const std::string&) {
    return RawServer::Answer{"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", Then::close};
  });
  const auto done = perform(call_to("https://" + server.host() + "/v1/x"));
  expect_failure(done, Kind::no_tls, server.host() + " does not speak TLS");
  EXPECT_NE(done.failure->message.find("http://"), std::string::npos) << done.failure->message;
  EXPECT_FALSE(done.started);
}

TEST_F(HttpActorTest, TlsToAPlainPortThatWaitsForMore) {
  RawServer server([](int, const std::string&) { return RawServer::Answer{"", Then::hold}; });
  auto call = call_to("https://" + server.host() + "/v1/x");
  call.connect_timeout = 30ms;
  const auto done = perform(std::move(call));
  expect_failure(done, Kind::could_not_connect, "accepted a connection, and answered no TLS within 0.03 s");
  EXPECT_NE(done.failure->message.find("http://"), std::string::npos) << done.failure->message;
}

TEST_F(HttpActorTest, UrlsThatCannotBeCalled) {
  expect_failure(perform(call_to("ftp://127.0.0.1/x")), Kind::other, "127.0.0.1");
  expect_failure(perform(call_to("http://")), Kind::other, "failed");
  expect_failure(perform(call_to("")), Kind::other, "failed");
}

TEST_F(HttpActorTest, TimeOut) {
  RawServer server([](int, const std::string&) { return RawServer::Answer{"", Then::hold}; });
  auto call = call_to(server.url());
  call.total_timeout = 30ms;
  const auto done = perform(std::move(call));
  expect_failure(done, Kind::timed_out, server.host() + " did not answer within 0.03 s");
  EXPECT_GE(done.elapsed, 29ms);
}

TEST_F(HttpActorTest, TimeOutInTheMiddleOfTheBody) {
  RawServer server([](int, const std::string&) {
    return RawServer::Answer{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal", Then::hold};
  });
  auto call = call_to(server.url());
  call.total_timeout = 30ms;
  expect_failure(perform(std::move(call)), Kind::timed_out, server.host());
}

TEST_F(HttpActorTest, ABodyThatDripsEndsInTime) {
  RawServer server([](int, const std::string&) {
    return RawServer::Answer{RawServer::ok(std::string(10'000, 'x')), Then::drip};
  });
  auto call = call_to(server.url());
  call.total_timeout = 100ms;
  const auto done = perform(std::move(call));
  expect_failure(done, Kind::timed_out, server.host());
  EXPECT_LT(done.elapsed, 5s) << "of 100";
}

TEST_F(HttpActorTest, AnnouncedAndUnannouncedBodiesOverTheLimit) {
  RawServer server([](int number, const std::string&) {
    if (number == 1) return RawServer::Answer{RawServer::ok(std::string(101, 'x')), Then::keep};
    if (number == 2) return RawServer::Answer{"HTTP/1.1 200 OK\r\n\r\n" + std::string(101, 'x'), Then::hold};
    return RawServer::Answer{RawServer::ok(std::string(100, 'x')), Then::keep};
  });
  for (int i = 0; i < 2; ++i) {
    auto call = call_to(server.url());
    call.max_body = 100;
    expect_failure(perform(std::move(call)), Kind::too_large, "more than 100 bytes");
  }
  auto call = call_to(server.url());
  call.max_body = 100;
  EXPECT_EQ(perform(std::move(call)).response.body.size(), 100u);
}

TEST_F(HttpActorTest, EndlessHeaders) {
  RawServer server([](int, const std::string&) {
    std::string headers;
    for (int i = 0; i < 6000; ++i)
      headers += "X-Filler-" + std::to_string(i) + ": " + std::string(50, 'f') + "\r\n";
    return RawServer::Answer{RawServer::ok("x", headers), Then::keep};
  });
  expect_failure(perform(call_to(server.url())), Kind::too_large, server.host());
}

TEST_F(HttpActorTest, AFloodOfHeadersIsCalledSo) {
  RawServer server([](int number, const std::string&) {
    std::string headers;
    const std::size_t length = number == 2 ? 200'000 : 50;
    for (int i = 0; i < (number == 1 ? 6000 : number == 2 ? 1 : 3000); ++i)
      headers += "X-Filler-" + std::to_string(i) + ": " + std::string(length, 'f') + "\r\n";
    return RawServer::Answer{RawServer::ok("x", headers), Then::keep};
  });
  for (const char* form : {"many headers", "one header"}) {
    SCOPED_TRACE(form);
    expect_failure(perform(call_to(server.url())), Kind::too_large,
                   "sent a flood of response headers: more than 262144 bytes");
  }
  EXPECT_EQ(perform(call_to(server.url())).response.headers.size(), 3001u) << "200 KiB are none";
}

TEST_F(HttpActorTest, ClosedWithoutAnAnswer) {
  RawServer server([](int, const std::string&) { return RawServer::Answer{"", Then::close}; });
  expect_failure(perform(call_to(server.url())), Kind::connection_lost, server.host());
  EXPECT_EQ(server.requests(), 1);
}

// curl sends a request again by itself when a kept connection dies before the answer: a call that nobody
// counts.
TEST_F(HttpActorTest, KeptConnectionClosedWithoutAnAnswerIsNotSentAgain) {
  for (const auto then : {Then::close, Then::reset}) {
    RawServer server([then](int number, const std::string&) {
      if (number == 2) return RawServer::Answer{"", then};
      return RawServer::Answer{RawServer::ok("fine"), Then::keep};
    });
    EXPECT_FALSE(perform(call_to(server.url())).failure);
    expect_failure(perform(call_to(server.url())), Kind::went_stale, server.host());
    EXPECT_EQ(server.requests(), 2);
    EXPECT_EQ(perform(call_to(server.url())).response.body, "fine") << "the handle is sound afterwards";
    EXPECT_EQ(server.requests(), 3);
  }
}

TEST_F(HttpActorTest, TruncatedBodies) {
  RawServer server([](int number, const std::string&) {
    if (number == 1)
      return RawServer::Answer{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", Then::close};
    return RawServer::Answer{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", Then::close};
  });
  expect_failure(perform(call_to(server.url())), Kind::connection_lost, "in the middle");
  expect_failure(perform(call_to(server.url())), Kind::connection_lost, server.host());
}

TEST_F(HttpActorTest, NotHttp) {
  RawServer server([](int, const std::string&) {
    return RawServer::Answer{"220 smtp ready\r\n", Then::close};
  });
  expect_failure(perform(call_to(server.url())), Kind::other, server.host());
}

}  // namespace
}  // namespace sluice
