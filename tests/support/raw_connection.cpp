#include "tests/support/raw_connection.hpp"

#include "tests/support/wait.hpp"

#include <cerrno>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace sluice::support {

using namespace std::string_literals;

RawConnection::RawConnection(const std::string& endpoint)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  // What waits for it is to wait elsewhere.
  const int few = 4096;
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  if (::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot connect to " + endpoint);
  send("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL"s + std::string(48, '\0'));
}

void RawConnection::join() {
  constexpr std::size_t greeting_bytes = 64;
  send("\4\x1c\5READY\13Socket-Type\0\0\0\6DEALER"s);
  read(greeting_bytes);
  read(static_cast<unsigned char>(read(2)[1]));
}

std::string RawConnection::read(std::size_t bytes) {
  std::string got(bytes, '\0');
  const auto count = ::recv(socket_.number(), got.data(), bytes, MSG_WAITALL);
  if (count != static_cast<ssize_t>(bytes)) throw std::runtime_error("the other side hung up");
  return got;
}

/// Whoever waits for room in a connection that the other side has closed waits for two minutes.
bool RawConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd one{socket_.number(), POLLOUT | POLLRDHUP, 0};
    if (::poll(&one, 1, -1) <= 0 || (one.revents & POLLOUT) == 0) return false;
    const auto sent = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawConnection::has_hung_up() const {
  pollfd one{socket_.number(), POLLRDHUP, 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool RawConnection::is_cut() {
  return eventually([&] { return !send(frame("", false)); });
}

std::string RawConnection::frame(std::string_view content, bool more) {
  std::string frame{static_cast<char>(more ? 3 : 2)};
  for (int shift = 56; shift >= 0; shift -= 8) frame += static_cast<char>(content.size() >> shift);
  return frame.append(content);
}

}  // namespace sluice::support
