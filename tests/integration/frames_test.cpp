// Strangers on the coordinator's port: every bad message is answered and counted, and the run goes on.

#include "common/defaults.hpp"
#include "tests/support/ledger_rows.hpp"
#include "tests/support/raw_worker.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <random>

#include <arpa/inet.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

using namespace support;
using Message = std::vector<std::string>;

class BadFrames : public Workbench {
 protected:
  // Sends them all and expects a REJECT with this code for each.
  void expect_rejected(RawWorker& stranger, const std::vector<Message>& messages, wire::RejectCode code) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      stranger.send_frames(messages[i]);
      const auto answer = stranger.receive();
      ASSERT_TRUE(answer) << "no answer to message " << i;
      const auto* reject = std::get_if<wire::Reject>(&*answer);
      ASSERT_NE(reject, nullptr) << "message " << i;
      EXPECT_EQ(reject->code, code) << "message " << i << ": " << reject->detail;
      EXPECT_NE(reject->detail, "") << "message " << i;
      ++rejected_;
    }
  }

  /// A worker to whose first message its coordinator answers this.
  Finished worker_that_hears(const wire::Frames& frames) {
    zmq::context_t context;
    zmq::socket_t coordinator(context, zmq::socket_type::router);
    coordinator.set(zmq::sockopt::linger, 0);
    coordinator.bind("tcp://127.0.0.1:0");
    auto worker = start_worker(coordinator.get(zmq::sockopt::last_endpoint));
    coordinator.set(zmq::sockopt::rcvtimeo, static_cast<int>(std::chrono::milliseconds(patience).count()));
    zmq::message_t peer;
    EXPECT_TRUE(coordinator.recv(peer));
    coordinator.send(peer, zmq::send_flags::sndmore);
    coordinator.send(zmq::buffer(frames.header), zmq::send_flags::sndmore);
    coordinator.send(zmq::buffer(frames.body), zmq::send_flags::none);
    return finish(worker);
  }

  std::size_t rejected_ = 0;
};

std::string random_bytes(std::mt19937& random, std::size_t most) {
  std::string bytes(random() % (most + 1), '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::string header_of(char version, wire::MessageType type) {
  return {'S', 'L', version, static_cast<char>(type)};
}

constexpr char this_version = static_cast<char>(wire::protocol_version);

wire::Frames hello() {
  return wire::encode(wire::Hello{7, "stranger", "cache", SLUICE_VERSION, 5});
}

/// Wrong numbers of frames, wrong headers, messages that are not for a coordinator, lying lengths.
std::vector<Message> malformed_messages() {
  const auto good = hello();
  const std::string endless(5000, '\x91');  // Arrays in arrays.
  return {
      {""},
      {good.header},
      {"", ""},
      {good.header, ""},
      {good.header, good.body, ""},
      {good.header, good.body, good.body, good.body, good.body, good.body, good.body, good.body, good.body,
       good.body},
      {"HTTP", good.body},
      {good.header + "x", good.body},
      {header_of(this_version, wire::MessageType::welcome), good.body},
      {header_of(this_version, static_cast<wire::MessageType>(0x7f)), good.body},
      {header_of(this_version, wire::MessageType::report), good.body},
      {good.header, good.body + "x"},
      {good.header, "\xdd\xff\xff\xff\xff"},
      {good.header, "\xc6\xff\xff\xff\xff"},
      {good.header, endless},
  };
}

std::vector<Message> truncated_messages() {
  const auto good = hello();
  std::vector<Message> messages;
  for (std::size_t size = 0; size < good.body.size(); ++size)
    messages.push_back({good.header, good.body.substr(0, size)});
  return messages;
}

/// Random bodies behind good headers, and random headers. The same ones in every run of the test.
std::vector<Message> random_messages() {
  std::mt19937 random(20260101);
  constexpr wire::MessageType types[] = {wire::MessageType::hello,     wire::MessageType::ready,
                                         wire::MessageType::heartbeat, wire::MessageType::report,
                                         wire::MessageType::goodbye,   wire::MessageType::seek,
                                         wire::MessageType::lent,      wire::MessageType::stored};
  std::vector<Message> messages;
  for (int i = 0; i < 300; ++i)
    messages.push_back({header_of(this_version, types[static_cast<std::size_t>(i) % std::size(types)]),
                        random_bytes(random, 200)});
  for (int i = 0; i < 100; ++i) messages.push_back({random_bytes(random, 8), random_bytes(random, 200)});
  return messages;
}

std::vector<Message> other_versions() {
  std::vector<Message> messages;
  for (const char version : {'\x00', '\x01', '\x7f', '\xff'}) {
    messages.push_back({header_of(version, wire::MessageType::hello), hello().body});
  }
  return messages;
}

/// Somebody whose program uses another protocol: the connection is his loss.
void knock_with_http(const std::string& endpoint) {
  const auto port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(connection, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
  EXPECT_EQ(::send(connection, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  ::close(connection);
}

TEST_F(BadFrames, AreAnsweredAndCountedAndTheRunGoesOn) {
  // The first call's answer keeps the run from ending while the strangers are at it.
  const auto simulator = start_simulator({R"({"latency_ms": 1500, "times": 1})"}, {});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  const auto endpoint = endpoint_of(coordinator);
  RawWorker stranger(endpoint);
  knock_with_http(endpoint);
  expect_rejected(stranger, malformed_messages(), wire::RejectCode::malformed);
  expect_rejected(stranger, truncated_messages(), wire::RejectCode::malformed);
  expect_rejected(stranger, other_versions(), wire::RejectCode::protocol_mismatch);

  auto worker = start_worker(endpoint);
  ASSERT_TRUE(eventually([&] { return !ledger_rows(home()).empty(); })) << worker.errors();
  expect_rejected(stranger, random_messages(), wire::RejectCode::malformed);
  ASSERT_TRUE(coordinator.running()) << "the run was over too soon for the test";

  const auto finished = finish(coordinator);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["run"]["frames_rejected"], rejected_);
  EXPECT_EQ(report["run"]["workers"].size(), 1u);
  EXPECT_EQ(worker.wait(), 0) << worker.errors();
}

TEST_F(BadFrames, AFrameThatIsTooLargeIsRefused) {
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  const auto endpoint = endpoint_of(coordinator);
  RawWorker stranger(endpoint);
  const std::string oversized(defaults::max_frame_bytes + 1, '\xc0');
  expect_rejected(stranger, {{hello().header, oversized}}, wire::RejectCode::too_large);

  auto worker = start_worker(endpoint);
  const auto finished = finish(coordinator);
  EXPECT_EQ(comparable_part(finished.output), reference_report());
  EXPECT_EQ(parse_report(finished.output)["run"]["frames_rejected"], rejected_);
  EXPECT_EQ(worker.wait(), 0) << worker.errors();
}

// What a worker says of itself reaches the log, and no more: no line of its own, no colour, no command.
TEST_F(BadFrames, AWorkersNameAndReasonForgeNoLineOfTheLog) {
  const std::string forged = "w\n::error::forged\r\x1b[2K\x1b[32mPASS ##[error]no\u202e";
  const auto simulator = start_simulator();
  auto coordinator =
      start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0", "--log-level", "info"});
  const auto endpoint = endpoint_of(coordinator);
  RawWorker stranger(endpoint);
  stranger.send(wire::Hello{7, forged, "cache", SLUICE_VERSION, 5});
  ASSERT_TRUE(stranger.receive_only<wire::Welcome>());
  stranger.send(wire::Goodbye{forged});
  auto worker = start_worker(endpoint);
  const auto finished = finish(coordinator);
  EXPECT_EQ(worker.wait(), 0) << worker.errors();
  const std::string& log = finished.errors;
  EXPECT_NE(log.find("worker w ::error::forged"), std::string::npos) << log;
  EXPECT_EQ(log.find("\n::"), std::string::npos) << log;
  EXPECT_EQ(log.find('\x1b'), std::string::npos) << log;
  EXPECT_EQ(log.find('\r'), std::string::npos) << log;
  EXPECT_EQ(log.find("##["), std::string::npos) << log;
  EXPECT_EQ(log.find("\u202e"), std::string::npos) << log;
}

// A worker of another version is rejected, and ends.
TEST_F(BadFrames, AWorkerEndsWhenTheCoordinatorUsesAnotherVersion) {
  auto frames = wire::encode(wire::Reject{wire::RejectCode::protocol_mismatch, "version 2 here"});
  frames.header[2] = '\x02';
  const auto ended = worker_that_hears(frames);
  EXPECT_EQ(ended.exit_code, 2);
  ASSERT_EQ(ended.error_lines().size(), 1u) << ended.errors;
  EXPECT_NE(ended.error_lines()[0].find("version"), std::string::npos) << ended.errors;
}

TEST_F(BadFrames, AWorkerEndsOverWorkThatItCannotRead) {
  wire::Work work{"run-1", {}};
  work.units.emplace_back().request.user =
      "a\xa0"
      "b";
  const auto ended = worker_that_hears(wire::encode(work));
  EXPECT_EQ(ended.exit_code, 2);
  ASSERT_EQ(ended.error_lines().size(), 1u) << ended.errors;
  EXPECT_NE(ended.error_lines()[0].find("malformed WORK"), std::string::npos) << ended.errors;
}

// A coordinator used to say nothing of workers of other versions.
TEST_F(BadFrames, ACoordinatorNamesWorkersOfOtherVersions) {
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  const auto endpoint = endpoint_of(coordinator);
  RawWorker near(endpoint);
  near.send(wire::Hello{7, "near", "cache", "9.9.8", 5});
  const auto welcome = near.receive_only<wire::Welcome>();
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->version, SLUICE_VERSION);
  EXPECT_TRUE(has_logged(coordinator, "worker near (sluice 9.9.8) is of another version than this side"));
  RawWorker far(endpoint);
  auto frames = wire::encode(wire::Hello{8, "far", "cache", "9.9.9", 5});
  frames.header[2] = '\x7f';
  far.send_frames({frames.header, frames.body});
  const auto reject = far.receive_only<wire::Reject>();
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->code, wire::RejectCode::protocol_mismatch);
  EXPECT_TRUE(reject->detail.starts_with("worker far (sluice 9.9.9) speaks version 127")) << reject->detail;
  EXPECT_TRUE(has_logged(coordinator, "refused: " + reject->detail));
  near.send(wire::Goodbye{"done"});
  auto worker = start_worker(endpoint);
  finish(coordinator);
  EXPECT_EQ(worker.wait(), 0) << worker.errors();
}

}  // namespace
}  // namespace sluice
