#pragma once

#include "common/transport/envelopes.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::FromWorkers)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ToPeer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::FromCoordinator)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ToCoordinatorNow)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::DrainSocket)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::SocketDrained)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ReopenSocket)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ConnectionRefused)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CloseSocket)
