// Peers that mean harm, by hand against a real coordinator: the run goes on, and its report is what it would
// be without.
#include "common/files.hpp"
#include "tests/support/raw_worker.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/wait.hpp"
#include "tests/support/workbench.hpp"

#include <string>
#include <variant>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

namespace sluice::hostile_peer_test {

using namespace support;

class HostilePeer : public Workbench {
 protected:
  HostilePeer()
      : simulator(start_simulator()),
        coordinator(start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"})) {}

  /// An honest worker ends the run.
  void expect_the_reference() {
    auto worker = start_worker(endpoint);
    const auto finished = finish(coordinator);
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    EXPECT_EQ(comparable_part(finished.output), reference_report());
    const auto report = nlohmann::json::parse(finished.output, nullptr, false);
    ASSERT_TRUE(report.is_object());
    EXPECT_EQ(report["run"]["workers"].size(), 1u) << report["run"]["workers"].dump();
  }

  SimulatorProcess simulator;
  Process coordinator;
  std::string endpoint = endpoint_of(coordinator);
};

// 200,000 of them from one socket took 3.2 GB of the coordinator.
TEST_F(HostilePeer, AFloodOfHellosIsAnsweredAFewTimes) {
  RawWorker flood(endpoint);
  constexpr int hellos = 20'000;
  for (int i = 0; i < hellos; ++i) flood.send(wire::Hello{42, "flood", "", SLUICE_VERSION, 5});
  int welcomes = 0;
  while (auto message = flood.receive(std::chrono::milliseconds(500))) {
    if (std::holds_alternative<wire::Welcome>(*message)) ++welcomes;
  }
  EXPECT_GE(welcomes, 1);
  EXPECT_LE(welcomes, 100) << "a few, and two a second";
  expect_the_reference();
}

// 10,000 put 10,002 workers into the report; 180,000 stopped the run.
TEST_F(HostilePeer, AThousandInstancesOfOneConnectionAreOneWorker) {
  RawWorker many(endpoint);
  for (std::uint64_t instance = 1; instance <= 1000; ++instance)
    many.send(wire::Hello{instance, "one-of-many", "", SLUICE_VERSION, 5});
  expect_the_reference();
}

TEST_F(HostilePeer, ResultsForUnitsOfOthersAreRefused) {
  RawWorker liar(endpoint);
  liar.send(wire::Hello{43, "liar", "", SLUICE_VERSION, 5});
  const auto welcome = liar.receive_only<wire::Welcome>();
  ASSERT_TRUE(welcome);
  const auto& run_id = welcome->settings.run_id;
  liar.send(wire::Ready{run_id, {}, 0, {{0, 1}, {1, 2}, {2, 3}}});
  wire::Report report{run_id, 0, {}, {}};
  for (UnitId unit = 0; unit < 10; ++unit) {
    UnitResult result;
    result.unit = unit;
    result.error = Error{Reason::request_refused, "says the liar"};
    report.results.push_back(result);
  }
  liar.send(report);
  const auto ack = liar.receive_only<wire::Ack>();
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->items.size(), 10u);
  for (const auto& item : ack->items) EXPECT_EQ(item.code, wire::AckCode::gone);
  liar.send(wire::Goodbye{"enough"});
  expect_the_reference();
}

// The log's line of one took minutes, in which no other worker was heard.
TEST_F(HostilePeer, AGoodbyeOfMegabytesHoldsUpNobody) {
  RawWorker talker(endpoint);
  talker.send(wire::Hello{44, "talker", "", SLUICE_VERSION, 5});
  ASSERT_TRUE(talker.receive_only<wire::Welcome>());
  talker.send(wire::Goodbye{std::string(20'000'000, '#')});
  expect_the_reference();
}

// 900 of them, each of which keeps a socket.
TEST_F(HostilePeer, ConnectionsThatNeverEndTheirGreetingAreInNobodysWay) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 900; ++i) {
    FileDescriptor one(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_TRUE(one.is_open());
    ASSERT_EQ(::connect(one.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    // Half of a greeting of ZMTP, or nothing at all.
    if (i % 2 == 0) {
      ASSERT_EQ(::send(one.number(), "\xff\0\0\0\0\0\0\0\1\x7f", 10, MSG_NOSIGNAL), 10);
    }
    silent.push_back(std::move(one));
  }
  expect_the_reference();
}

}  // namespace sluice::hostile_peer_test
