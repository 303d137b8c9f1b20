#include "common/metrics_server/metrics_server.hpp"

#include "common/metrics_server/metrics_board.hpp"
#include "common/metrics_server/pulse.hpp"
#include "common/settings/metrics_endpoint.hpp"

#include <cstdint>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

TEST(MetricsEndpoint, WithoutAHostItIsLoopback) {
  EXPECT_EQ(parse_metrics_endpoint(":9464"), "127.0.0.1:9464");
  EXPECT_EQ(parse_metrics_endpoint("localhost:0"), "127.0.0.1:0");
  EXPECT_EQ(parse_metrics_endpoint("0.0.0.0:9464"), "0.0.0.0:9464");
  EXPECT_EQ(parse_metrics_endpoint("[::1]:9464"), "[::1]:9464");
}

TEST(MetricsEndpoint, AnythingElseIsRefusedInOneSentence) {
  for (const std::string text :
       {"", "9464", "host:9464", ":", ":x", ":65536", ":-1", ":94 64", "127.0.0.1:", "::1:9464",
        "[127.0.0.1]:1", "1.2.3:9464", "http://127.0.0.1:9464", "+:9464", "127.0.0.1:9464,0.0.0.0:9464"}) {
    const auto endpoint = parse_metrics_endpoint(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_EQ(endpoint.error().reason, Reason::usage_invalid);
    EXPECT_NE(endpoint.error().message.find("\"" + text + "\""), std::string::npos) << text;
  }
}

/// What a server on loopback answers to GET.
std::string get(const std::string& url, const std::string& path) {
  const auto colon = url.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket);
    return "no connection";
  }
  const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
  EXPECT_EQ(::write(socket, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(socket, buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(socket);
  return answer;
}

std::vector<MetricFamily> no_metrics() {
  return {};
}

Health well() {
  return {true, true, "working"};
}

TEST(MetricsServer, SaysWhetherItsProcessIsAliveAndReady) {
  Health health = well();
  auto server = MetricsServer::start("127.0.0.1:0", no_metrics, [&] { return health; });
  ASSERT_TRUE(server) << server.error().message;
  const auto expect = [&](const std::string& path, const std::string& status) {
    const auto answer = get(server->url(), path);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + status)) << path << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\n" + health.status + "\n")) << answer;
  };
  expect("/healthz", "200");
  expect("/readyz", "200");
  health = {true, false, "waiting for a coordinator"};
  expect("/healthz", "200");
  expect("/readyz", "503");
  health = {false, true, "stuck"};
  expect("/healthz", "503");
  expect("/readyz", "503");
}

TEST(Pulse, IsAliveWhileItBeats) {
  const TimePoint start = std::chrono::steady_clock::now();
  Pulse pulse;
  EXPECT_EQ(pulse.health(start), (Health{true, false, "starting"}));
  pulse.beat(true, "working", start);
  EXPECT_EQ(pulse.health(start + Pulse::longest_pause), (Health{true, true, "working"}));
  EXPECT_EQ(pulse.health(start + std::chrono::seconds(20)),
            (Health{false, false, "stuck for 20 s; before: working"}));
  pulse.beat(false, "waiting", start + std::chrono::seconds(21));
  EXPECT_EQ(pulse.health(start + std::chrono::seconds(22)), (Health{true, false, "waiting"}));
}

TEST(MetricsServer, ServesWhatTheSourceSaysAtEachScrape) {
  MetricsBoard board;
  auto server = MetricsServer::start(
      "127.0.0.1:0", [&] { return board.read(); }, well);
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ(get(server->url(), "/metrics").find("sluice_"), std::string::npos);
  board.publish({{"sluice_calls_total",
                  "Calls by what they came to.",
                  MetricFamily::Kind::counter,
                  {{{{"provider", "openai"}, {"outcome", "answered"}}, 41.0},
                   {{{"provider", "open\"ai"}, {"outcome", "failed"}}, 1.0}}},
                 {"sluice_workers", "Connected workers.", MetricFamily::Kind::gauge, {{{}, 2.5}}}});
  const auto answer = get(server->url(), "/metrics");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK")) << answer;
  for (const char* line :
       {"# HELP sluice_calls_total Calls by what they came to.\n", "# TYPE sluice_calls_total counter\n",
        "sluice_calls_total{provider=\"openai\",outcome=\"answered\"} 41\n",
        "sluice_calls_total{provider=\"open\\\"ai\",outcome=\"failed\"} 1\n", "# TYPE sluice_workers gauge\n",
        "sluice_workers 2.5\n"}) {
    EXPECT_NE(answer.find(line), std::string::npos) << line << answer;
  }
}

TEST(MetricsServer, ServesNothingElse) {
  auto server = MetricsServer::start("127.0.0.1:0", no_metrics, well);
  ASSERT_TRUE(server) << server.error().message;
  for (const char* path : {"/", "/etc/passwd", "/../../etc/passwd", "/api", "/healthz/x", "/metricsx"}) {
    const auto answer = get(server->url(), path);
    EXPECT_FALSE(answer.starts_with("HTTP/1.1 200")) << path << answer;
    EXPECT_EQ(answer.find("root:"), std::string::npos);
  }
}

TEST(MetricsServer, APortThatIsTakenIsAnError) {
  auto first = MetricsServer::start("127.0.0.1:0", no_metrics, well);
  ASSERT_TRUE(first);
  const auto port = first->url().substr(first->url().rfind(':'));
  const auto endpoint = "127.0.0.1" + port.substr(0, port.find('/'));
  const auto second = MetricsServer::start(endpoint, no_metrics, well);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason, Reason::listen_failed);
  EXPECT_NE(second.error().message.find(endpoint), std::string::npos);
}

}  // namespace
}  // namespace sluice
