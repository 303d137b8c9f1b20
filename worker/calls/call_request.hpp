#pragma once

#include "common/error.hpp"
#include "common/model/completion.hpp"
#include "common/model/paid_tokens.hpp"
#include "common/model/run_settings.hpp"
#include "common/wire/messages.hpp"
#include "worker/providers/http_message.hpp"
#include "worker/providers/provider.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

namespace sluice {

/// Whose call, or sought entry, it is. Both numbers are the owner's own, and come back with what comes of it.
struct CallContext {
  std::uint32_t owner = 0;
  std::uint64_t id = 0;
  friend bool operator==(const CallContext&, const CallContext&) = default;
};

/// What an answered call used.
struct CallUsage {
  Usage usage;                ///< Nothing but zeros: the provider names none,
  bool took_nothing = false;  ///< unless it declined before it did anything, so that zeros are the usage.
};

/// A request to a provider, as the call engine sees it: what it is for, its owner alone knows. It keeps what
/// its response held, for its owner to take.
class CallRequest {
 public:
  virtual ~CallRequest() = default;

  /// Name of a ProviderSettings of the run.
  virtual const std::string& provider() const = 0;
  /// The model that the limits in the response's headers are those of.
  virtual const std::string& model() const = 0;
  /// What the tokens of its tries count as.
  virtual CallKind kind() const = 0;
  /// Upper bounds of the tokens that the call can take. Asked for once.
  virtual wire::CallSize size() const = 0;
  virtual HttpRequest build(const ProviderSettings& provider, const Credentials& credentials) const = 0;
  /// Keeps what the response holds, and returns what it used, or why it is no answer. `now` and `credentials`
  /// as read_response has them.
  virtual std::variant<CallUsage, Failed> read(const ProviderSettings& provider, const HttpResponse& response,
                                               std::chrono::system_clock::time_point now,
                                               const Credentials& credentials) = 0;
  /// Keeps what another worker's cache holds of what is requested. An error: it does not fit, and the call is
  /// made. Only asked of requests that were submitted with the key of an entry.
  virtual Result<void> take_entry(std::string_view /*entry*/) {
    return fail(Reason::internal_error, "this request has no entry");
  }
  /// What it sends for a parameter that all calls of a run may carry (temperature, seed, the bound of the
  /// answer): equal for those that a model takes or refuses alike. Empty: nothing.
  virtual std::string carried(std::string_view /*parameter*/) const { return ""; }
  /// What the call log holds of the request itself: one member of a JSON object.
  virtual std::string log_member() const = 0;
};

/// A call's size, within what the wire can carry.
inline wire::CallSize call_size(std::uint64_t input_tokens, std::uint64_t output_tokens) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  return {static_cast<std::uint32_t>(std::min(input_tokens, most)),
          static_cast<std::uint32_t>(std::min(output_tokens, most))};
}

}  // namespace sluice
