#include "worker/providers/failure.hpp"

#include "worker/defaults.hpp"
#include "worker/providers/retry_hints.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace sluice {
namespace {

/// Too many requests; Anthropic's 529 says that the service is overloaded, and asks for the same restraint.
bool is_rate_limit(int status) {
  return status == 429 || status == 529;
}

Reason reason_of(int status) {
  if (is_rate_limit(status)) return Reason::rate_limited;
  switch (status) {
    case 401:
    case 403:
      return Reason::key_refused;
    case 402:
      return Reason::quota_exhausted;
    case 404:
    case 405:
    case 410:
      return Reason::model_unknown;
    case 408:
      return Reason::timed_out;
    case 409:
      return Reason::provider_failed;
    default:
      break;
  }
  // A redirect is not followed, for it could take the key to another host: the base URL is wrong.
  if (status >= 300 && status < 400) return Reason::model_unknown;
  if (status >= 400 && status < 500) return Reason::request_refused;
  return Reason::provider_failed;
}

bool is_transient(Reason reason) {
  return reason == Reason::rate_limited || reason == Reason::timed_out || reason == Reason::provider_failed;
}

/// Where the user names the model of such calls. That of answers stands in flags, a suite or settings, which
/// the coordinator knows.
std::string model_setting(CallKind kind) {
  switch (kind) {
    case CallKind::answer:
      return "the model";
    case CallKind::embedding:
      return "--embedding-model";
    case CallKind::judge:
      return "--judge-model";
    case CallKind::baseline:
      return "--baseline";
  }
  std::abort();
}

/// Where the user says whom such calls go to.
std::string address_setting(CallKind kind) {
  switch (kind) {
    case CallKind::answer:
      return "the base URL";
    case CallKind::embedding:
      return "the base URL of --embedding-provider";
    case CallKind::judge:
      return "the base URL of --judge";
    case CallKind::baseline:
      return "the base URL of its provider";
  }
  std::abort();
}

std::string advice_on_key(const ProviderSettings& provider) {
  std::string variables = provider.api_key_env;
  for (const ProviderHeader& one : provider.headers) {
    if (!one.variable.empty()) variables += (variables.empty() ? "" : " and ") + one.variable;
  }
  return variables.empty() ? "; the provider is called without a key: set api_key_env"
                           : "; check the key in " + variables;
}

std::string advice_on_parameter(std::string_view parameter, CallKind kind) {
  const bool is_vote = kind == CallKind::judge;
  const std::string every =
      is_vote ? "; every call for a vote carries it"
              : "; unless the test's own \"params\" or its arm set it, every call of the run carries it";
  if (parameter == "temperature")
    return every + (is_vote ? ": such a model takes --judge-temperature 1"
                            : ": --temperature default sends no temperature");
  if (parameter == "seed") return every + ": leave out the seed";
  return every + ": the settings' max_tokens_field names the field for the bound of the answer";
}

std::string advice(const ProviderSettings& provider, Reason reason, CallKind kind, std::string_view parameter,
                   std::string_view words) {
  const bool has_other_format =
      provider.kind == ProviderKind::openai && words.find("v1/responses") != std::string_view::npos;
  if (has_other_format) return "; a provider of kind \"openai-responses\" asks in that format";
  switch (reason) {
    case Reason::key_refused:
      return advice_on_key(provider);
    case Reason::model_unknown:
      return "; check " + model_setting(kind) + " and " + address_setting(kind) + " (" +
             quotable(normalised_base_url(provider.base_url)) + ")";
    case Reason::parameter_refused:
      return advice_on_parameter(parameter, kind);
    case Reason::quota_exhausted:
      return "; check the account's plan and billing";
    default:
      return "";
  }
}

/// By its status alone, which gateways and firewalls also give for what one request holds.
bool may_be_its_own(int status) {
  const bool is_redirect = status >= 300 && status < 400;
  return status == 403 || status == 404 || status == 405 || status == 410 || is_redirect;
}

/// The cause that no retry mends, if there is one.
std::optional<Reason> fatal_cause(const ErrorFacts& facts, const HttpHeaders& headers,
                                  std::chrono::system_clock::time_point now) {
  if (!facts.is_of_the_day) return facts.fatal;
  // Gateways put the same short wait into the header of each 429.
  const auto wait = std::max(retry_after(headers, now), facts.retry_after);
  return wait && *wait < defaults::short_wait_of_a_day ? std::nullopt : facts.fatal;
}

}  // namespace

Failed classify_failure(const ProviderSettings& provider, const HttpResponse& response,
                        const ErrorFacts& facts, std::chrono::system_clock::time_point now,
                        const Credentials& credentials, CallKind kind) {
  const bool success = response.status >= 200 && response.status < 300;
  const int status = success ? facts.status.value_or(response.status) : response.status;
  Failed failed;
  const auto fatal = fatal_cause(facts, response.headers, now);
  failed.reason = fatal.value_or(reason_of(status));
  // Votes and embeddings carry no parameter of a test's own.
  const bool is_parameter = failed.reason == Reason::parameter_refused && kind == CallKind::answer;
  failed.parameter = facts.parameter;
  failed.may_be_its_own = is_parameter || (!fatal && may_be_its_own(status));
  failed.retryable = !fatal && should_retry(response.headers).value_or(is_transient(failed.reason));
  failed.counts_as_rate_limit = !fatal && is_rate_limit(status);
  failed.is_server_error = status >= 500;
  // Gemini's 503 counts against the limits like an answer (providers.md).
  failed.consumes_quota = failed.retryable && provider.kind == ProviderKind::gemini && status == 503;
  if (failed.retryable) {
    failed.retry_after = retry_after(response.headers, now);
    if (!failed.retry_after) failed.retry_after = facts.retry_after;
    if (!failed.retry_after && failed.counts_as_rate_limit)
      failed.retry_after = limit_reset(response.headers, now);
  }
  if (failed.counts_as_rate_limit) failed.limit = facts.limit;
  std::string words = quotable(facts.message, credentials);
  if (words.empty()) words = quotable(response.body, credentials);
  failed.message = "provider \"" + provider.name + "\" ";
  if (provider.kind == ProviderKind::exec) {
    failed.message += "reports an error";
    if (status != response.status) failed.message += ' ' + std::to_string(status);
  } else {
    failed.message += "answered " + std::to_string(response.status);
    if (status != response.status) failed.message += " with error " + std::to_string(status) + " in its body";
  }
  if (!words.empty()) failed.message += ": " + words;
  failed.advice = advice(provider, failed.reason, kind, facts.parameter, words);
  return failed;
}

}  // namespace sluice
