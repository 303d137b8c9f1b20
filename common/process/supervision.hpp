#pragma once

#include "common/error.hpp"

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/error.hpp>
#include <caf/exit_reason.hpp>
#include <caf/fwd.hpp>

/// Nobody's end goes unnoticed: whoever starts an actor monitors it, and a handler that throws ends its actor
/// with a word in the log.
namespace sluice {

/// internal_error: `who` (as in "the recorder") has ended though nobody stopped it. `reason` is CAF's.
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

/// The actors that one has started: it monitors them, and they end with it should it die, since nobody else
/// would end them.
class Children {
 public:
  /// `parent` monitors the child from now on; `name` as in "the recorder".
  void add(caf::event_based_actor* parent, std::string name, caf::actor child);
  /// Ends a child in order; nobody notices.
  void dismiss(caf::event_based_actor* parent, const caf::actor& child);
  /// Empty if it is no child.
  std::string name_of(const caf::actor_addr& address) const;
  /// To be called once.
  void end_with(caf::event_based_actor* parent) const;

 private:
  struct Child {
    std::string name;
    caf::actor actor;
  };
  // Shared with what runs when the parent has ended.
  std::shared_ptr<std::vector<Child>> children_ = std::make_shared<std::vector<Child>>();
};

}  // namespace sluice
