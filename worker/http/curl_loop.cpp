#include "worker/http/curl_loop.hpp"

#include "worker/defaults.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {

namespace {

std::uint32_t wanted_events(int what) {
  std::uint32_t events = 0;
  if ((what & CURL_POLL_IN) != 0) events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) events |= EPOLLOUT;
  return events;
}

int ready_actions(std::uint32_t events) {
  int actions = 0;
  // A broken connection is read from, too: the read finds out what is wrong.
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) actions |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) actions |= CURL_CSELECT_OUT;
  return actions;
}

bool is_answered_in_http1(CURL* easy) {
  long version = CURL_HTTP_VERSION_NONE;
  curl().easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
  return version == CURL_HTTP_VERSION_1_0 || version == CURL_HTTP_VERSION_1_1;
}

/// A socket whose other end is closed.
int hung_up_socket() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  ::close(pair[1]);
  return pair[0];
}

}  // namespace

// Where it aborts, neither descriptors nor memory are left for one of the first things that the process does.
CurlLoop::CurlLoop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      hung_up_(hung_up_socket()) {
  if (epoll_ < 0 || bell_ < 0 || hung_up_ < 0) std::abort();
  epoll_event event{EPOLLIN, {.fd = bell_}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, bell_, &event) != 0) std::abort();
}

void CurlLoop::start(long max_connections) {
  multi_.reset(curl().multi_init());
  if (!multi_) std::abort();
  auto* multi = multi_.get();
  curl().multi_setopt(multi, CURLMOPT_MAXCONNECTS, max_connections);
  curl().multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &CurlLoop::on_socket);
  curl().multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl().multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &CurlLoop::on_timer);
  curl().multi_setopt(multi, CURLMOPT_TIMERDATA, this);
}

CurlLoop::~CurlLoop() {
  multi_.reset();  // Ends each kept connection through on_socket.
  ::close(hung_up_);
  ::close(bell_);
  ::close(epoll_);
}

void CurlLoop::adopt(CURL* easy) {
  curl().easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &CurlLoop::on_open);
  curl().easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl().easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &CurlLoop::on_close);
  curl().easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
}

CurlLoop::Watched& CurlLoop::watched(curl_socket_t socket) {
  const auto index = static_cast<std::size_t>(socket);
  if (index >= sockets_.size()) sockets_.resize(index + 1);
  return sockets_[index];
}

curl_socket_t CurlLoop::on_open(void* self, curlsocktype, curl_sockaddr* address) {
  const int socket = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (socket < 0) return CURL_SOCKET_BAD;
  static_cast<CurlLoop*>(self)->watched(socket) = {.opened_here = true};
  return socket;
}

int CurlLoop::on_close(void* self, curl_socket_t socket) {
  static_cast<CurlLoop*>(self)->watched(socket) = {};
  return ::close(socket);  // Which takes it out of the epoll set.
}

void CurlLoop::watch(curl_socket_t socket, std::uint32_t events) {
  auto& known = watched(socket);
  known.wanted = true;
  if (known.registered == events) return;
  epoll_event event{events, {.fd = socket}};
  const int operation = known.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_, operation, socket, &event) != 0) return note_failure("watched");
  known.registered = events;
}

void CurlLoop::unwatch(curl_socket_t socket) {
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);  // It may be closed already, and so be gone.
  watched(socket).registered = 0;
}

/// A connection that no transfer wants any more. What has come behind its response is seen now: curl may give
/// it to another transfer at once.
void CurlLoop::keep(curl_socket_t socket, CURL* last_user) {
  auto& known = watched(socket);
  known.speaks_http1 = is_answered_in_http1(last_user);
  char byte = 0;
  if (known.speaks_http1 && ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) on_unasked(socket);
}

/// On a kept connection something has come: its end, or what no call asked for. In HTTP/1 that would be taken
/// for the answer to the next call, and curl before 8.0 does not look; so curl is to find that the other side
/// has hung up, whatever else may come. HTTP/2 has frames between calls, and names the request that each is
/// of: curl reads them when it uses the connection again.
void CurlLoop::on_unasked(curl_socket_t socket) {
  unwatch(socket);
  if (watched(socket).speaks_http1) ::dup3(hung_up_, socket, O_CLOEXEC);
}

int CurlLoop::on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void*) {
  auto& loop = *static_cast<CurlLoop*>(self);
  if (what != CURL_POLL_REMOVE) {
    loop.watch(socket, wanted_events(what));
    return 0;
  }
  auto& known = loop.watched(socket);
  known.wanted = false;
  // Of others, such as those that wake a resolver, the end is not reported: their number may be another's
  // soon.
  known.opened_here ? loop.keep(socket, easy) : loop.unwatch(socket);
  return 0;
}

int CurlLoop::on_timer(CURLM*, long timeout_ms, void* self) {
  auto& time = static_cast<CurlLoop*>(self)->curl_time_;
  if (timeout_ms < 0) {
    time.reset();
  } else {
    time = Clock::now() + std::chrono::milliseconds(timeout_ms);
  }
  return 0;
}

int CurlLoop::wait_ms(std::chrono::milliseconds longest) const {
  if (!curl_time_) return static_cast<int>(longest.count());
  // Rounded up: waking too early would only mean to wait again.
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*curl_time_ - Clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), longest).count());
}

void CurlLoop::turn(std::chrono::milliseconds longest) {
  std::array<epoll_event, defaults::max_socket_events> events{};
  const int count = ::epoll_wait(epoll_, events.data(), defaults::max_socket_events, wait_ms(longest));
  if (count < 0 && errno != EINTR) note_failure("waited for");
  const auto came = std::span(events).first(static_cast<std::size_t>(std::max(count, 0)));
  // Before curl does anything, which may begin a call on one of these.
  for (const auto& event : came) {
    if (event.data.fd != bell_ && !watched(event.data.fd).wanted) on_unasked(event.data.fd);
  }
  int running = 0;
  for (const auto& event : came) {
    if (event.data.fd == bell_) {
      std::uint64_t rings = 0;
      [[maybe_unused]] const auto read = ::read(bell_, &rings, sizeof rings);
    } else if (watched(event.data.fd).wanted) {
      curl().multi_socket_action(multi_.get(), event.data.fd, ready_actions(event.events), &running);
    }
  }
  if (curl_time_ && *curl_time_ <= Clock::now()) {
    curl_time_.reset();
    curl().multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

void CurlLoop::ring() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(bell_, &one, sizeof one);
}

std::optional<CurlLoop::Finished> CurlLoop::next_finished() {
  if (!started()) return std::nullopt;
  int left = 0;
  while (const auto* message = curl().multi_info_read(multi_.get(), &left)) {
    if (message->msg == CURLMSG_DONE) return Finished{message->easy_handle, message->data.result};
  }
  return std::nullopt;
}

void CurlLoop::note_failure(const char* what) {
  if (!failed_) spdlog::warn("HTTP connections cannot be {}: {}", what, std::strerror(errno));
  failed_ = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // A lasting failure must not eat a whole core.
}

}  // namespace sluice
