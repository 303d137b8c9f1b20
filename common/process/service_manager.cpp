#include "common/process/service_manager.hpp"

#include "common/text/printable.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace sluice {

Result<std::shared_ptr<ServiceManager>> ServiceManager::at(const std::optional<std::string>& socket) {
  if (!socket || socket->empty()) return nullptr;
  const bool is_address = socket->starts_with('/') || (socket->starts_with('@') && socket->size() > 1);
  if (!is_address || socket->size() >= sizeof(sockaddr_un::sun_path))
    return fail(Reason::settings_invalid,
                "NOTIFY_SOCKET is neither an absolute path nor a name after @ of at most " +
                    std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                    " bytes: unset it, or leave it to the service manager");
  FileDescriptor descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!descriptor.is_open())
    return fail(Reason::settings_invalid,
                std::string("no socket can be made for the service manager: ") + std::strerror(errno));
  return std::shared_ptr<ServiceManager>(new ServiceManager(std::move(descriptor), *socket));
}

void ServiceManager::send(std::string_view state, std::string_view status) {
  std::string message(state);
  if (!status.empty()) message += (message.empty() ? "" : "\n") + ("STATUS=" + log_text(status));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, address_.data(), address_.size());
  // A name after @ is Linux's own: the first byte is zero, and its length is the address's.
  if (address_.starts_with('@')) address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  const auto sent = ::sendto(socket_.number(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), length);
  if (sent >= 0 || was_unreachable_.exchange(true)) return;
  spdlog::warn("the service manager at {} cannot be told how this process fares: {}", address_,
               std::strerror(errno));
}

}  // namespace sluice
