// The owners of sockets: what a flood may take of them, and how they end.
#include "common/transport/socket_actor.hpp"

#include "common/defaults.hpp"
#include "common/transport/dealer.hpp"
#include "common/transport/defaults.hpp"
#include "common/transport/messages.hpp"
#include "common/transport/peer_quota.hpp"
#include "common/transport/router.hpp"
#include "common/wire/codec.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/wait.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <vector>

#include <caf/all.hpp>

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

class SocketActorTest : public ActorTest {
 protected:
  zmq::context_t context;
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

// --- versions ---

void send_frames(zmq::socket_t& socket, const wire::Frames& frames) {
  socket.send(zmq::buffer(frames.header), zmq::send_flags::sndmore);
  socket.send(zmq::buffer(frames.body), zmq::send_flags::none);
}

/// The next message's header; empty if none comes.
std::string next_header(zmq::socket_t& socket, std::string* body = nullptr) {
  socket.set(zmq::sockopt::rcvtimeo, static_cast<int>(support::patience.count() * 1000));
  zmq::message_t header;
  zmq::message_t rest;
  if (!socket.recv(header) || !header.more() || !socket.recv(rest)) return {};
  if (body != nullptr) *body = rest.to_string();
  return header.to_string();
}

TEST_F(SocketActorTest, ADealerSpeaksTheVersionBeforeOnceItsCoordinatorSpeaksThatOne) {
  constexpr std::uint8_t before = wire::oldest_protocol_version;
  zmq::socket_t coordinator(context, zmq::socket_type::dealer);
  coordinator.set(zmq::sockopt::linger, 0);
  coordinator.bind("inproc://coordinator");
  auto connected = connect_dealer(context, "inproc://coordinator");
  ASSERT_TRUE(connected) << connected.error().message;
  Probe<FromCoordinator> worker(system());
  const auto dealer = spawn_dealer(system(), std::move(*connected), worker.handle());
  const wire::Hello hello{7, "w", "cache", "0.1.0", 5};
  for (int sent = 0; sent < 2; ++sent) {
    caf::anon_send(dealer, ToCoordinatorNow{hello});
    EXPECT_EQ(next_header(coordinator), wire::encode(hello).header);
  }
  const auto mismatch = wire::encode(wire::Reject{wire::RejectCode::protocol_mismatch, "no"}, before);
  send_frames(coordinator, mismatch);
  send_frames(coordinator, mismatch);  // Of what was sent meanwhile: it must not end the worker.
  EXPECT_TRUE(support::eventually([&] {
    settle();
    return !worker.got<FromCoordinator>().empty();
  }));
  caf::anon_send(dealer, ToCoordinatorNow{hello});
  EXPECT_EQ(next_header(coordinator), wire::encode(hello, before).header);
  for (const auto& got : worker.take<FromCoordinator>()) {
    EXPECT_TRUE(got.says_hello_again);
    EXPECT_TRUE(got.messages.empty());
  }
  // One that speaks none of ours ends it.
  auto foreign = wire::encode(wire::Reject{wire::RejectCode::protocol_mismatch, "install"});
  foreign.header[2] = 99;
  send_frames(coordinator, foreign);
  EXPECT_TRUE(support::eventually([&] {
    settle();
    return !worker.got<FromCoordinator>().empty();
  }));
  EXPECT_EQ(std::get<wire::Reject>(worker.take<FromCoordinator>().at(0).messages.at(0)),
            (wire::Reject{wire::RejectCode::protocol_mismatch, "install"}));
  caf::anon_send(dealer, CloseSocket{});
  caf::scoped_actor self(system());
  self->wait_for(dealer);
}

/// A dealer whose coordinator is a socket of the test, which speaks the version before.
struct OlderCoordinatorTest : SocketActorTest {
  void SetUp() override {
    coordinator.set(zmq::sockopt::linger, 0);
    coordinator.bind("inproc://coordinator");
    auto connected = connect_dealer(context, "inproc://coordinator");
    ASSERT_TRUE(connected) << connected.error().message;
    dealer = spawn_dealer(system(), std::move(*connected), worker.handle());
  }
  void TearDown() override {
    caf::anon_send(dealer, CloseSocket{});
    caf::scoped_actor self(system());
    self->wait_for(dealer);
    dealer = nullptr;
  }
  /// The header of what the dealer sends when its worker says HELLO.
  std::string hello() {
    caf::anon_send(dealer, ToCoordinatorNow{wire::Hello{7, "w", "cache", "0.1.0", 5}});
    return next_header(coordinator);
  }
  static std::string header_in(std::uint8_t version) { return wire::encode(wire::Hello{}, version).header; }
  /// What the worker is told when the coordinator sends this.
  FromCoordinator told(const wire::ToWorker& message) {
    send_frames(coordinator, wire::encode(message, before));
    EXPECT_TRUE(support::eventually([&] {
      settle();
      return !worker.got<FromCoordinator>().empty();
    }));
    return worker.take<FromCoordinator>().at(0);
  }

  static constexpr std::uint8_t before = wire::oldest_protocol_version;
  const wire::Reject mismatch{wire::RejectCode::protocol_mismatch, "this run needs a later version"};
  zmq::socket_t coordinator{context, zmq::socket_type::dealer};
  Probe<FromCoordinator> worker{system()};
  caf::actor dealer;
};

TEST_F(OlderCoordinatorTest, ARefusalOfWhatWasSaidInItsVersionIsHandedOn) {
  EXPECT_EQ(hello(), header_in(wire::protocol_version));
  EXPECT_TRUE(told(mismatch).says_hello_again);
  EXPECT_EQ(hello(), header_in(before));
  const auto refused = told(mismatch);
  EXPECT_FALSE(refused.says_hello_again);
  EXPECT_EQ(std::get<wire::Reject>(refused.messages.at(0)), mismatch);
}

// A run that needs what the version before does not have: its coordinator refuses in that version.
TEST_F(OlderCoordinatorTest, AfterAWelcomeARefusalIsOfAnotherCoordinatorWhichIsSpokenToInOurVersion) {
  for (int coordinators = 0; coordinators < 2; ++coordinators) {
    EXPECT_EQ(hello(), header_in(wire::protocol_version));
    EXPECT_TRUE(told(mismatch).says_hello_again);
    EXPECT_EQ(hello(), header_in(before));
    told(wire::Welcome{});
    EXPECT_TRUE(told(mismatch).says_hello_again);
  }
}

TEST_F(SocketActorTest, ARouterAnswersEachPeerInItsVersion) {
  constexpr std::uint8_t before = wire::oldest_protocol_version;
  auto bound = bind_router(context, {"inproc://router"});
  ASSERT_TRUE(bound) << bound.error().message;
  Probe<FromWorkers, SocketDrained> coordinator(system());
  const auto router = spawn_router(system(), std::move(*bound), coordinator.handle());
  const auto greeted_in = [&](std::uint8_t version) {
    zmq::socket_t worker(context, zmq::socket_type::dealer);
    worker.set(zmq::sockopt::linger, 0);
    worker.connect("inproc://router");
    send_frames(worker, wire::encode(wire::Hello{7, "w", "cache", "0.1.0", 5}, version));
    std::vector<FromWorkers::Item> items;
    EXPECT_TRUE(support::eventually([&] {
      settle();
      // Some hold nothing but the count of frames that were rejected.
      for (FromWorkers& batch : coordinator.take<FromWorkers>())
        std::ranges::move(batch.items, std::back_inserter(items));
      return !items.empty();
    }));
    const auto& item = items.at(0);
    EXPECT_EQ(std::get<wire::Hello>(item.message).protocol, version);
    caf::anon_send(router, ToPeer{item.peer, wire::Welcome{{}, "0.2.0"}});
    std::string body;
    const auto header = next_header(worker, &body);
    const auto welcome = wire::decode_to_worker(header, body);
    EXPECT_TRUE(welcome) << welcome.error().message;
    // Also what nobody reads: a peer could not read the answer in another version.
    send_frames(worker, {header, std::string(defaults::max_frame_bytes + 1, 'x')});
    EXPECT_EQ(wire::version_of(next_header(worker)), version);
    return static_cast<int>(*wire::version_of(header));
  };
  EXPECT_EQ(greeted_in(before), before);
  EXPECT_EQ(greeted_in(wire::protocol_version), wire::protocol_version);
  caf::anon_send(router, CloseSocket{});
  caf::scoped_actor self(system());
  self->wait_for(router);
}

// --- REJECT ---

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
