#include "coordinator/run/lending.hpp"

#include "common/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

Digest digest(std::uint32_t number) {
  return sha256(std::to_string(number));
}
EntryKey answer(std::uint32_t number) {
  return {EntryKind::answer, digest(number)};
}
EntryKey embedding(std::uint32_t number) {
  return {EntryKind::embedding, digest(number)};
}
EntryKey vote(std::uint32_t number) {
  return {EntryKind::vote, digest(number)};
}

struct LendingTest : testing::Test {
  static RunSettings live() {
    RunSettings settings;
    settings.run_id = "run-1";
    settings.mode = Mode::live;
    settings.heartbeat_interval = 1s;
    return settings;
  }

  Lending lending{live(), 60s};
  TimePoint now{};

  void SetUp() override {
    lending.join(1, "peer-1", "one", now);
    lending.join(2, "peer-2", "two", now);
  }

  template <class Message>
  Effects send(WorkerId worker, Message message) {
    Effects effects;
    lending.on_message(worker, message, now, effects);
    return effects;
  }
  /// The only message that is to be sent, which is for this peer.
  template <class Message>
  static Message only(const Effects& effects, const Peer& peer) {
    EXPECT_EQ(effects.to_workers.size(), 1u);
    if (effects.to_workers.size() != 1) return {};
    EXPECT_EQ(effects.to_workers.front().peer, peer);
    const auto* message = std::get_if<Message>(&effects.to_workers.front().message);
    EXPECT_NE(message, nullptr);
    return message ? *message : Message{};
  }
};

TEST_F(LendingTest, AnAnswerIsAskedOfItsHolderAndHandedOn) {
  EXPECT_TRUE(lending.held_elsewhere(2, digest(7), "one"));
  EXPECT_FALSE(lending.held_elsewhere(1, digest(7), "one"));
  EXPECT_FALSE(lending.held_elsewhere(2, digest(8), "three"));
  EXPECT_FALSE(lending.held_elsewhere(2, digest(8), ""));
  const auto asked = send(2, wire::Seek{"run-1", {answer(7), answer(8)}});
  ASSERT_EQ(asked.to_workers.size(), 2u);
  EXPECT_EQ(std::get<wire::Found>(asked.to_workers[0].message), (wire::Found{"run-1", {{answer(8), ""}}}));
  EXPECT_EQ(asked.to_workers[1].peer, "peer-1");
  EXPECT_EQ(std::get<wire::Lend>(asked.to_workers[1].message), (wire::Lend{"run-1", {answer(7)}}));
  const auto lent = send(1, wire::Lent{"run-1", {{answer(7), "bytes"}}});
  EXPECT_EQ(only<wire::Found>(lent, "peer-2"), (wire::Found{"run-1", {{answer(7), "bytes"}}}));
}

TEST_F(LendingTest, ASettledUnitsAnswerIsLentNoMore) {
  ASSERT_TRUE(lending.held_elsewhere(2, digest(7), "one"));
  lending.settled(digest(7));
  EXPECT_EQ(only<wire::Found>(send(2, wire::Seek{"run-1", {answer(7)}}), "peer-2").entries,
            (std::vector<wire::LentEntry>{{answer(7), ""}}));
}

TEST_F(LendingTest, TheLedgerLooksUpAndRecordsEmbeddingsAndVotes) {
  const auto sought = send(1, wire::Seek{"run-1", {embedding(7), vote(8), embedding(8)}});
  EXPECT_TRUE(sought.to_workers.empty());
  EXPECT_EQ(sought.to_look_up, (std::vector{embedding(7), vote(8), embedding(8)}));
  Effects effects;
  lending.looked_up({{embedding(7), ""}, {vote(8), "two"}, {embedding(8), "two"}}, now, effects);
  ASSERT_EQ(effects.to_workers.size(), 2u);
  EXPECT_EQ(std::get<wire::Found>(effects.to_workers[0].message),
            (wire::Found{"run-1", {{embedding(7), ""}}}));
  EXPECT_EQ(std::get<wire::Lend>(effects.to_workers[1].message),
            (wire::Lend{"run-1", {vote(8), embedding(8)}}));
  const auto stored = send(1, wire::Stored{"run-1", {embedding(7), vote(9)}, {}});
  EXPECT_TRUE(stored.to_workers.empty());
  EXPECT_EQ(stored.to_note, (std::vector<EntryHolder>{{embedding(7), "one"}})) << "the vote it never sought";
}

TEST_F(LendingTest, WhatIsGivenUpGoesToTheNext) {
  for (const auto& key : {embedding(7), vote(7)}) {
    send(1, wire::Seek{"run-1", {key}});
    send(2, wire::Seek{"run-1", {key}});
    Effects effects;
    lending.looked_up({{key, ""}}, now, effects);
    only<wire::Found>(effects, "peer-1");
    const auto given_up = send(1, wire::Stored{"run-1", {}, {key}});
    EXPECT_EQ(only<wire::Found>(given_up, "peer-2"), (wire::Found{"run-1", {{key, ""}}}));
    EXPECT_TRUE(given_up.to_note.empty());
  }
}

TEST_F(LendingTest, WhoLeavesOrIsSilentIsNotWaitedFor) {
  ASSERT_TRUE(lending.held_elsewhere(2, digest(7), "one"));
  send(2, wire::Seek{"run-1", {answer(7)}});
  Effects effects;
  for (int beats = 0; beats < 3; ++beats) lending.tick(now += 1s, effects);
  EXPECT_EQ(only<wire::Found>(effects, "peer-2").entries.at(0).bytes, "");
  ASSERT_TRUE(lending.held_elsewhere(2, digest(8), "one"));
  send(2, wire::Seek{"run-1", {answer(8)}});
  effects = {};
  lending.leave(1, now, effects);
  EXPECT_EQ(only<wire::Found>(effects, "peer-2").entries.at(0).key, answer(8));
  EXPECT_FALSE(lending.held_elsewhere(2, digest(9), "one"));
}

TEST_F(LendingTest, AWorkerThatCameBackIsTalkedToWhereItIs) {
  ASSERT_TRUE(lending.held_elsewhere(2, digest(7), "one"));
  lending.join(1, "peer-1 anew", "one", now);
  EXPECT_EQ(only<wire::Lend>(send(2, wire::Seek{"run-1", {answer(7)}}), "peer-1 anew").keys,
            std::vector{answer(7)});
}

TEST_F(LendingTest, MessagesOfUnknownWorkersAreIgnored) {
  const auto effects = send(9, wire::Seek{"run-1", {answer(7), embedding(7)}});
  EXPECT_TRUE(effects.to_workers.empty() && effects.to_look_up.empty());
  EXPECT_TRUE(send(9, wire::Stored{"run-1", {embedding(7)}, {vote(8)}}).to_note.empty());
  EXPECT_TRUE(send(9, wire::Lent{"run-1", {{answer(7), "x"}}}).to_workers.empty());
}

TEST_F(LendingTest, NothingIsLentWhereCachesAreNotReadOrNotWritten) {
  const auto lends = [&](auto change) {
    auto settings = live();
    change(settings);
    Lending other(settings, 60s);
    other.join(1, "peer-1", "one", now);
    other.join(2, "peer-2", "two", now);
    return other.held_elsewhere(2, digest(7), "one");
  };
  EXPECT_TRUE(lends([](RunSettings&) {}));
  EXPECT_FALSE(lends([](RunSettings& settings) { settings.read_cache = false; }));
  EXPECT_FALSE(lends([](RunSettings& settings) { settings.write_cache = false; }));
  EXPECT_FALSE(lends([](RunSettings& settings) { settings.mode = Mode::cached; }));
  EXPECT_FALSE(lends([](RunSettings& settings) { settings.mode = Mode::mock; }));
}

TEST_F(LendingTest, MessagesStayWithinTheWiresLimits) {
  // What several workers seek of one, and what it lends in one message, may come together at another.
  lending.join(3, "peer-3", "three", now);
  constexpr std::uint32_t count = wire::max_entries;
  std::vector<EntryKey> first;
  std::vector<EntryKey> second;
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    ASSERT_TRUE(lending.held_elsewhere(2, digest(i), i % 2 == 0 ? "one" : "three"));
    (i < count ? first : second).push_back(answer(i));
  }
  send(2, wire::Seek{"run-1", first});
  send(2, wire::Seek{"run-1", second});
  Effects effects;
  lending.leave(1, now, effects);
  ASSERT_EQ(effects.to_workers.size(), 1u);
  EXPECT_EQ(std::get<wire::Found>(effects.to_workers[0].message).entries.size(), count);
  wire::Lent lent{"run-1", {}};
  const std::string large(defaults::max_bytes_per_work, 'x');
  for (std::uint32_t i = 1; i < 8; i += 2) lent.entries.push_back({answer(i), large});
  const auto found = send(3, std::move(lent));
  ASSERT_EQ(found.to_workers.size(), 4u);
  for (const auto& message : found.to_workers)
    EXPECT_EQ(std::get<wire::Found>(message.message).entries.at(0).bytes, large);
}

}  // namespace
}  // namespace sluice
