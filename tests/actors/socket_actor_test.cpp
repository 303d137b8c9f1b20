// The owners of sockets: what a flood may take of them, and how they end.
#include "common/transport/socket_actor.hpp"

#include "common/files.hpp"
#include "common/transport/dealer.hpp"
#include "common/transport/defaults.hpp"
#include "common/transport/messages.hpp"
#include "common/transport/peer_quota.hpp"
#include "common/transport/router.hpp"
#include "common/wire/codec.hpp"
#include "tests/actors/socket_fixture.hpp"
#include "tests/support/wait.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <string>
#include <vector>

#include <caf/all.hpp>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

// --- a socket that is never empty ---

/// Reads from a socket into which each frame that is read brings another one.
class EndlessSocket final : public SocketActor {
 public:
  EndlessSocket(caf::actor_config& config, zmq::context_t* context, std::atomic<bool>* feeding,
                std::promise<int>* drained)
      : SocketActor(config, reading_end(*context), zmq::socket_t()),
        feeder_(*context, zmq::socket_type::push),
        feeding_(feeding),
        drained_(drained) {
    feeder_.set(zmq::sockopt::linger, 0);
    // ZeroMQ tells it what was read a millisecond later: with a bound a frame might not be sent, and no
    // other.
    feeder_.set(zmq::sockopt::sndhwm, 0);
    feeder_.connect("inproc://endless");
    feed();
  }

 protected:
  caf::message_handler handlers() override {
    return {
        [this](DrainSocket) {
          frames_ = 0;
          drain_socket();
          drained_->set_value(frames_);
          stop();
        },
        [this](const caf::exit_msg& exit) { on_exit_message(exit); },
    };
  }
  void on_side_frames(std::vector<zmq::message_t>&) override {}
  void on_frames(std::vector<zmq::message_t>&) override {
    ++frames_;
    if (*feeding_) feed();
  }
  void flush() override {}

 private:
  static zmq::socket_t reading_end(zmq::context_t& context) {
    zmq::socket_t socket(context, zmq::socket_type::pull);
    socket.bind("inproc://endless");
    return socket;
  }
  void feed() { feeder_.send(zmq::str_buffer("more"), zmq::send_flags::dontwait); }

  zmq::socket_t feeder_;
  std::atomic<bool>* feeding_;
  std::promise<int>* drained_;
  int frames_ = 0;
};

// --- a socket that may not be read for a moment ---

/// There is room for a frame, then for none, and for all right after that was looked at.
class HeldBackSocket final : public SocketActor {
 public:
  HeldBackSocket(caf::actor_config& config, zmq::socket_t socket, std::promise<void>* both_read)
      : SocketActor(config, std::move(socket), zmq::socket_t()), both_read_(both_read) {}

 protected:
  caf::message_handler handlers() override {
    return {[this](const caf::exit_msg& exit) { on_exit_message(exit); }};
  }
  void on_side_frames(std::vector<zmq::message_t>&) override {}
  void on_frames(std::vector<zmq::message_t>&) override {
    if (++frames_ < 2) return;
    both_read_->set_value();
    stop();
  }
  void flush() override {}
  bool may_read() const override { return ++looks_ != 2; }

 private:
  std::promise<void>* both_read_;
  mutable int looks_ = 0;
  int frames_ = 0;
};

TEST_F(SocketActorTest, ADrainEndsThoughFramesKeepComing) {
  std::atomic<bool> feeding = true;
  std::promise<int> drained;
  auto frames = drained.get_future();
  const auto actor = system().spawn<EndlessSocket, caf::detached>(&context, &feeding, &drained);
  caf::anon_send(actor, DrainSocket{});
  const bool ended = frames.wait_for(support::patience) == std::future_status::ready;
  EXPECT_TRUE(ended) << "it reads for as long as something comes";
  feeding = false;  // Ends the old way, too.
  EXPECT_GE(frames.get(), 1000) << "what a fleet has said at a time is read";
  caf::scoped_actor self(system());
  self->wait_for(actor);
}

// ZeroMQ tells of a frame once: it waited for the next one to come.
TEST_F(SocketActorTest, WhatCouldNotBeReadIsReadOnceThereIsRoom) {
  zmq::socket_t reader(context, zmq::socket_type::pull);
  reader.bind("inproc://held-back");
  zmq::socket_t writer(context, zmq::socket_type::push);
  writer.set(zmq::sockopt::linger, 0);
  writer.connect("inproc://held-back");
  for (int i = 0; i < 2; ++i) writer.send(zmq::str_buffer("frame"), zmq::send_flags::dontwait);
  std::promise<void> both_read;
  auto done = both_read.get_future();
  const auto actor = system().spawn<HeldBackSocket, caf::detached>(std::move(reader), &both_read);
  EXPECT_EQ(done.wait_for(support::patience), std::future_status::ready);
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  caf::scoped_actor self(system());
  self->wait_for(actor);
}

TEST_F(SocketActorTest, AnExitMessageEndsARouterAndItsReasonIsTold) {
  auto bound = bind_router(context, {"inproc://router"});
  ASSERT_TRUE(bound) << bound.error().message;
  Probe<FromWorkers, SocketDrained> coordinator(system());
  const auto router = spawn_router(system(), std::move(*bound), coordinator.handle());
  caf::scoped_actor self(system());
  self->monitor(router);
  caf::anon_send_exit(router, caf::exit_reason::user_shutdown);
  self->receive([&](const caf::down_msg& down) {
    EXPECT_EQ(down.reason, caf::error(caf::exit_reason::user_shutdown));
  });
}

// --- a dealer ---

// A worker that could not read the run's settings waited for them until its own end.
TEST_F(SocketActorTest, AWelcomeThatCannotBeReadIsOneOfAnotherVersion) {
  zmq::socket_t coordinator(context, zmq::socket_type::dealer);
  coordinator.set(zmq::sockopt::linger, 0);
  coordinator.bind("inproc://coordinator");
  auto connected = connect_dealer(context, "inproc://coordinator");
  ASSERT_TRUE(connected) << connected.error().message;
  Probe<FromCoordinator> worker(system());
  const auto dealer = spawn_dealer(system(), std::move(*connected), worker.handle());
  const auto send = [&](const std::string& header, const std::string& body) {
    coordinator.send(zmq::buffer(header), zmq::send_flags::sndmore);
    coordinator.send(zmq::buffer(body), zmq::send_flags::none);
  };
  send(wire::encode(wire::Drain{"run", "over"}).header, "no drain");  // Is left out.
  auto welcome = wire::encode(wire::Welcome{});
  welcome.body.pop_back();
  send(welcome.header, welcome.body);
  EXPECT_TRUE(support::eventually([&] {
    settle();
    return !worker.got<FromCoordinator>().empty();
  }));
  const auto got = worker.take<FromCoordinator>();
  ASSERT_EQ(got.size(), 1u);
  ASSERT_EQ(got[0].messages.size(), 1u);
  const auto* reject = std::get_if<wire::Reject>(&got[0].messages[0]);
  ASSERT_NE(reject, nullptr);
  EXPECT_EQ(reject->code, wire::RejectCode::protocol_mismatch);
  EXPECT_NE(reject->detail.find("WELCOME"), std::string::npos) << reject->detail;
  caf::anon_send(dealer, CloseSocket{});
  caf::scoped_actor self(system());
  self->wait_for(dealer);
}

// Its worker only said that the coordinator was silent.
TEST_F(SocketActorTest, ADealerSaysThatNobodyKnowsTheHost) {
  const std::string host(64, 'x');  // A label has 63 characters at most: no name server is asked.
  auto connected = connect_dealer(context, "tcp://" + host + ":5999");
  ASSERT_TRUE(connected) << connected.error().message;
  Probe<FromCoordinator, ConnectionRefused> worker(system());
  const auto dealer = spawn_dealer(system(), std::move(*connected), worker.handle());
  caf::anon_send(dealer, ReopenSocket{});
  EXPECT_TRUE(support::eventually([&] {
    settle();
    return !worker.got<ConnectionRefused>().empty();
  }));
  const auto refused = worker.take<ConnectionRefused>();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_TRUE(refused[0].why.starts_with("the host name " + host + " cannot be resolved ("))
      << refused[0].why;
  caf::anon_send(dealer, CloseSocket{});
  caf::scoped_actor self(system());
  self->wait_for(dealer);
}

class DealerOfNobody : public SocketActorTest {
 protected:
  /// What a dealer tells its worker of an endpoint, once it begins so.
  std::string told_of(const std::string& endpoint, const std::string& words) {
    auto connected = connect_dealer(context, endpoint);
    if (!connected) return connected.error().message;
    Probe<FromCoordinator, ConnectionRefused> worker(system());
    const auto dealer = spawn_dealer(system(), std::move(*connected), worker.handle());
    std::string told;
    support::eventually([&] {
      caf::anon_send(dealer, ReopenSocket{});
      settle();
      for (const ConnectionRefused& refused : worker.take<ConnectionRefused>()) told = refused.why;
      return told.starts_with(words);
    });
    caf::anon_send(dealer, CloseSocket{});
    caf::scoped_actor self(system());
    self->wait_for(dealer);
    return told;
  }
};

// It was called silent, whoever was there or not.
TEST_F(DealerOfNobody, SaysThatConnectionsAreRefused) {
  const std::string closed = "tcp://127.0.0.1:1";
  const std::string words = "the connection to " + closed + " is refused";
  const auto told = told_of(closed, words);
  EXPECT_TRUE(told.starts_with(words)) << told;
}

TEST_F(DealerOfNobody, SaysThatWhoListensIsNoCoordinator) {
  const FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.number(), 1024), 0);
  ASSERT_EQ(::getsockname(listener.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const auto endpoint = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const std::string words = "whoever listens at " + endpoint + " takes the connection and does not greet";
  const auto told = told_of(endpoint, words);
  EXPECT_TRUE(told.starts_with(words)) << told;
}

// --- a router ---

// What runs tell each other of calls that outlive their process goes by it.
TEST_F(SocketActorTest, ARouterTellsWorkersOfItsProcessFromOthers) {
  auto bound = bind_router(context, {"inproc://router", "tcp://127.0.0.1:*"});
  ASSERT_TRUE(bound) << bound.error().message;
  const auto endpoint = bound->endpoint;
  Probe<FromWorkers, SocketDrained> coordinator(system());
  const auto router = spawn_router(system(), std::move(*bound), coordinator.handle());
  const auto is_from_this_process = [&](const std::string& address) {
    zmq::socket_t worker(context, zmq::socket_type::dealer);
    worker.set(zmq::sockopt::linger, 0);
    worker.connect(address);
    send_frames(worker, wire::encode(wire::Hello{7, "w", "cache", "0.1.0", 5}));
    std::vector<FromWorkers::Item> items;
    EXPECT_TRUE(support::eventually([&] {
      settle();
      for (FromWorkers& batch : coordinator.take<FromWorkers>())
        std::ranges::move(batch.items, std::back_inserter(items));
      return !items.empty();
    }));
    return std::get<wire::Hello>(items.at(0).message).from_this_process;
  };
  EXPECT_TRUE(is_from_this_process("inproc://router"));
  EXPECT_FALSE(is_from_this_process(endpoint));
  caf::anon_send(router, CloseSocket{});
  caf::scoped_actor self(system());
  self->wait_for(router);
}

// --- REJECT ---

TEST_F(SocketActorTest, AFloodOfMalformedFramesIsCountedAndNotAnsweredWithoutEnd) {
  constexpr std::uint64_t flood = 20'000;
  auto bound = bind_router(context, {"inproc://router"});
  ASSERT_TRUE(bound) << bound.error().message;
  Probe<FromWorkers, SocketDrained> coordinator(system());
  const auto router = spawn_router(system(), std::move(*bound), coordinator.handle());
  zmq::socket_t stranger(context, zmq::socket_type::dealer);
  stranger.set(zmq::sockopt::linger, 0);
  stranger.set(zmq::sockopt::sndhwm, 0);
  stranger.set(zmq::sockopt::rcvhwm, 0);
  stranger.connect("inproc://router");
  for (std::uint64_t i = 0; i < flood; ++i) stranger.send(zmq::str_buffer("x"), zmq::send_flags::none);
  EXPECT_TRUE(support::eventually([&] {
    settle();
    const auto& heard = coordinator.got<FromWorkers>();
    return !heard.empty() && heard.back().frames_rejected == flood;
  }));
  caf::scoped_actor self(system());
  caf::anon_send(router, CloseSocket{});
  self->wait_for(router);
  std::size_t answers = 0;
  zmq::message_t part;
  while (stranger.recv(part, zmq::recv_flags::dontwait)) answers += part.more() ? 0 : 1;
  EXPECT_GE(answers, 1u);
  EXPECT_LE(answers, 1000u);
}

TEST(PeerQuota, OnePeerHasABurstAndThenOneASecond) {
  PeerQuota quota({defaults::max_rejects_to_one, defaults::rejects_to_one_per_second},
                  {defaults::max_rejects, defaults::rejects_per_second});
  const TimePoint begin = TimePoint() + 1h;
  std::size_t answered = 0;
  for (int i = 0; i < 10'000; ++i) answered += quota.take("p", begin) ? 1 : 0;
  EXPECT_EQ(answered, 512u);
  EXPECT_TRUE(quota.take("q", begin)) << "another peer has its own";
  EXPECT_FALSE(quota.take("p", begin + 999ms));
  EXPECT_TRUE(quota.take("p", begin + 1001ms));
  EXPECT_FALSE(quota.take("p", begin + 1002ms));
}

TEST(PeerQuota, ManyPeersTogetherHaveABoundToo) {
  PeerQuota quota({defaults::max_rejects_to_one, defaults::rejects_to_one_per_second},
                  {defaults::max_rejects, defaults::rejects_per_second});
  const TimePoint begin = TimePoint() + 1h;
  std::size_t answered = 0;
  for (int i = 0; i < 30'000; ++i) answered += quota.take(std::to_string(i), begin) ? 1 : 0;
  EXPECT_EQ(answered, 8192u);
}

}  // namespace
}  // namespace sluice
