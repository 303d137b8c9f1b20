#include "worker/providers/provider.hpp"

#include "common/checks/key_mask.hpp"
#include "common/text/text.hpp"
#include "worker/defaults.hpp"
#include "worker/providers/failure.hpp"
#include "worker/providers/formats.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

std::int64_t in_ms(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

/// HTML in place of an answer. A program may write tags of its own.
bool is_web_page(const ProviderSettings& provider, const HttpResponse& response) {
  if (provider.kind == ProviderKind::exec) return false;
  const std::string_view body = response.body;
  const auto begin = body.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string_view::npos || body[begin] != '<') return false;
  const std::string* type = find_header(response.headers, "content-type");
  const std::string words = to_lower(body.substr(begin, 9));
  return words == "<!doctype" || words.starts_with("<html") ||
         (type != nullptr && to_lower(*type).starts_with("text/html"));
}

/// A success without an answer in it: a proxy's page, a body cut short, a server of another format.
Failed not_an_answer(const ProviderSettings& provider, const HttpResponse& response,
                     const Credentials& credentials) {
  Failed failed;
  failed.reason = Reason::provider_failed;
  failed.retryable = true;
  failed.is_web_page = is_web_page(provider, response);
  const bool is_program = provider.kind == ProviderKind::exec;
  failed.message = "provider \"" + provider.name +
                   (is_program ? "\" wrote" : "\" answered " + std::to_string(response.status) + " with") +
                   " something that is not " + std::string(format_of(provider.kind).answer_name);
  const std::string words = quotable(response.body, credentials);
  failed.message += words.empty() ? (is_program ? " (nothing)" : " (the body is empty)") : ": " + words;
  return failed;
}

Failed with_usage(Failed failed, const Usage& usage) {
  failed.usage = usage;
  return failed;
}

Failed too_large(const ProviderSettings& provider) {
  Failed failed;
  failed.reason = Reason::answer_too_large;
  failed.message = "provider \"" + provider.name + "\" answered with more than " +
                   std::to_string(defaults::max_answer_bytes) +
                   " bytes of texts and calls of tools, or more than " +
                   std::to_string(defaults::max_wire_items) +
                   " calls (each call is a line of the text as well): ask for less in one answer";
  return failed;
}

}  // namespace

const Format& format_of(ProviderKind kind) {
  switch (kind) {
    case ProviderKind::anthropic:
      return anthropic_format;
    case ProviderKind::gemini:
      return gemini_format;
    case ProviderKind::http:
      return http_format;
    case ProviderKind::exec:
      return exec_format;
    case ProviderKind::openai_responses:
      return openai_responses_format;
    case ProviderKind::openai:
      break;
  }
  return openai_format;
}

HttpRequest build_request(const ProviderSettings& provider, const Credentials& credentials,
                          const ModelRequest& request) {
  return format_of(provider.kind).build(provider, credentials, request);
}

CallOutcome read_response(const ProviderSettings& provider, const HttpResponse& response,
                          std::chrono::system_clock::time_point now, const Credentials& credentials,
                          CallKind kind) {
  const Format& format = format_of(provider.kind);
  // Before anything is read of it: a server that echoes the key must not bring it into the answer.
  const auto masked = credentials.mask().masked(response.body);
  const std::optional<JsonDocument> body = JsonDocument::parse(masked ? *masked : response.body);
  const bool success = response.status >= 200 && response.status < 300;
  Usage usage;
  if (success && body) {
    usage = believable(format.read_usage(body->root(), credentials));
    if (std::optional<Completion> completion = format.read_answer(body->root(), credentials)) {
      if (is_too_large(*completion)) return with_usage(too_large(provider), usage);
      // Each call is a line of it as well.
      if (!completion->non_answer && completion->text.empty())
        completion->non_answer = without_text(completion->finish_reason);
      completion->usage = usage;
      completion->created_at_ms = in_ms(now);
      return Answered{std::move(*completion)};
    }
  }
  const ErrorFacts facts = body ? format.read_error(body->root(), credentials) : ErrorFacts{};
  if (facts.is_declined) {
    Completion nothing;
    nothing.finish_reason = "content_filter";
    nothing.non_answer = declined(nothing.finish_reason, facts.message);
    nothing.created_at_ms = in_ms(now);
    nothing.usage = usage;
    return Answered{std::move(nothing), usage == Usage{}};
  }
  // Gateways report errors that they meet late with 200 and the real status in the body.
  if (success && !facts.status && !facts.fatal)
    return with_usage(not_an_answer(provider, response, credentials), usage);
  return with_usage(classify_failure(provider, response, facts, now, credentials, kind), usage);
}

}  // namespace sluice
