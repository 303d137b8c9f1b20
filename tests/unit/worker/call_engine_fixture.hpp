#pragma once

#include "tests/unit/worker/fake_request.hpp"
#include "worker/calls/call_engine.hpp"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {

/// The engine by itself: requests of a kind that sluice does not know, on a clock of the test's.
struct CallEngineTest : testing::Test {
  CallEngineTest() { grant({unlimited("a"), unlimited("b")}); }

  CallEngineConfig config() const {
    return {.credentials = {{"a", "key-a"}, {"b", "key-b"}},
            .random_seed = 7,
            .has_cache = true,
            .concurrency = 4};
  }
  void grant(std::vector<wire::Grant> grants) { engine.on_budget(granted(std::move(grants), now), now); }
  static wire::Grant permits(std::vector<std::uint64_t> ids, const Moment& at) {
    wire::Grant grant;
    grant.provider = "a";
    const auto us = static_cast<std::uint64_t>(at.boot.count());
    for (const auto id : ids) grant.permits.push_back({id, us - 1000, us + 50'000, {}, false});
    return grant;
  }
  /// The request is the engine's until its end.
  FakeRequest& submit(std::uint64_t id, Duration time = 60s, std::string to = "a",
                      std::optional<EntryKey> held = std::nullopt) {
    auto& request = requests.emplace_back("question " + std::to_string(id), std::move(to));
    engine.submit(request, {9, id}, now.now + time, now, held);
    return request;
  }
  EngineTurn turn(const Backlog& backlog = {4, 0, ""}) {
    engine.on_time(now);
    engine.start(now);
    return engine.turn(now, backlog);
  }
  std::vector<HttpCall> calls() { return turn().calls; }
  void done(std::uint64_t id, int status, std::string body = "answer") {
    HttpDone done;
    done.id = id;
    done.response = {status, {}, std::move(body)};
    engine.on_done(done, now, {});
  }
  CallEnded only_end() {
    auto ended = engine.take_ended();
    EXPECT_EQ(ended.size(), 1u);
    return ended.empty() ? CallEnded{} : std::move(ended[0]);
  }
  void pass(Duration time) {
    now = {now.now + time, now.boot + std::chrono::duration_cast<BootTime>(time)};
    engine.on_budget(granted({}, now), now);  // The coordinator answers all the while.
  }

  const RunSettings settings = two_providers();
  Moment now = moment_at(0s);
  CallEngine engine{settings, config()};
  std::deque<FakeRequest> requests;
};

}  // namespace sluice
