#pragma once

#include "common/wire/messages.hpp"
#include "worker/calls/call.hpp"

#include <vector>

/// The calls that wait for a provider, and in which order they are its next ones.
namespace sluice {

/// It is ready from now on.
void begin_ready(CallId id, Call& call, TimePoint now);
/// Takes the call out of its provider's line, if it stands there.
void end_ready(CallId id, Call& call, TimePoint now);
void begin_back_off(Call& call);
void end_back_off(Call& call, TimePoint now);

/// Ready calls in the order in which they probe an outage: those first whose probes failed least, then the
/// oldest; at last those that failed alone before it. A call that fails whatever its provider does must not
/// be the only one that tries.
std::vector<CallId> probe_order(const CalledProvider& provider, const CallTable& calls);
/// True if some provider is out, calls to it wait, and each of them has probed it in vain, or would: the
/// outage may be the fault of those who probe, and one more may try.
bool all_probes_failed(const CalledProviders& providers, const CallTable& calls);

/// The sizes of the calls that are to start next, in that order: as many as a demand may name.
std::vector<wire::CallSize> next_sizes(const CalledProvider& provider, CallTable& calls);

/// Everything that waits for the provider, ready or backing off, oldest first.
std::vector<CallId> waiting_calls(const CalledProvider& provider, const CallTable& calls);

}  // namespace sluice
