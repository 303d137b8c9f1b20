#pragma once

#include "common/checks/redactor.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"
#include "worker/calls/call.hpp"
#include "worker/http/http_call.hpp"
#include "worker/providers/provider.hpp"
#include "worker/retry_policy.hpp"

#include <chrono>
#include <optional>

/// What a try that brought no answer means: for its provider's budget, and for the call. Pure.
namespace sluice {

/// What becomes of the call.
struct NextStep {
  enum class Kind : std::uint8_t { ready, back_off, end };
  Kind kind = Kind::ready;
  Duration delay{};          ///< Of a back-off.
  Error error{};             ///< Of an end,
  bool out_of_time = false;  ///< which came because the deadline is over.
};

/// Why no call to the provider makes sense any more.
std::optional<Error> obstacle(const CalledProvider& provider);

/// What the call used of what was reserved for it; a server that names no usage leaves the reservation as it
/// is.
void settle(Call& call, const Usage& usage);
/// The try was not charged.
void settle_uncharged(Call& call);

/// The model takes what the call carries.
void note_taken(const Call& call);
/// What the governor has to know of a response that is no answer. A request that is wrong by itself says
/// nothing of the provider, and one that was refused is not charged unless its body names tokens; a gateway
/// may say either in the body of a 200.
void note_failure(Call& call, const Failed& failed, int status, TimePoint now);
/// The words of a failure as they may be shown. They quote the response, cut short, and half a secret is not
/// known as one: they are those of the response as redacted.
void redact(Failed& failed, Call& call, const HttpResponse& response,
            std::chrono::system_clock::time_point arrived, const Redactor& redactor);
/// What a call without a response means. What a provider that has never answered does to its first call it
/// does to all.
Failed read_lost(const Call& call, const HttpFailure& failure, const Redactor& redactor);
/// What it has to know of one.
void note_lost(Call& call, const HttpDone& done, const Failed& failed, TimePoint now);

/// The time of the case was spent while the call waited: with the words of its last try that failed, if any
/// did.
Error spent_waiting(const Call& call);

/// Whether the try failed since a kept connection died under it, which says nothing of the provider: then the
/// next one goes out at once, by a connection of its own. Once for each try that counts, for a request may
/// kill its connections. A probe finds out that the provider does not answer.
bool forgive_stale(Call& call, const HttpDone& done);
/// The try came too late for its permit: it needs another one, and has spent nothing.
NextStep after_unsent(Call& call, const HttpDone& done, TimePoint now);
/// The try has failed. `unreachable`: it never came to the provider.
NextStep after_failure(Call& call, const Failed& failed, bool unreachable, TimePoint now, Random& random);

}  // namespace sluice
