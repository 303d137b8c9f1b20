// Calls that are answered, one after the other and many at once, and the end of the actor.
#include "tests/http/http_fixture.hpp"

namespace sluice {
namespace {

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

// It was taken for the answer to the next call, and stored under that one's key; or the call was made twice.
TEST_F(HttpActorTest, WhatAServerSaysUnaskedAnswersNoCall) {
  const std::string timed_out = "HTTP/1.1 408 Late\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
  for (const std::string& unasked : {RawServer::ok("late"), std::string("\r\n\r\n"), timed_out}) {
    SCOPED_TRACE(unasked);
    RawServer server([](int number, const std::string&) {
      return RawServer::Answer{RawServer::ok(std::to_string(number)), Then::keep};
    });
    EXPECT_EQ(perform(call_to(server.url())).response.body, "1");
    server.say(unasked);
    EXPECT_TRUE(server.is_left());
    const auto second = perform(call_to(server.url()));
    ASSERT_FALSE(second.failure) << second.failure->message;
    EXPECT_EQ(second.response.body, "2");
    EXPECT_EQ(server.requests(), 2);
    EXPECT_EQ(server.connections(), 2);
  }
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

TEST_F(HttpActorTest, ACallThatAsksForItHasAConnectionOfItsOwn) {
  RawServer server([](int, const std::string&) { return RawServer::Answer{RawServer::ok("x"), Then::keep}; });
  for (const bool fresh : {false, true, false}) {
    auto call = call_to(server.url());
    call.fresh_connection = fresh;
    EXPECT_FALSE(perform(std::move(call)).failure);
    EXPECT_EQ(server.connections(), fresh ? 2 : server.requests() == 1 ? 1 : 2);
  }
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
