#pragma once

#include "worker/calls/call_engine.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sluice {

using namespace std::chrono_literals;

/// A request of no kind that sluice knows: what its response holds is the body itself.
struct FakeRequest final : CallRequest {
  explicit FakeRequest(std::string text = "question", std::string at = "a")
      : question(std::move(text)), to(std::move(at)) {}

  const std::string& provider() const override { return to; }
  const std::string& model() const override { return of; }
  CallKind kind() const override { return CallKind::judge; }
  wire::CallSize size() const override { return bounds; }
  HttpRequest build(const ProviderSettings& provider, const Credentials& credentials) const override {
    HttpRequest http;
    http.url = provider.base_url + "/" + credentials.key;
    http.body = question;
    return http;
  }
  std::variant<CallUsage, Failed> read(const ProviderSettings&, const HttpResponse& response,
                                       std::chrono::system_clock::time_point, const Credentials&) override {
    if (response.status == 200) {
      answer = response.body;
      return CallUsage{{3, 4}};
    }
    Failed failed;
    failed.message = response.body;
    failed.usage = taken_all_the_same;
    failed.limit = names_limit;
    failed.retryable = response.status >= 500 || response.status == 429;
    failed.counts_as_rate_limit = response.status == 429;
    if (failed.counts_as_rate_limit) failed.reason = Reason::rate_limited;
    if (!failed.retryable)
      failed.reason = response.status == 401 ? Reason::key_refused : Reason::request_refused;
    return failed;
  }
  Result<void> take_entry(std::string_view entry) override {
    if (entry == "damaged") return fail(Reason::cache_failed, "it is damaged");
    answer = entry;
    return {};
  }
  std::string carried(std::string_view parameter) const override {
    return parameter == "temperature" ? temperature : "";
  }
  std::string log_member() const override { return R"("fake":1)"; }

  std::string question;
  std::string to;
  std::string of = "m";
  std::string temperature{};  ///< What it sends.
  wire::CallSize bounds{10, 20};
  Usage taken_all_the_same{};  ///< By a try that fails.
  std::optional<NamedLimit> names_limit{};
  std::string answer;
};

/// A run with the providers "a" and "b".
inline RunSettings two_providers() {
  RunSettings settings;
  settings.run_id = "run-1";
  settings.mode = Mode::live;
  settings.providers.resize(2);
  settings.providers[0].name = "a";
  settings.providers[0].base_url = "http://a";
  settings.providers[1].name = "b";
  settings.providers[1].base_url = "http://b";
  settings.connect_timeout = 1s;
  settings.request_timeout = 30s;
  settings.case_timeout = 60s;
  settings.backoff_initial = 500ms;
  settings.max_retries = 2;
  settings.heartbeat_interval = 1s;
  return settings;
}

/// The same instant on both clocks, after a start that is not zero.
inline Moment moment_at(Duration after_start) {
  const auto now = TimePoint(1h) + after_start;
  return {now, std::chrono::duration_cast<BootTime>(now.time_since_epoch())};
}

inline BudgetChanged granted(std::vector<wire::Grant> grants, const Moment& at) {
  const auto us = static_cast<std::uint64_t>(at.boot.count());
  return {true, false, {"run-1", us, us, std::move(grants)}, at.boot};
}
inline wire::Grant unlimited(std::string provider) {
  wire::Grant grant;
  grant.provider = std::move(provider);
  grant.unlimited = true;
  return grant;
}

}  // namespace sluice
