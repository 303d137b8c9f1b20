#include "common/process/supervision.hpp"

#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

Error unexpected_end(const std::string& who, const std::string& reason) {
  return {Reason::internal_error,
          who + " has ended unexpectedly (" + reason +
              "); this is a defect of sluice: please report it with the log. What was recorded is kept, and "
              "what was answered is in the workers' caches"};
}

void log_exception(const char* actor, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    spdlog::critical("{}: internal error: {}", actor, error.what());
  } catch (...) {
    spdlog::critical("{}: internal error of an unknown kind", actor);
  }
}

void Children::add(caf::event_based_actor* parent, std::string name, caf::actor child) {
  parent->monitor(child);
  children_->push_back({std::move(name), std::move(child)});
}

void Children::dismiss(caf::event_based_actor* parent, const caf::actor& child) {
  parent->demonitor(child);
  parent->send_exit(child, caf::exit_reason::user_shutdown);
  std::erase_if(*children_, [&](const Child& known) { return known.actor == child; });
}

std::string Children::name_of(const caf::actor_addr& address) const {
  for (const auto& child : *children_) {
    if (child.actor.address() == address) return child.name;
  }
  return {};
}

void Children::end_with(caf::event_based_actor* parent) const {
  parent->attach_functor([children = children_](const caf::error& reason) {
    if (!reason) return;
    for (const auto& child : *children) caf::anon_send_exit(child.actor, caf::exit_reason::user_shutdown);
  });
}

}  // namespace sluice
