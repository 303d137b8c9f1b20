#pragma once

#include "common/error.hpp"

#include <exception>
#include <string>

#include <caf/error.hpp>
#include <caf/exit_reason.hpp>

/// Nobody's end goes unnoticed: whoever starts an actor monitors it, and a handler that throws ends its actor
/// with a word in the log.
namespace sluice {

/// internal_error: `who` (as in "the recorder") has ended though nobody told it to. `reason` is CAF's.
Error unexpected_end(const std::string& who, const std::string& reason);

/// Logs what was thrown in a handler of the actor of this name.
void log_exception(const char* actor, const std::exception_ptr& thrown);

/// The actor ends when one of its handlers throws, and the log says what was thrown. For event-based actors
/// with a state that has a name.
template <class Actor>
void end_on_exception(Actor* self) {
  self->set_exception_handler([self](std::exception_ptr& thrown) -> caf::error {
    log_exception(self->state.name, thrown);
    return caf::exit_reason::unhandled_exception;
  });
}

}  // namespace sluice
