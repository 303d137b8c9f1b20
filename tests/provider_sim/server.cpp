#include "tests/provider_sim/server.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

namespace sluice::sim {

namespace {

// Tags of what is no connection, above any index.
constexpr std::uint64_t listener_tag = UINT64_MAX;
constexpr std::uint64_t timer_tag = UINT64_MAX - 1;
constexpr std::uint64_t signal_tag = UINT64_MAX - 2;
constexpr std::uint32_t tick_index = UINT32_MAX;

constexpr std::int64_t tick_us = 50'000;       // how often the log is flushed
constexpr std::int64_t linger_us = 1'000'000;  // how long a closing connection is drained
constexpr std::size_t read_bytes = 16u << 10;

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

tl::unexpected<Error> system_failure(const std::string& what) {
  return fail(Reason::listen_failed, what + ": " + std::strerror(errno));
}

}  // namespace

void block_signals() {
  const sigset_t set = ending_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

std::int64_t monotonic_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

Server::Server(Service& service, std::uint64_t keep_alive_max)
    : service_(service), keep_alive_max_(keep_alive_max) {}

Server::~Server() = default;

Result<void> Server::watch(int fd, std::uint64_t tag, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return system_failure("epoll_ctl");
  return {};
}

Result<std::uint16_t> Server::listen(std::uint16_t port) {
  listener_ = FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener_.is_open()) return system_failure("socket");
  const int yes = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), SOMAXCONN) != 0 ||
      getsockname(listener_.get(), generic, &size) != 0) {
    return system_failure("127.0.0.1:" + std::to_string(port) + " cannot be listened on");
  }
  port_ = ntohs(address.sin_port);
  return port_;
}

Result<void> Server::run() {
  const sigset_t set = ending_signals();
  epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  timer_ = FileDescriptor(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  signals_ = FileDescriptor(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!epoll_.is_open() || !timer_.is_open() || !signals_.is_open()) return system_failure("epoll");
  for (const auto& [fd, tag] : {std::pair{listener_.get(), listener_tag}, std::pair{timer_.get(), timer_tag},
                                std::pair{signals_.get(), signal_tag}}) {
    if (auto watched = watch(fd, tag, EPOLLIN); !watched) return watched;
  }
  timers_.add({monotonic_us() + tick_us, tick_index, 0});
  std::array<epoll_event, 256> events;
  while (true) {
    arm_timer();
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    if (count < 0 && errno != EINTR) return system_failure("epoll_wait");
    for (int i = 0; i < count; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 == signal_tag) return {};
      if (event.data.u64 == listener_tag) {
        accept_all();
      } else if (event.data.u64 == timer_tag) {
        fire_timers();
      } else {
        on_event(static_cast<std::uint32_t>(event.data.u64), event.events);
      }
    }
  }
}

void Server::accept_all() {
  while (true) {
    FileDescriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) return;
    const int yes = 1;
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (free_indices_.empty()) {
      free_indices_.push_back(static_cast<std::uint32_t>(connections_.size()));
      connections_.emplace_back();
    }
    const std::uint32_t index = free_indices_.back();
    if (!watch(socket.get(), index, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)) continue;
    free_indices_.pop_back();
    auto connection = std::make_unique<Connection>();
    connection->socket = std::move(socket);
    connection->index = index;
    connection->number = ++accepted_;
    connections_[index] = std::move(connection);
  }
}

void Server::on_event(std::uint32_t index, std::uint32_t events) {
  if (index >= connections_.size() || !connections_[index])
    return;  // closed by an earlier event of this batch
  Connection& connection = *connections_[index];
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return close(connection, true);
  if ((events & EPOLLRDHUP) != 0) {
    connection.peer_closed = true;
    // Nobody waits any more: clients that give up close, and none of them half-closes to wait.
    if (connection.phase == Phase::waiting) return close(connection, true);
  }
  if ((events & EPOLLIN) != 0) connection.readable = true;
  if (connection.phase == Phase::lingering) return drain(connection);
  if (connection.phase == Phase::sending) {
    if ((events & EPOLLOUT) == 0 || !send_reply(connection)) return;
  }
  advance(connection);
}

/// Serves what is there until more input, more room or time is needed. The connection may be gone afterwards.
void Server::advance(Connection& connection) {
  while (connection.phase == Phase::reading && read_request(connection) && serve(connection)) {
  }
}

/// True once a request is complete.
bool Server::read_request(Connection& connection) {
  while (true) {
    const auto outcome = connection.parser.parse();
    if (outcome == HttpParser::Outcome::complete) return true;
    if (outcome == HttpParser::Outcome::failed) {
      connection.reply.clear();
      service_.reject(connection.parser.error_status(), connection.reply);
      give_reply(connection);
      return false;
    }
    if (connection.parser.take_continue()) {
      constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
      // 25 bytes on a connection with nothing else under way always fit.
      if (send(connection.socket.get(), go_on.data(), go_on.size(), MSG_NOSIGNAL) < 0) {
        close(connection, true);
        return false;
      }
    }
    if (!read_some(connection)) return false;
  }
}

/// False if there is nothing to read now; a connection that ended is closed.
bool Server::read_some(Connection& connection) {
  if (!connection.readable && !connection.peer_closed) return false;
  const auto space = connection.parser.space(read_bytes);
  const ssize_t count = recv(connection.socket.get(), space.data(), space.size(), 0);
  if (count > 0) {
    // A short read has emptied the socket: what comes later is a new edge.
    connection.readable = static_cast<std::size_t>(count) == space.size();
    connection.parser.commit(static_cast<std::size_t>(count));
    return true;
  }
  connection.readable = false;
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
    connection.readable = errno == EINTR;
    return connection.readable;
  }
  close(connection, true);
  return false;
}

/// True if the next request can be looked at.
bool Server::serve(Connection& connection) {
  ++connection.requests;
  const bool last = keep_alive_max_ != 0 && connection.requests >= keep_alive_max_;
  Reply& reply = connection.reply;
  reply.clear();
  const std::int64_t now = monotonic_us();
  service_.respond(connection.parser.request(), connection.number, last, now, reply);
  connection.parser.discard();
  connection.phase = Phase::waiting;
  if (reply.delivery == Reply::Delivery::hang) {
    if (connection.peer_closed) close(connection, true);
    return false;
  }
  if (reply.due_us > now) {
    connection.generation = ++generations_;
    timers_.add({reply.due_us, connection.index, connection.generation});
    return false;
  }
  return give_reply(connection);
}

bool Server::give_reply(Connection& connection) {
  if (connection.reply.delivery == Reply::Delivery::drop) {
    close(connection, false);
    return false;
  }
  connection.sent = 0;
  connection.phase = Phase::sending;
  return send_reply(connection);
}

/// True if all is sent and the next request can be looked at.
bool Server::send_reply(Connection& connection) {
  const std::string& bytes = connection.reply.bytes;
  while (connection.sent < bytes.size()) {
    const ssize_t count = send(connection.socket.get(), bytes.data() + connection.sent,
                               bytes.size() - connection.sent, MSG_NOSIGNAL);
    if (count >= 0) {
      connection.sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      return false;
    } else if (errno != EINTR) {
      close(connection, true);
      return false;
    }
  }
  return after_reply(connection);
}

bool Server::after_reply(Connection& connection) {
  service_.finished(connection.reply, false, monotonic_us());
  connection.phase = Phase::reading;
  if (!connection.reply.close) return true;
  linger(connection);
  return false;
}

void Server::linger(Connection& connection) {
  connection.phase = Phase::lingering;
  shutdown(connection.socket.get(), SHUT_WR);
  connection.generation = ++generations_;
  timers_.add({monotonic_us() + linger_us, connection.index, connection.generation});
  connection.readable = true;
  drain(connection);
}

void Server::drain(Connection& connection) {
  connection.parser.clear();
  while (true) {
    const auto space = connection.parser.space(read_bytes);
    const ssize_t count = recv(connection.socket.get(), space.data(), space.size(), 0);
    if (count > 0 || (count < 0 && errno == EINTR)) continue;
    if (count < 0 && errno == EAGAIN) return;
    return close(connection, false);
  }
}

/// `gone`: the client left. A reply that was under way is finished so.
void Server::close(Connection& connection, bool gone) {
  if (connection.phase == Phase::waiting || connection.phase == Phase::sending) {
    service_.finished(connection.reply, gone, monotonic_us());
  }
  const std::uint32_t index = connection.index;
  free_indices_.push_back(index);
  connections_[index].reset();
}

void Server::fire_timers() {
  std::uint64_t expirations = 0;
  if (read(timer_.get(), &expirations, sizeof expirations) > 0) armed_for_us_ = 0;
  const std::int64_t now = monotonic_us();
  while (const auto timer = timers_.take_due(now)) {
    if (timer->index == tick_index) {
      tick(now);
      continue;
    }
    const auto& owner = connections_[timer->index];
    if (!owner || owner->generation != timer->generation) continue;
    if (owner->phase == Phase::lingering) {
      close(*owner, false);
    } else if (owner->phase == Phase::waiting && give_reply(*owner)) {
      advance(*owner);
    }
  }
}

void Server::tick(std::int64_t now_us) {
  service_.tick();
  timers_.add({now_us + tick_us, tick_index, 0});
  const bool unreachable = service_.is_unreachable(now_us);
  if (unreachable == !listener_.is_open()) return;
  if (unreachable) return become_unreachable();
  // The port was this server's until now; should another process have taken it meanwhile, the next tick
  // tries.
  if (listen(port_) && watch(listener_.get(), listener_tag, EPOLLIN)) return;
  listener_.reset();
}

/// Closes everything; what was under way ends without an answer.
void Server::become_unreachable() {
  listener_.reset();
  for (const auto& connection : connections_) {
    if (!connection) continue;
    connection->reply.delivery = Reply::Delivery::drop;
    close(*connection, false);
  }
}

void Server::arm_timer() {
  const auto due = timers_.next_due_us();
  if (!due || *due == armed_for_us_) return;
  armed_for_us_ = *due;
  itimerspec when{};
  when.it_value.tv_sec = *due / 1'000'000;
  when.it_value.tv_nsec = *due % 1'000'000 * 1000;
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace sluice::sim
