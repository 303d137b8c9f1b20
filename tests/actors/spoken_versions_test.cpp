// Which version of the protocol a dealer and a router speak with a peer of the version before.
#include "common/defaults.hpp"
#include "common/transport/dealer.hpp"
#include "common/transport/messages.hpp"
#include "common/transport/router.hpp"
#include "common/wire/codec.hpp"
#include "tests/actors/socket_fixture.hpp"
#include "tests/support/wait.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <caf/all.hpp>

namespace sluice {
namespace {

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

// It was ignored as others are, and a run whose only worker held its units never ended.
TEST_F(OlderCoordinatorTest, OfMessagesThatCannotBeReadWorkIsHandedOn) {
  wire::Work work{"run-1", {}};
  work.units.emplace_back().request.user =
      "a\xa0"
      "b";
  send_frames(coordinator, wire::encode(wire::Ack{"\xa0", {}}));
  const auto heard = told(work);
  EXPECT_TRUE(heard.messages.empty());
  ASSERT_TRUE(heard.unreadable_work);
  EXPECT_EQ(heard.unreadable_work->reason, Reason::message_malformed);
  EXPECT_NE(heard.unreadable_work->message.find("malformed WORK"), std::string::npos)
      << heard.unreadable_work->message;
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

}  // namespace
}  // namespace sluice
