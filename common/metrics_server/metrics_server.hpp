#pragma once

#include "common/error.hpp"
#include "common/http_server/http_server.hpp"
#include "common/metrics_server/metric.hpp"

#include <string>

namespace sluice {

/// Serves metrics to Prometheus at `/metrics`, and to whoever watches processes whether this one is alive
/// (`/healthz`) and ready (`/readyz`: 200, or 503 with why not), until it is destroyed.
class MetricsServer {
 public:
  /// `endpoint`: as parse_metrics_endpoint gives it. listen_failed if it cannot be bound.
  static Result<MetricsServer> start(const std::string& endpoint, MetricSource source,
                                     const HealthSource& health);

  /// `http://HOST:PORT/metrics` with the port that was picked.
  const std::string& url() const { return url_; }

 private:
  explicit MetricsServer(HttpServer server);

  HttpServer server_;
  std::string url_;
};

}  // namespace sluice
