#include "tests/http/http_fixture.hpp"

#include <cstdlib>
#include <thread>

namespace sluice {
namespace {

/// A port that nobody listens on: bound and given back.
std::string free_port() {
  RawServer server([](int, const std::string&) { return RawServer::Answer{}; });
  return server.host();
}

TEST_F(HttpActorTest, SendsThePostAndReturnsTheAnswer) {
  std::string seen;
  RawServer server([&](int, const std::string& request) {
    seen = request;
    return RawServer::Answer{RawServer::ok("hello", "X-Request-ID:  abc \r\nRETRY-After: 3\r\n"), Then::keep};
  });
  const auto done = perform(call_to(server.url(), 42));
  ASSERT_FALSE(done.failure) << done.failure->message;
  EXPECT_EQ(done.id, 42u);
  EXPECT_EQ(done.response.status, 200);
  EXPECT_EQ(done.response.body, "hello");
  ASSERT_TRUE(find_header(done.response.headers, "x-request-id"));
  EXPECT_EQ(*find_header(done.response.headers, "x-request-id"), "abc");
  EXPECT_EQ(*find_header(done.response.headers, "retry-after"), "3");
  EXPECT_GT(done.elapsed, 0us);
  EXPECT_TRUE(seen.starts_with("POST /v1/x HTTP/1.1\r\n")) << seen;
  EXPECT_NE(seen.find("\r\nAuthorization: Bearer secret\r\n"), std::string::npos) << seen;
  EXPECT_TRUE(seen.ends_with("\r\n\r\n{\"q\":1}")) << seen;
}

TEST_F(HttpActorTest, AConnectionMeasuresHowMuchItsWayVaries) {
  RawServer server([](int, const std::string&) { return RawServer::Answer{RawServer::ok("x"), Then::keep}; });
  for (int i = 0; i < 3; ++i) {
    const auto done = perform(call_to(server.url()));
    ASSERT_FALSE(done.failure) << done.failure->message;
    EXPECT_GT(done.variation, 0us);
    EXPECT_LT(done.variation, 1s) << "loopback";
  }
  const auto lost = perform(call_to("http://" + free_port() + "/"));
  ASSERT_TRUE(lost.failure);
  EXPECT_EQ(lost.variation, 0us) << "no connection, no measure";
}

TEST_F(HttpActorTest, OtherStatusesAreAnswersAndRedirectsAreNotFollowed) {
  RawServer server([](int number, const std::string&) {
    if (number == 1) return RawServer::Answer{"HTTP/1.1 429 Slow\r\nContent-Length: 2\r\n\r\nno", Then::keep};
    return RawServer::Answer{"HTTP/1.1 302 Found\r\nLocation: /else\r\nContent-Length: 0\r\n\r\n",
                             Then::keep};
  });
  const auto limited = perform(call_to(server.url()));
  EXPECT_FALSE(limited.failure);
  EXPECT_EQ(limited.response.status, 429);
  EXPECT_EQ(limited.response.body, "no");
  EXPECT_EQ(perform(call_to(server.url())).response.status, 302);
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(HttpActorTest, InterimAnswersAreSkipped) {
  RawServer server([](int, const std::string&) {
    return RawServer::Answer{"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + RawServer::ok("b"), Then::keep};
  });
  const auto done = perform(call_to(server.url()));
  EXPECT_EQ(done.response.status, 200);
  EXPECT_EQ(find_header(done.response.headers, "link"), nullptr);
}

TEST_F(HttpActorTest, ConnectionsAndHandlesAreUsedAgain) {
  RawServer server([](int number, const std::string& request) {
    return RawServer::Answer{RawServer::ok(std::to_string(number) + request.substr(request.size() - 2)),
                             Then::keep};
  });
  for (int i = 10; i < 30; ++i) {
    auto call = call_to(server.url(), static_cast<std::uint64_t>(i));
    call.request.body = "body-" + std::to_string(i);
    call.request.headers.push_back("X-Number: " + std::to_string(i));
    const auto done = perform(std::move(call));
    ASSERT_FALSE(done.failure) << done.failure->message;
    EXPECT_EQ(done.response.body, std::to_string(i - 9) + std::to_string(i));
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpActorTest, ManyCallsAtOnceEachGetTheirAnswer) {
  RawServer server([](int, const std::string& request) {
    return RawServer::Answer{RawServer::ok(request.substr(request.find("\r\n\r\n") + 4)), Then::keep};
  });
  constexpr std::uint64_t count = 300;
  for (std::uint64_t id = 0; id < count; ++id) {
    auto call = call_to(server.url(), id);
    call.request.body = "payload " + std::to_string(id);
    send(std::move(call));
  }
  std::vector<int> answered(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto done = next();
    ASSERT_FALSE(done.failure) << done.failure->message;
    EXPECT_EQ(done.response.body, "payload " + std::to_string(done.id));
    ++answered.at(done.id);
  }
  EXPECT_EQ(answered, std::vector<int>(count, 1));
}

TEST_F(HttpActorTest, WhatBodiesShareIsSentWhereItBelongs) {
  RawServer server([](int, const std::string& request) {
    return RawServer::Answer{RawServer::ok(request.substr(request.find("\r\n\r\n") + 4)), Then::keep};
  });
  const auto prompt = share(std::string(20'000, 'p'));
  const auto long_prompt = share(std::string(200'000, 'P'));
  // The handle is the same for each, as is the memory in which bodies of usual length are put together.
  for (const auto& [shared, at] :
       {std::pair(prompt, 1), {share("[]"), 6}, {long_prompt, 0}, {prompt, 6}, {SharedText(), 0}}) {
    auto call = call_to(server.url());
    call.request.body = "before";
    call.request.shared = shared;
    call.request.shared_at = static_cast<std::size_t>(at);
    const auto done = perform(std::move(call));
    ASSERT_FALSE(done.failure) << done.failure->message;
    EXPECT_EQ(done.response.body,
              std::string("before").insert(static_cast<std::size_t>(at), shared ? *shared : ""));
  }
}

TEST_F(HttpActorTest, LargeBodiesGoWithoutExpect) {
  std::size_t received = 0;
  bool expected = false;
  RawServer server([&](int, const std::string& request) {
    received = request.size() - request.find("\r\n\r\n") - 4;
    expected = request.find("Expect:") != std::string::npos;
    return RawServer::Answer{RawServer::ok(std::string(900'000, 'a')), Then::keep};
  });
  auto call = call_to(server.url());
  call.request.body = std::string(3 << 20, 'q');
  const auto done = perform(std::move(call));
  ASSERT_FALSE(done.failure) << done.failure->message;
  EXPECT_EQ(received, std::size_t{3 << 20});
  EXPECT_FALSE(expected);
  EXPECT_EQ(done.response.body, std::string(900'000, 'a'));
}

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

// 10,000 zeros, by gzip.
constexpr char packed[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x01\x0d\x00\x00\x00\xc2\xa0\xf7\x4f\x6d\x0e\x37"
    "\xa0\x00\x00\x00\x00\x00\x00\x00\x00\x00\xe0\xdf\x00\x2e\xca\x3b\x4d\x10\x27\x00\x00";
const std::string bomb(packed, sizeof packed - 1);

// A server that packs whatever it sends answered nothing that could be read.
TEST_F(HttpActorTest, APackedBodyIsUnpackedUpToItsBound) {
  std::string asked;
  RawServer server([&](int, const std::string& request) {
    asked = request;
    return RawServer::Answer{RawServer::ok(bomb, "Content-Encoding: gzip\r\n"), Then::keep};
  });
  EXPECT_EQ(perform(call_to(server.url())).response.body.size(), 10'000u);
  EXPECT_NE(asked.find("Accept-Encoding: gzip, deflate\r\n"), std::string::npos) << asked;
  auto bounded = call_to(server.url());
  bounded.max_body = 9'999;
  expect_failure(perform(std::move(bounded)), Kind::too_large, "more than 9999 bytes");
}

TEST_F(HttpActorTest, OtherEncodingsOfABodyAreRefused) {
  for (const char* encoding : {"br", "zstd", "utf-8, gzip", "utf-8\r\nContent-Encoding: gzip", "gzip, gzip",
                               "gzip\r\nContent-Encoding: gzip", "identity\r\nContent-Encoding: gzip"}) {
    SCOPED_TRACE(encoding);
    RawServer server([&](int, const std::string&) {
      const std::string header = "Content-Encoding: " + std::string(encoding) + "\r\n";
      return RawServer::Answer{RawServer::ok(bomb, header), Then::close};
    });
    expect_failure(perform(call_to(server.url())), Kind::unasked_encoding,
                   "sent an encoding that nobody asked for (content-encoding: ");
  }
  RawServer broken([&](int, const std::string&) {
    return RawServer::Answer{RawServer::ok("\x1f\x8b packed", "Content-Encoding: gzip\r\n"), Then::close};
  });
  expect_failure(perform(call_to(broken.url())), Kind::connection_lost, "cannot be unpacked");
}

// One such page of a proxy, while its server starts, was the end of a run.
TEST_F(HttpActorTest, ARefusalCountsByItsStatusInWhateverItsPageIsPacked) {
  RawServer server([&](int, const std::string&) {
    return RawServer::Answer{
        "HTTP/1.1 503 Service Unavailable\r\nContent-Encoding: gzip, gzip\r\nRetry-After: "
        "7\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        Then::close};
  });
  const auto done = perform(call_to(server.url()));
  ASSERT_FALSE(done.failure) << done.failure->message;
  EXPECT_EQ(done.response.status, 503);
}

// Each call to such a server failed.
TEST_F(HttpActorTest, ABodyThatIsSaidToBePlainIsTakenAsItIs) {
  for (const char* encoding : {"none", "None", "identity", "", "UTF-8", "application/json"}) {
    SCOPED_TRACE(encoding);
    RawServer server([&](int, const std::string&) {
      return RawServer::Answer{RawServer::ok("plain", "Content-Encoding: " + std::string(encoding) + "\r\n"),
                               Then::close};
    });
    const auto done = perform(call_to(server.url()));
    ASSERT_FALSE(done.failure) << done.failure->message;
    EXPECT_EQ(done.response.body, "plain");
  }
  RawServer server([&](int number, const std::string&) {
    return RawServer::Answer{number == 1 ? RawServer::ok("plain", "Content-Encoding: utf-8\r\n")
                                         : RawServer::ok(bomb, "Content-Encoding: gzip\r\n"),
                             Then::keep};
  });
  EXPECT_EQ(perform(call_to(server.url())).response.body, "plain");
  EXPECT_EQ(perform(call_to(server.url())).response.body.size(), 10'000u) << "the next one is unpacked";
}

// curl (until 8.1) unpacks a transfer encoding though nobody asked for one.
TEST_F(HttpActorTest, NothingIsUnpackedOnItsWay) {
  for (const char* encoding : {"gzip", "deflate, chunked", "chunked, gzip", "GZip"}) {
    SCOPED_TRACE(encoding);
    RawServer server([&](int, const std::string&) {
      return RawServer::Answer{"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + std::string(encoding) +
                                   "\r\nConnection: close\r\n\r\n" + bomb,
                               Then::close};
    });
    expect_failure(perform(call_to(server.url())), Kind::unasked_encoding,
                   "sent an encoding that nobody asked for (transfer-encoding: ");
  }
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

TEST_F(HttpActorTest, ACallThatAsksForItHasAConnectionOfItsOwn) {
  RawServer server([](int, const std::string&) { return RawServer::Answer{RawServer::ok("x"), Then::keep}; });
  for (const bool fresh : {false, true, false}) {
    auto call = call_to(server.url());
    call.fresh_connection = fresh;
    EXPECT_FALSE(perform(std::move(call)).failure);
    EXPECT_EQ(server.connections(), fresh ? 2 : server.requests() == 1 ? 1 : 2);
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

TEST_F(HttpActorTest, CancelEndsTheCallAndNoOther) {
  std::promise<void> two_arrived;
  RawServer server([&](int number, const std::string&) {
    if (number == 2) two_arrived.set_value();
    return RawServer::Answer{"", Then::hold};
  });
  caf::scoped_actor stranger(system_);
  send(call_to(server.url(), 7));
  stranger->send(http_, HttpCalls{{call_to(server.url(), 7)}});
  two_arrived.get_future().wait();
  self_->send(http_, HttpCancel{8});  // Unknown: ignored.
  self_->send(http_, HttpCancel{7});
  const auto done = next();
  EXPECT_EQ(done.id, 7u);
  expect_failure(done, Kind::cancelled, server.host());
  self_->send(http_, HttpCancel{7});  // Not ours any more, and the stranger's call stays.
  bool stranger_answered = false;
  stranger->receive([&](const HttpCallsDone&) { stranger_answered = true; }, caf::after(5ms) >> [] {});
  EXPECT_FALSE(stranger_answered);
}

TEST_F(HttpActorTest, AnswersOfOneTurnGoTogetherAndEachToItsCaller) {
  const std::string nowhere = "ftp://127.0.0.1:1/";  // Refused without a network: all end in one turn.
  caf::scoped_actor stranger(system_);
  stranger->send(http_, HttpCalls{{call_to(nowhere, 7), call_to(nowhere, 8)}});
  self_->send(http_, HttpCalls{{call_to(nowhere, 1), call_to(nowhere, 2), call_to(nowhere, 3)}});
  const auto ids_of = [](caf::scoped_actor& caller) {
    std::vector<std::uint64_t> ids;
    caller->receive(
        [&](HttpCallsDone& ended) {
          for (const auto& done : ended.done) ids.push_back(done.id);
        },
        caf::after(10s) >> [] { ADD_FAILURE() << "no HttpCallsDone came"; });
    std::ranges::sort(ids);
    return ids;
  };
  EXPECT_EQ(ids_of(self_), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(ids_of(stranger), (std::vector<std::uint64_t>{7, 8}));
}

// A call that follows an answer comes while the actor turns to its next wait: no wake-up may be lost.
TEST_F(HttpActorTest, CallsThatFollowAnswersAreMade) {
  RawServer server([](int, const std::string& request) {
    return RawServer::Answer{RawServer::ok(request.substr(request.size() - 7)), Then::keep};
  });
  constexpr std::uint64_t calls = 24;
  for (std::uint64_t id = 1; id <= 4; ++id) send(call_to(server.url(), id));
  for (std::uint64_t ended = 1; ended <= calls; ++ended) {
    const auto done = next();
    ASSERT_FALSE(done.failure) << done.failure->message;
    EXPECT_EQ(done.response.body, "{\"q\":1}");
    if (ended + 4 <= calls) send(call_to(server.url(), ended + 4));
  }
  EXPECT_EQ(server.requests(), static_cast<int>(calls));
}

TEST_F(HttpActorTest, ExitCancelsCallsInFlightAndEndsTheThread) {
  std::promise<void> arrived;
  RawServer server([&](int, const std::string&) {
    arrived.set_value();
    return RawServer::Answer{"", Then::hold};
  });
  send(call_to(server.url(), 1));
  arrived.get_future().wait();
  const auto begin = std::chrono::steady_clock::now();
  self_->send_exit(http_, caf::exit_reason::user_shutdown);
  expect_failure(next(), Kind::cancelled, server.host());
  self_->wait_for(http_);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST_F(HttpActorTest, ExitWhileIdle) {
  self_->send_exit(http_, caf::exit_reason::user_shutdown);
  self_->wait_for(http_);
}

}  // namespace
}  // namespace sluice
