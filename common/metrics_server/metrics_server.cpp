#include "common/metrics_server/metrics_server.hpp"

#include "common/defaults.hpp"

#include <utility>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

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

ServedAnswer plain(int status, std::string body) {
  return {status, "text/plain; version=0.0.4; charset=utf-8", std::move(body), {}};
}

}  // namespace

MetricsServer::MetricsServer(HttpServer server)
    : server_(std::move(server)), url_("http://" + server_.authority() + "/metrics") {}

Result<MetricsServer> MetricsServer::start(const std::string& endpoint, MetricSource source,
                                           const HealthSource& health) {
  const AnswerRequest answer = [source = std::move(source), health](const ServedRequest& request) {
    if (request.method != "GET" && request.method != "HEAD")
      return ServedAnswer{
          405, "text/plain; charset=utf-8", "only GET is answered\n", {{"Allow", "GET, HEAD"}}};
    if (request.path == "/metrics")
      return plain(200, prometheus::TextSerializer().Serialize(in_its_form(source())));
    const Health now = health();
    if (request.path == "/healthz") return plain(now.is_alive ? 200 : 503, now.status + "\n");
    if (request.path == "/readyz") return plain(now.is_alive && now.is_ready ? 200 : 503, now.status + "\n");
    return plain(404, "nothing is here but /metrics, /healthz and /readyz\n");
  };
  auto server = HttpServer::start(endpoint, defaults::metrics_threads, answer);
  if (server) return MetricsServer(std::move(*server));
  return fail(Reason::listen_failed, "metrics cannot be served at " + endpoint + ": " +
                                         server.error().message + "; name another with --metrics-listen");
}

}  // namespace sluice
