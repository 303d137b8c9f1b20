#pragma once

#include "worker/http/http_messages.hpp"
#include "worker/providers/provider.hpp"

namespace sluice {

/// What a call without a response means. Pure.
Failed failed_call(const HttpFailure& failure);

/// True if the server was never reached: it may not be there at all.
bool never_connected(const HttpDone& done);

}  // namespace sluice
