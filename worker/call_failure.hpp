#pragma once

#include "common/checks/key_mask.hpp"
#include "common/checks/redactor.hpp"
#include "worker/http/http_call.hpp"
#include "worker/providers/provider.hpp"

namespace sluice {

/// What a call without a response means. What a program says of itself, and what a server sends, may hold the
/// keys, and what the redactor finds: it is taken out before the words are cut short. Pure.
Failed failed_call(const HttpFailure& failure, const KeyMask& keys, const Redactor& redactor);

/// True if the server was never reached: it may not be there at all.
bool never_connected(const HttpDone& done);

}  // namespace sluice
