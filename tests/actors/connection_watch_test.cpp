// What waits in memory for a connection, and when that is too much.
#include "common/transport/connection_watch.hpp"

#include "common/transport/messages.hpp"
#include "common/transport/router.hpp"
#include "common/transport/socket_options.hpp"
#include "common/wire/codec.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/raw_connection.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/wait.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include <caf/all.hpp>
#include <sys/resource.h>

namespace sluice::connection_watch_test {

using namespace std::chrono_literals;
using support::RawConnection;
using Fault = ConnectionLoads::Fault;

constexpr std::uint64_t mib = 1u << 20;
constexpr TimePoint begin = TimePoint() + 1h;

TEST(SocketOptions, AGreetingThatDoesNotEndIsGivenUp) {
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::router);
  socket.set(zmq::sockopt::handshake_ivl, 0);
  set_common_options(socket);
  EXPECT_EQ(socket.get(zmq::sockopt::handshake_ivl), 30'000);
}

class ConnectionLoadsTest : public ::testing::Test {
 protected:
  /// The cut connections, each with why.
  std::vector<std::pair<int, Fault>> check(TimePoint now) {
    std::vector<std::pair<int, Fault>> cuts;
    for (const auto& [connection, fault] : loads.check(counts, memory, now)) {
      cuts.emplace_back(connection, fault);
      counts.erase(connection);
    }
    return cuts;
  }
  void open(int connection) {
    loads.open(connection);
    counts[connection] = {};
  }

  ConnectionLoads loads;
  std::map<int, ConnectionLoads::Counts> counts;
  std::uint64_t memory = 100 * mib;
};

TEST_F(ConnectionLoadsTest, WhatIsReadDoesNotCount) {
  open(1);
  for (int i = 1; i < 100; ++i) {
    counts[1].received += 60 * mib;
    loads.on_read(1, 60 * mib);
    EXPECT_TRUE(check(begin).empty());
  }
  counts[1].received += 66 * mib;
  EXPECT_EQ(check(begin), (std::vector<std::pair<int, Fault>>{{1, Fault::sends_too_much}}));
}

// Rather too much is counted for each message: it is no credit.
TEST_F(ConnectionLoadsTest, NobodySavesUp) {
  open(1);
  counts[1].received = 100;
  loads.on_read(1, 1000 * mib);
  EXPECT_TRUE(check(begin).empty());
  counts[1].received += 66 * mib;
  EXPECT_EQ(check(begin).size(), 1u);
}

TEST_F(ConnectionLoadsTest, WhoReadsAllTheTimeMayHaveMuchBeforeIt) {
  open(1);
  loads.on_sent(1, 300 * mib);
  for (int second = 0; second < 200; ++second) {
    counts[1].acknowledged += mib;
    EXPECT_TRUE(check(begin + second * 1s).empty()) << second;
  }
  EXPECT_TRUE(check(begin + 199s + 900ms).empty());
  EXPECT_EQ(check(begin + 200s), (std::vector<std::pair<int, Fault>>{{1, Fault::does_not_read}}));
}

TEST_F(ConnectionLoadsTest, WhoReadsAByteNowAndThenDoesNotRead) {
  open(1);
  loads.on_sent(1, 65 * mib);
  EXPECT_TRUE(check(begin).empty());
  counts[1].acknowledged += 1000;
  EXPECT_TRUE(check(begin + 900ms).empty());
  EXPECT_EQ(check(begin + 1s).size(), 1u);
}

TEST_F(ConnectionLoadsTest, OfManyThatHaveTooMuchTogetherTheLargestGoes) {
  for (int i = 0; i < 20; ++i) {
    open(i);
    counts[i].received = (i == 7 ? 50 : 25) * mib;
  }
  EXPECT_EQ(check(begin), (std::vector<std::pair<int, Fault>>{{7, Fault::has_most_of_total}}));
  EXPECT_TRUE(check(begin).empty());
}

TEST_F(ConnectionLoadsTest, WhoseUnreadBytesTakeManyTimesTheirNumberIsCut) {
  for (int i = 0; i < 3; ++i) open(i);
  EXPECT_TRUE(check(begin).empty());
  counts[1].received = 20 * mib;
  counts[2].received = 10 * mib;
  memory += 572 * mib;
  EXPECT_TRUE(check(begin).empty()) << "twice the bytes, and 512 MiB";
  ++memory;
  EXPECT_EQ(check(begin), (std::vector<std::pair<int, Fault>>{{1, Fault::fills_memory}}));
  EXPECT_TRUE(check(begin).empty()) << "it has not grown since";
  ++memory;
  EXPECT_EQ(check(begin), (std::vector<std::pair<int, Fault>>{{2, Fault::fills_memory}}));
  open(3);
  EXPECT_TRUE(check(begin).empty()) << "little is unread";
  counts[3].received = 20 * mib;
  ++memory;
  EXPECT_TRUE(check(begin).empty()) << "what is not freed yet is not put down to it";
}

TEST_F(ConnectionLoadsTest, ManyThatHaveLittleUnreadFillTheMemoryTogether) {
  for (int i = 0; i < 50; ++i) open(i);
  EXPECT_TRUE(check(begin).empty());
  for (int i = 0; i < 50; ++i) counts[i].received = mib - 1;
  memory += 700 * mib;
  EXPECT_EQ(check(begin).size(), 1u);
}

TEST_F(ConnectionLoadsTest, MemoryThatGrowsWhileLittleIsUnreadIsNobodysFault) {
  open(1);
  for (int i = 0; i < 10; ++i) {
    counts[1].received = 4 * mib - 1;
    memory += 1000 * mib;
    EXPECT_TRUE(check(begin).empty());
  }
}

TEST_F(ConnectionLoadsTest, WhatAnAllocatorKeepsOfALargeMessageIsNobodysFault) {
  open(1);
  EXPECT_TRUE(check(begin).empty());
  counts[1].received = 60 * mib;
  memory += 120 * mib;
  EXPECT_TRUE(check(begin).empty());
  loads.on_read(1, 55 * mib);
  memory += 512 * mib;
  EXPECT_TRUE(check(begin).empty());
}

TEST_F(ConnectionLoadsTest, OneThatHasGoneCountsNoMore) {
  for (int i = 0; i < 20; ++i) {
    open(i);
    counts[i].received = 25 * mib;
  }
  loads.close(3);
  EXPECT_TRUE(check(begin).empty());
  open(3);  // The number is another's now.
  counts.erase(4);
  EXPECT_TRUE(check(begin).empty());
}

// --- a router's ---

class WatchedRouter : public ActorTest {
 protected:
  /// Joins it; what the router calls it. Nobody if no message of it comes.
  Peer peer_of(RawConnection& connection) {
    connection.join();
    const auto frames = wire::encode(wire::Goodbye{"hello"});
    connection.send(RawConnection::frame(frames.header, true) + RawConnection::frame(frames.body, false));
    const bool came = support::eventually([&] {
      settle();
      return !coordinator.got<FromWorkers>().empty();
    });
    EXPECT_TRUE(came);
    return came ? coordinator.take<FromWorkers>()[0].items[0].peer : Peer{};
  }
  WatchedRouter() {
    auto bound = bind_router(context, {"tcp://127.0.0.1:0"});
    if (!bound) throw std::runtime_error(bound.error().message);
    endpoint = bound->endpoint;
    router = spawn_router(system(), std::move(*bound), coordinator.handle());
  }
  ~WatchedRouter() override {
    caf::anon_send(router, CloseSocket{});
    caf::scoped_actor self(system());
    self->wait_for(router);
  }
  /// Whether it goes on serving: a message of another connection arrives.
  bool serves() {
    RawConnection honest(endpoint);
    honest.join();
    const auto frames = wire::encode(wire::Goodbye{"bye"});
    honest.send(RawConnection::frame(frames.header, true) + RawConnection::frame(frames.body, false));
    return support::eventually([&] {
      settle();
      return !coordinator.got<FromWorkers>().empty();
    });
  }

  zmq::context_t context;
  Probe<FromWorkers, SocketDrained> coordinator{system()};
  std::string endpoint;
  caf::actor router;
};

/// What is sent until the other side hangs up, of at most 1 GiB.
std::size_t bytes_until_cut(RawConnection& connection, const std::string& piece) {
  std::size_t sent = 0;
  while (sent < 1024 * mib && connection.send(piece)) sent += piece.size();
  return sent;
}

// One connection took as much memory as it liked: ZeroMQ keeps the parts of a message until its last.
TEST_F(WatchedRouter, AMessageThatDoesNotEndIsCut) {
  RawConnection endless(endpoint);
  endless.join();
  EXPECT_LT(bytes_until_cut(endless, RawConnection::frame(std::string(8 * mib, 'x'), true)), 1024 * mib);
  EXPECT_TRUE(serves());
}

// Each part of nothing takes 64 bytes of memory, for 2 on the wire.
constexpr long memory_of_parts_kib = 3L << 19;

std::string parts_of_nothing() {
  std::string parts;
  while (parts.size() < mib) parts += std::string("\1\0", 2);
  return parts;
}

long most_memory_kib() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

TEST_F(WatchedRouter, AMessageOfPartsOfNothingIsCut) {
  RawConnection endless(endpoint);
  endless.join();
  EXPECT_LT(bytes_until_cut(endless, parts_of_nothing()), 100 * mib);
  EXPECT_TRUE(serves());
  if (!support::has_address_sanitizer) {
    EXPECT_LT(most_memory_kib(), memory_of_parts_kib);
  }
}

TEST_F(WatchedRouter, ManyMessagesOfPartsOfNothingAreCutBeforeTheyFillTheMemory) {
  const std::string parts = parts_of_nothing();
  std::vector<std::thread> peers;
  for (int i = 0; i < 8; ++i) {
    peers.emplace_back([&] {
      RawConnection endless(endpoint);
      endless.join();
      EXPECT_LT(bytes_until_cut(endless, parts), 100 * mib);
    });
  }
  for (auto& peer : peers) peer.join();
  EXPECT_TRUE(serves());
  if (!support::has_address_sanitizer) {
    EXPECT_LT(most_memory_kib(), memory_of_parts_kib);
  }
}

// Nobody has to have a key for it.
TEST_F(WatchedRouter, AHandshakeLargerThanAnyMessageIsCut) {
  RawConnection stranger(endpoint);
  std::string command = RawConnection::frame(std::string(100 * mib, 'x'), false);
  command[0] = 6;
  EXPECT_FALSE(stranger.send(command) && stranger.send(command));
  EXPECT_TRUE(serves());
}

TEST_F(WatchedRouter, ManyHandshakesThatDoNotEndAreCutTogether) {
  std::string command = RawConnection::frame(std::string(60 * mib, 'x'), false);
  command[0] = 6;
  command.pop_back();
  std::vector<RawConnection> strangers;
  for (int i = 0; i < 12; ++i) {
    strangers.emplace_back(endpoint);
    strangers.back().send(command);
  }
  EXPECT_TRUE(support::eventually(
      [&] { return std::ranges::count_if(strangers, [](auto& one) { return one.has_hung_up(); }) >= 3; }));
  EXPECT_TRUE(serves());
}

// An answer may have megabytes: 1,024 of them are no bound.
TEST_F(WatchedRouter, WhoDoesNotReadWhatItIsSentIsCut) {
  RawConnection deaf(endpoint);
  const Peer peer = peer_of(deaf);
  const EntryKey key{EntryKind::vote, sha256("vote")};
  const wire::Found found{"run", {{key, std::string(8 * mib, 'x')}}};
  // The peer's system takes up to 32 MiB (tcp_rmem), and this one keeps 4.
  for (int i = 0; i < 20; ++i) caf::anon_send(router, ToPeer{peer, found});
  EXPECT_TRUE(deaf.is_cut());
  EXPECT_TRUE(serves());
}

// It would wait for ever for what was dropped, and others for it.
TEST_F(WatchedRouter, WhoLetsTooManyMessagesWaitIsLetGo) {
  RawConnection deaf(endpoint);
  const Peer peer = peer_of(deaf);
  const EntryKey key{EntryKind::vote, sha256("vote")};
  const wire::Found found{"run", {{key, std::string(8 << 10, 'x')}}};
  for (int i = 0; i < 4000; ++i) caf::anon_send(router, ToPeer{peer, found});
  const auto is_let_go = [&] {
    settle();
    return std::ranges::any_of(coordinator.got<FromWorkers>(), [&](const FromWorkers& batch) {
      return std::ranges::find(batch.deaf, peer) != batch.deaf.end();
    });
  };
  EXPECT_TRUE(support::eventually(is_let_go));
  EXPECT_FALSE(deaf.has_hung_up()) << "too few bytes for that";
}

TEST_F(WatchedRouter, NoMoreIsReadThanCanBeInHand) {
  RawConnection flood(endpoint);
  flood.join();
  const EntryKey key{EntryKind::vote, sha256("vote")};
  const auto frames = wire::encode(wire::Lent{"run", {{key, std::string(4 * mib, 'x')}}});
  const std::string message =
      RawConnection::frame(frames.header, true) + RawConnection::frame(frames.body, false);
  const auto in_hand = [&] {
    settle();
    std::size_t messages = 0;
    for (const auto& batch : coordinator.got<FromWorkers>()) messages += batch.items.size();
    return messages;
  };
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(flood.send(message));
  EXPECT_TRUE(support::eventually([&] { return in_hand() >= 8; }));
  caf::anon_send(router, DrainSocket{});
  EXPECT_FALSE(support::eventually([&] { return in_hand() > 8; }, 100ms)) << "32 MiB";
  EXPECT_TRUE(coordinator.got<SocketDrained>().empty()) << "what waits is no silence";
  coordinator.take<FromWorkers>();
  EXPECT_TRUE(support::eventually([&] { return in_hand() == 4; })) << "then the rest is read";
  EXPECT_TRUE(support::eventually([&] {
    settle();
    return !coordinator.got<SocketDrained>().empty();
  }));
}

}  // namespace sluice::connection_watch_test
