#pragma once

#include "common/error.hpp"
#include "common/files.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// The service manager that started this process, which wants to know how it fares: sd_notify's protocol, as
/// of systemd units with Type=notify. Thread-safe.
class ServiceManager {
 public:
  /// `socket`: what NOTIFY_SOCKET holds, a path, or a name after `@`. Nobody, without one.
  /// settings_invalid if it is neither.
  static Result<std::shared_ptr<ServiceManager>> at(const std::optional<std::string>& socket);

  /// It has started; `status` is what it does now.
  void ready(std::string_view status) { send("READY=1", status); }
  void status(std::string_view status) { send("", status); }
  /// Its loop turns: to be said twice in each WatchdogSec at least.
  void alive() { send("WATCHDOG=1", ""); }
  void stopping(std::string_view status) { send("STOPPING=1", status); }

 private:
  ServiceManager(FileDescriptor socket, std::string address)
      : socket_(std::move(socket)), address_(std::move(address)) {}
  void send(std::string_view state, std::string_view status);

  FileDescriptor socket_;
  std::string address_;
  std::atomic<bool> was_unreachable_ = false;  ///< One warning is enough.
};

}  // namespace sluice
