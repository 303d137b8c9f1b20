#pragma once

#include "common/error.hpp"
#include "common/model/completion.hpp"
#include "common/model/paid_tokens.hpp"
#include "common/model/request.hpp"
#include "common/model/run_settings.hpp"
#include "worker/providers/credentials.hpp"
#include "worker/providers/http_message.hpp"
#include "worker/providers/named_limits.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <variant>

/// The providers' formats: requests are built and responses read here, and nowhere else. Pure and
/// thread-safe.
namespace sluice {

/// The provider answered. A refusal or a truncated answer is an answer too: `completion.non_answer` is set,
/// and what text there is is kept.
struct Answered {
  Completion completion;
  bool took_nothing = false;  ///< A filter declined before the model was asked: no usage is known to be none.
  friend bool operator==(const Answered&, const Answered&) = default;
};

/// The call failed. `reason` is the trial's (or the run's: stops_run) once the retries are spent.
struct Failed {
  Reason reason = Reason::provider_failed;
  std::string message;   ///< One line of valid UTF-8 that quotes at most 300 bytes; never holds the key.
  std::string advice{};  ///< "; check ...": what the user can do if every call meets it. May be empty.
  bool retryable = false;
  /// By its status alone, which gateways also give for what one request holds (403, 404, 405, 410, 3xx), or
  /// since a parameter of all calls may not go with one of the test's own.
  bool may_be_its_own = false;
  std::string parameter{};            ///< The refused one, as the provider calls it; empty: none is named.
  bool is_web_page = false;           ///< A success that is HTML: a site answers every path so.
  bool counts_as_rate_limit = false;  ///< 429 and 529: the provider's whole budget pauses.
  bool is_server_error = false;       ///< 5xx, be it in the body.
  /// How long the server asked to wait; always above zero and at most 30 days. "At once" and a time in the
  /// past name no delay: the back-off applies, so that `Retry-After: 0` makes no hot loop.
  std::optional<std::chrono::milliseconds> retry_after;
  std::optional<NamedLimit> limit{};  ///< That is used up, where the body of a refusal names it.
  Usage usage{};                ///< What the try took all the same, where the body of a success says it.
  bool consumes_quota = false;  ///< Each such answer is charged against the limits: few retries make sense.
  friend bool operator==(const Failed&, const Failed&) = default;
};

using CallOutcome = std::variant<Answered, Failed>;

/// The HTTP request for a model request, in the format of `provider.kind`. An empty key sends no key header;
/// control characters in a key (a trailing newline of a secret file) are left out. A system prompt that is
/// null or empty is not sent. `max_tokens` 0 leaves the bound to the provider, except at Anthropic, which
/// requires one: defaults::max_output_tokens. Anthropic takes no seed; Gemini's has 31 bits: the lower ones
/// are sent. REQUIRES: `response_schema`, if set, is JSON text and has a name; `base_url` has no trailing
/// slash.
HttpRequest build_request(const ProviderSettings& provider, const Credentials& credentials,
                          const ModelRequest& request);

/// What a response means. `now` is the time of its arrival: it dates the completion, and dates in headers are
/// relative to it. `credentials` is what must not stand in an answer or a message, should the server echo it
/// (key_mask.hpp); in messages keys of the known forms are blotted out even without it. `kind` is what the
/// call was for: messages name the settings of such calls.
CallOutcome read_response(const ProviderSettings& provider, const HttpResponse& response,
                          std::chrono::system_clock::time_point now, const Credentials& credentials = {},
                          CallKind kind = CallKind::answer);

}  // namespace sluice
