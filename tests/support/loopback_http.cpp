#include "tests/support/loopback_http.hpp"

#include "common/files.hpp"
#include "tests/support/wait.hpp"

#include <array>
#include <cstdint>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace sluice::support {

std::string ask_http(const std::string& server, const std::string& request) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval longest{patience.count(), 0};
  ::setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(socket.number(), request.data(), request.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(request.size())) {
    return answer;
  }
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = ::recv(socket.number(), buffer.data(), buffer.size(), 0)) > 0;)
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  return answer;
}

}  // namespace sluice::support
