#include "common/metrics_server/metrics_server.hpp"

#include "common/defaults.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <CivetServer.h>
#include <netdb.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

prometheus::ClientMetric sample_of(const MetricSample& sample, MetricFamily::Kind kind) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  if (kind == MetricFamily::Kind::counter) {
    metric.counter.value = sample.value;
  } else {
    metric.gauge.value = sample.value;
  }
  return metric;
}

std::vector<prometheus::MetricFamily> in_its_form(std::vector<MetricFamily> families) {
  std::vector<prometheus::MetricFamily> metrics;
  for (MetricFamily& from : families) {
    prometheus::MetricFamily family;
    family.name = std::move(from.name);
    family.help = std::move(from.help);
    const bool counts = from.kind == MetricFamily::Kind::counter;
    family.type = counts ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
    for (const MetricSample& sample : from.samples) family.metric.push_back(sample_of(sample, from.kind));
    metrics.push_back(std::move(family));
  }
  return metrics;
}

struct Answer {
  int status = 200;
  std::string body;
};

/// Answers GET at one path, on threads of the server's own.
class Page final : public CivetHandler {
 public:
  explicit Page(std::function<Answer()> answer) : answer_(std::move(answer)) {}

  bool handleGet(CivetServer*, mg_connection* connection) override {
    const auto [status, body] = answer_();
    const char* phrase = status == 200 ? "OK" : "Service Unavailable";
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
              "Content-Length: %zu\r\nConnection: close\r\n\r\n",
              status, phrase, body.size());
    mg_write(connection, body.data(), body.size());
    return true;
  }

 private:
  std::function<Answer()> answer_;
};

/// Connects to a port of this machine, once and without a word.
void knock(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return;
  const int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket >= 0) {
    [[maybe_unused]] const int under_way = ::connect(socket, found->ai_addr, found->ai_addrlen);
    ::close(socket);
  }
  ::freeaddrinfo(found);
}

/// Where the server itself can be reached: any address is loopback too.
std::string own_host(const std::string& host) {
  if (host == "0.0.0.0") return "127.0.0.1";
  if (!host.starts_with('[')) return host;
  const std::string bare = host.substr(1, host.size() - 2);
  return bare == "::" ? "::1" : bare;
}

}  // namespace

struct MetricsServer::Parts {
  Parts(const std::string& endpoint, MetricSource source, const HealthSource& health)
      : metrics([source = std::move(source)] {
          return Answer{200, prometheus::TextSerializer().Serialize(in_its_form(source()))};
        }),
        alive([health] {
          const auto now = health();
          return Answer{now.is_alive ? 200 : 503, now.status + "\n"};
        }),
        ready([health] {
          const auto now = health();
          return Answer{now.is_alive && now.is_ready ? 200 : 503, now.status + "\n"};
        }),
        server(std::make_unique<CivetServer>(std::vector<std::string>{
            "listening_ports", endpoint, "num_threads", std::to_string(defaults::metrics_threads)})),
        host(endpoint.substr(0, endpoint.rfind(':'))) {
    const auto ports = server->getListeningPorts();
    port = ports.empty() ? endpoint.substr(endpoint.rfind(':') + 1) : std::to_string(ports.front());
    server->addHandler("/metrics$", metrics);
    server->addHandler("/healthz$", alive);
    server->addHandler("/readyz$", ready);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  // The server looks up from its sockets every two seconds only, which nobody wants to wait for at a run's
  // end: connections wake it.
  ~Parts() {
    std::atomic<bool> ended = false;
    std::thread knocking([&] {
      while (!ended) {
        knock(own_host(host), port);
        std::this_thread::sleep_for(defaults::metrics_end_interval);
      }
    });
    server.reset();
    ended = true;
    knocking.join();
  }

  Page metrics;
  Page alive;
  Page ready;
  std::unique_ptr<CivetServer> server;
  std::string host;
  std::string port;
};

MetricsServer::MetricsServer(std::unique_ptr<Parts> parts, std::string url)
    : parts_(std::move(parts)), url_(std::move(url)) {}
MetricsServer::~MetricsServer() = default;
MetricsServer::MetricsServer(MetricsServer&&) noexcept = default;
MetricsServer& MetricsServer::operator=(MetricsServer&&) noexcept = default;

Result<MetricsServer> MetricsServer::start(const std::string& endpoint, MetricSource source,
                                           const HealthSource& health) {
  std::unique_ptr<Parts> parts;
  try {
    parts = std::make_unique<Parts>(endpoint, std::move(source), health);
  } catch (const std::exception&) {  // Its message is no more than that its constructor failed.
    return fail(Reason::listen_failed,
                "metrics cannot be served at " + endpoint +
                    ": the port is taken or the address is not this machine's; name another with "
                    "--metrics-listen");
  }
  std::string url = "http://" + parts->host + ":" + parts->port + "/metrics";
  return MetricsServer(std::move(parts), std::move(url));
}

}  // namespace sluice
