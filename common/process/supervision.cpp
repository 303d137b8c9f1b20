#include "common/process/supervision.hpp"

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

}  // namespace sluice
