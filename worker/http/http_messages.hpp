#pragma once

#include "worker/http/http_call.hpp"

#include <cstdint>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

/// What the HTTP actor takes and answers. These never leave the process.
namespace sluice {

/// The calls that its sender has to make now. They are answered by HttpCallsDone, one or many at a time, in
/// any order.
struct HttpCalls {
  std::vector<HttpCall> calls;
};

/// Ends a call of the same sender at once; it is answered with `cancelled`. An unknown id is ignored: the
/// call's HttpDone is already on its way.
struct HttpCancel {
  std::uint64_t id = 0;
};

/// Answers HttpCalls: what has ended since the last one.
struct HttpCallsDone {
  std::vector<HttpDone> done;
};

}  // namespace sluice

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::HttpCalls)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::HttpCancel)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::HttpCallsDone)
