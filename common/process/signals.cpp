#include "common/process/signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

namespace sluice {

namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

SignalWatch::SignalWatch() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  const auto set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal_fd_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  stop_fd_ = ::eventfd(0, EFD_CLOEXEC);
}

void SignalWatch::start(std::function<void(const char*)> on_signal) {
  thread_ = std::thread([this, on_signal = std::move(on_signal)] {
    bool seen = false;
    for (;;) {
      std::array<pollfd, 2> fds{{{signal_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) continue;
      if (fds[1].revents != 0) return;
      signalfd_siginfo info{};
      if (::read(signal_fd_, &info, sizeof info) != sizeof info) return;
      if (std::exchange(seen, true)) ::_exit(2);
      on_signal(info.ssi_signo == SIGINT ? "SIGINT" : "SIGTERM");
    }
  });
}

void SignalWatch::stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_fd_, &one, sizeof one);
  thread_.join();
}

SignalWatch::~SignalWatch() {
  stop();
  ::close(signal_fd_);
  ::close(stop_fd_);
}

}  // namespace sluice
