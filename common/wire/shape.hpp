#pragma once

#include "common/error.hpp"

#include <string_view>

#include <msgpack.hpp>

namespace sluice::wire {

/// One msgpack value read whole from untrusted bytes: its shape is checked before anything is allocated for
/// it (depth, elements of an array, values in all, no maps, no extensions, nothing after its end). Texts and
/// binaries point into the bytes, which must outlive the value. Error: message_malformed.
Result<msgpack::object_handle> read_value(std::string_view bytes);

}  // namespace sluice::wire
