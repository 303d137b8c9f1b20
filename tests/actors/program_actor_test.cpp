#include "worker/program_actor.hpp"

#include "worker/defaults.hpp"
#include "worker/http/http_messages.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <gtest/gtest.h>

namespace sluice::program_actor_test {

HttpCall call(std::uint64_t id, std::vector<std::string> command) {
  OwnFormat format;
  format.command = std::move(command);
  HttpCall call;
  call.id = id;
  call.request.program = std::make_shared<const OwnFormat>(std::move(format));
  call.max_body = 1000;
  return call;
}

// The wait for a place counted as the program's latency, and its case waited for it without end.
TEST(Programs, WhatOneWaitsForAPlaceIsTheCasesTimeAndNotItsOwn) {
  caf::actor_system_config config;
  caf::actor_system system(config);
  caf::scoped_actor self(system);
  const caf::actor programs = spawn_programs(system, nullptr);
  constexpr std::uint64_t first = 1;
  constexpr std::uint64_t late = 1000;
  constexpr std::uint64_t patient = 1001;
  HttpCalls calls;
  // Longer than the others take to start, of which each is a process.
  calls.calls.push_back(call(first, {"sleep", "3"}));
  for (std::uint64_t id = first + 1; id <= defaults::most_programs; ++id)
    calls.calls.push_back(call(id, {"sleep", "600"}));
  calls.calls.push_back(call(late, {"true"}));
  calls.calls.back().case_time_left = std::chrono::milliseconds(1);
  calls.calls.push_back(call(patient, {"echo", "hello"}));
  calls.calls.back().case_time_left = std::chrono::minutes(10);
  const auto sent = std::chrono::steady_clock::now();
  self->send(programs, std::move(calls));
  std::map<std::uint64_t, HttpDone> done;
  while (done.size() < 3) {
    self->receive([&](HttpCallsDone& some) {
      for (HttpDone& one : some.done) done.emplace(one.id, std::move(one));
    });
  }
  const auto all = std::chrono::steady_clock::now() - sent;
  self->send_exit(programs, caf::exit_reason::user_shutdown);
  ASSERT_TRUE(done.contains(first) && done.contains(late) && done.contains(patient));
  EXPECT_GE(done[first].elapsed, std::chrono::seconds(3));
  EXPECT_FALSE(done[late].started);
  ASSERT_TRUE(done[late].failure);
  EXPECT_EQ(done[late].failure->kind, HttpFailure::Kind::permit_expired);
  EXPECT_TRUE(done[patient].started);
  EXPECT_EQ(done[patient].response.body, "hello\n");
  EXPECT_GE(all - done[patient].elapsed, std::chrono::seconds(3)) << "it waited until the first ended";
}

}  // namespace sluice::program_actor_test
