#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "worker/providers/provider.hpp"
#include "worker/scoring/score.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

/// Provider answers from anywhere: nothing crashes, messages are valid UTF-8 of one line without the key,
/// delays are in their range, and what parses is scored. The first byte chooses provider and status, the
/// second the header that carries the first line; the rest is the body.
namespace {

using namespace sluice;

constexpr std::string_view key = "fuzz-secret-0123456789";

void require(bool holds) {
  if (!holds) std::abort();
}

const Ontology& ontology() {
  static const Ontology parsed = Ontology::parse(R"(
version = "1"
[[subject]]
path = "tls/cert_verification"
synonyms = ["tls/verify"]
[[subject.predicate]]
name = "enabled"
type = "boolean"
)",
                                                 "fuzz")
                                     .value();
  return parsed;
}

HttpResponse response_from(std::string_view input) {
  constexpr int statuses[] = {200, 200, 200, 200, 400, 401, 429, 500, 529, 404, 301};
  constexpr std::string_view names[] = {"retry-after", "retry-after-ms", "x-should-retry",
                                        "x-ratelimit-reset-tokens", "anthropic-ratelimit-requests-reset"};
  HttpResponse response;
  response.status = statuses[static_cast<unsigned char>(input[0]) / 3 % std::size(statuses)];
  const std::size_t end = std::min(input.find('\n', 2), input.size());
  const std::string_view name = names[static_cast<unsigned char>(input[1]) % std::size(names)];
  response.headers.emplace_back(name, input.substr(2, end - 2));
  response.headers.emplace_back("x-ratelimit-remaining-tokens", "0");
  response.headers.emplace_back("anthropic-ratelimit-requests-remaining", "0");
  response.body = input.substr(std::min(end + 1, input.size()));
  return response;
}

void check(const Failed& failed) {
  require(!failed.message.empty() && !invalid_utf8_at(failed.message));
  require(failed.message.find('\n') == std::string::npos && failed.message.find(key) == std::string::npos);
  require(!failed.retry_after || (failed.retry_after->count() > 0 && failed.retryable));
  require(!failed.counts_as_rate_limit || failed.reason == Reason::rate_limited);
}

void score(const Completion& completion) {
  WorkUnit unit;
  unit.tasks.push_back({0, {{"tls/cert_verification", "enabled", false, std::nullopt}}, {}, 0.5, true, {}});
  unit.tasks.push_back({1,
                        {},
                        {{"tls/cert_verification", "enabled", true, std::nullopt}},
                        0.0,
                        true,
                        {{MetricId::exact_match, {"{}"}},
                         {MetricId::label, {"{}", "", "{}", "a", "*"}},
                         {MetricId::label, {"a", "/claims/0/subject", "a", "tls/verify"}},
                         {MetricId::regex_not_match, {"(a+)+$"}},
                         {MetricId::json_schema, {R"({"properties":{"claims":{"uniqueItems":true}}})"}}}});
  UnitResult result;
  score_answer(completion, {ontology(), TextChecker()}, unit, {}, result);
  require(result.error.has_value() == result.scores.empty());
  require(result.parsed.size() == result.claims.size());
  require(!result.error || !invalid_utf8_at(result.error->message));
  for (const TrialScore& trial : result.scores) {
    require(trial.claims.matched.size() + trial.claims.unexpected.size() <= result.claims.size());
    for (const MetricOutcome& metric : trial.metrics) {
      require(metric.detail.size() <= defaults::max_detail_bytes && !invalid_utf8_at(metric.detail));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string input(data, data + size);
  ProviderSettings provider;
  provider.name = "fuzz";
  provider.kind = static_cast<ProviderKind>(1 + static_cast<unsigned char>(input[0]) % 3);
  provider.base_url = "https://example.test";
  const HttpResponse response = response_from(input);
  const std::chrono::system_clock::time_point now{std::chrono::seconds(1'714'564'800)};
  const CallOutcome outcome = read_response(provider, response, now, key);
  if (const auto* failed = std::get_if<Failed>(&outcome)) {
    check(*failed);
  } else {
    score(std::get<Answered>(outcome).completion);
  }
  Completion raw;
  raw.text = response.body;
  score(raw);
  return 0;
}
