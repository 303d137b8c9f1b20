#pragma once

#include "tests/http/raw_server.hpp"
#include "worker/http/http_actor.hpp"
#include "worker/http/http_messages.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <iterator>
#include <string>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/after.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <gtest/gtest.h>

namespace sluice {

using namespace std::chrono_literals;
using Kind = HttpFailure::Kind;
using Then = RawServer::Answer::Then;

/// A port that nobody listens on: bound and given back.
inline std::string free_port() {
  RawServer server([](int, const std::string&) { return RawServer::Answer{}; });
  return server.host();
}

/// An HTTP actor with its own thread, and who calls it.
class HttpActorTest : public testing::Test {
 protected:
  HttpActorTest() : system_(config()), self_(system_), http_(spawn_http(system_)) {}
  ~HttpActorTest() override { caf::anon_send_exit(http_, caf::exit_reason::user_shutdown); }

  static caf::actor_system_config& config() {
    static caf::actor_system_config config;
    config.set("scheduler.max-threads", 1);
    return config;
  }

  static HttpCall call_to(const std::string& url, std::uint64_t id = 1) {
    HttpCall call;
    call.id = id;
    call.request = {url, {"Content-Type: application/json", "Authorization: Bearer secret"}, "{\"q\":1}"};
    call.connect_timeout = 5s;
    call.total_timeout = 10s;
    call.max_body = 1 << 20;
    return call;
  }

  HttpDone next() {
    if (came_.empty()) {
      self_->receive([&](HttpCallsDone& ended) { std::ranges::move(ended.done, std::back_inserter(came_)); },
                     caf::after(10s) >> [] { ADD_FAILURE() << "no HttpCallsDone came"; });
    }
    if (came_.empty()) return {};
    auto first = std::move(came_.front());
    came_.pop_front();
    return first;
  }

  void send(HttpCall call) {
    HttpCalls calls;
    calls.calls.push_back(std::move(call));
    self_->send(http_, std::move(calls));
  }

  HttpDone perform(HttpCall call) {
    send(std::move(call));
    return next();
  }

  static void expect_failure(const HttpDone& done, Kind kind, const std::string& part) {
    ASSERT_TRUE(done.failure);
    EXPECT_EQ(done.failure->kind, kind) << done.failure->message;
    EXPECT_NE(done.failure->message.find(part), std::string::npos) << done.failure->message;
    EXPECT_EQ(done.failure->message.find("secret"), std::string::npos) << done.failure->message;
    EXPECT_EQ(done.response.status, 0);
    EXPECT_TRUE(done.response.body.empty());
  }

  caf::actor_system system_;
  caf::scoped_actor self_;
  caf::actor http_;
  std::deque<HttpDone> came_;
};

}  // namespace sluice
