#include "worker/program_actor.hpp"

#include "common/settings/request_body.hpp"
#include "tests/support/temporary_folder.hpp"
#include "worker/defaults.hpp"
#include "worker/http/http_messages.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
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

HttpDone done_of(caf::scoped_actor& self, const caf::actor& programs, HttpCall call) {
  HttpCalls calls;
  calls.calls.push_back(std::move(call));
  self->send(programs, std::move(calls));
  HttpDone done;
  self->receive([&](HttpCallsDone& some) { done = std::move(some.done.front()); });
  return done;
}

// What it answered was kept under the key of the program that the run began with.
TEST(Programs, OneThatChangesDuringTheRunAnswersNothing) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "bot.sh";
  std::ofstream(file) << "echo hi\n";
  OwnFormat format;
  format.command = {"sh", file.string()};
  format.command_identity = identity_of_command(format.command);
  format.command_state = state_of_command(format.command);
  const auto program = std::make_shared<const OwnFormat>(std::move(format));
  const auto ask = [&](std::uint64_t id) {
    HttpCall made = call(id, {});
    made.request.program = program;
    return made;
  };
  caf::actor_system_config config;
  caf::actor_system system(config);
  caf::scoped_actor self(system);
  const caf::actor programs = spawn_programs(system, nullptr);
  EXPECT_EQ(done_of(self, programs, ask(1)).response.body, "hi\n");
  std::filesystem::remove(file);
  std::ofstream(file) << "echo hi\n";
  EXPECT_EQ(done_of(self, programs, ask(2)).response.body, "hi\n") << "another file of the same content";
  std::ofstream(file) << "echo '# edited' >> " << file << "; echo hi\n";
  const auto changed = done_of(self, programs, ask(3));
  self->send_exit(programs, caf::exit_reason::user_shutdown);
  ASSERT_TRUE(changed.failure);
  EXPECT_EQ(changed.failure->kind, HttpFailure::Kind::program_changed);
  EXPECT_FALSE(changed.started);
  EXPECT_NE(changed.failure->message.find("changed during the run"), std::string::npos)
      << changed.failure->message;
}

// It was read twice a call for the rest of the run.
TEST(Programs, AFileThatWasTouchedIsReadOnce) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "bot.sh";
  std::ofstream(file) << "echo hi\n";
  OwnFormat format;
  format.command = {"sh", file.string()};
  format.command_identity = identity_of_command(format.command);
  format.command_state = state_of_command(format.command);
  const auto program = std::make_shared<const OwnFormat>(std::move(format));
  caf::actor_system_config config;
  caf::actor_system system(config);
  caf::scoped_actor self(system);
  const caf::actor programs = spawn_programs(system, nullptr);
  const auto answer = [&](std::uint64_t id) {
    HttpCall made = call(id, {});
    made.request.program = program;
    return done_of(self, programs, std::move(made)).response.body;
  };
  const auto touched = std::filesystem::last_write_time(file) + std::chrono::seconds(1);
  std::filesystem::last_write_time(file, touched);
  EXPECT_EQ(answer(1), "hi\n");
  // As many bytes at the same time: whoever read them would see another file.
  std::ofstream(file) << "echo ho\n";
  std::filesystem::last_write_time(file, touched);
  EXPECT_EQ(answer(2), "ho\n");
  self->send_exit(programs, caf::exit_reason::user_shutdown);
}

TEST(Programs, OneThatChangesWhileItAnswersHasAnsweredNothing) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "bot.sh";
  std::ofstream(file) << "echo hi; echo '# edited' >> " << file << "\n";
  OwnFormat format;
  format.command = {"sh", file.string()};
  format.command_identity = identity_of_command(format.command);
  format.command_state = state_of_command(format.command);
  HttpCall made = call(1, {});
  made.request.program = std::make_shared<const OwnFormat>(std::move(format));
  caf::actor_system_config config;
  caf::actor_system system(config);
  caf::scoped_actor self(system);
  const caf::actor programs = spawn_programs(system, nullptr);
  const auto changed = done_of(self, programs, std::move(made));
  self->send_exit(programs, caf::exit_reason::user_shutdown);
  ASSERT_TRUE(changed.failure);
  EXPECT_TRUE(changed.started);
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
