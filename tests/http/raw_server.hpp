#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {

/// A TCP server on a free loopback port that does with each request what the test sets, byte by byte.
class RawServer {
 public:
  /// What happens after a request: bytes to send (may be none), then keep the connection or close it. `hold`
  /// keeps it open and silent until the client leaves. `drip` sends a byte every 10 ms.
  struct Answer {
    enum class Then { keep, close, reset, hold, drip };
    std::string bytes;
    Then then = Then::keep;
  };
  /// Called with the number of the request (from 1, over all connections) and its text.
  using Script = std::function<Answer(int, const std::string&)>;

  explicit RawServer(Script script)
      : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, generic, &size) != 0) {
      throw std::runtime_error("no listening socket for the test");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }

  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int connection : open_) ::shutdown(connection, SHUT_RDWR);
    }
    for (auto& thread : threads_) thread.join();
    ::close(listener_);
  }

  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + host() + "/v1/x"; }
  int requests() const { return requests_; }
  int connections() const { return connections_; }

  /// Sends this to each client that is connected, whether or not it has asked for anything.
  void say(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    for (const int connection : open_) ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Waits until no client is connected any more; false if that takes too long.
  bool is_left() {
    std::unique_lock lock(mutex_);
    return left_.wait_for(lock, std::chrono::seconds(5), [this] { return open_.empty(); });
  }

  /// A whole answer with Content-Length.
  static std::string ok(std::string_view body, std::string_view headers = "") {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(headers) + "\r\n" + std::string(body);
  }

 private:
  void accept_all() {
    for (;;) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      ++connections_;
      const std::lock_guard lock(mutex_);
      open_.push_back(connection);
      threads_.emplace_back([this, connection] { serve(connection); });
    }
  }

  void serve(int connection) {
    std::string pending;
    while (read_request(connection, pending)) {
      const auto answer = script_(++requests_, request_of(pending));
      if (answer.then == Answer::Then::drip) {
        drip(connection, answer.bytes);
        break;
      }
      ::send(connection, answer.bytes.data(), answer.bytes.size(), MSG_NOSIGNAL);
      if (answer.then == Answer::Then::keep) continue;
      if (answer.then == Answer::Then::hold) {
        char byte = 0;
        while (::recv(connection, &byte, 1, 0) > 0) {
        }
      }
      if (answer.then == Answer::Then::reset) {
        const linger at_once{1, 0};
        ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      }
      break;
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, connection);
    left_.notify_all();
    ::close(connection);
  }

  static void drip(int connection, std::string_view bytes) {
    for (const char& byte : bytes) {
      if (::send(connection, &byte, 1, MSG_NOSIGNAL) != 1) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  static std::size_t length_of(const std::string& pending) {
    const auto end = pending.find("\r\n\r\n");
    if (end == std::string::npos) return std::string::npos;
    const auto field = pending.find("Content-Length: ");
    const auto body = field < end ? std::stoul(pending.substr(field + 16)) : 0;
    return end + 4 + body;
  }

  static bool read_request(int connection, std::string& pending) {
    char buffer[65536];
    for (;;) {
      const auto length = length_of(pending);
      if (length != std::string::npos && pending.size() >= length) return true;
      if (pending.starts_with('\x16')) return true;  // TLS: there is no request to wait for.
      const auto count = ::recv(connection, buffer, sizeof buffer, 0);
      if (count <= 0) return false;
      pending.append(buffer, static_cast<std::size_t>(count));
    }
  }

  static std::string request_of(std::string& pending) {
    const auto length = std::min(length_of(pending), pending.size());
    auto request = pending.substr(0, length);
    pending.erase(0, length);
    return request;
  }

  Script script_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> requests_{0};
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::condition_variable left_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace sluice
