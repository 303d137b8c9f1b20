#include "common/process/signals.hpp"

#include "common/text/stderr_line.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace sluice {

namespace {

const char* name_of(std::uint32_t signal) {
  if (signal == SIGINT) return "SIGINT";
  return signal == SIGHUP ? "SIGHUP" : "SIGTERM";
}

}  // namespace

sigset_t signals_that_end() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hang_up {};
  ::sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  return set;
}

SignalWatch::SignalWatch(int exit_code) : exit_code_(exit_code) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  const auto set = signals_that_end();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal_fd_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  stop_fd_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { watch(); });
}

void SignalWatch::handle_with(Handler handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

void SignalWatch::say_at_an_early_end(std::string words) {
  const std::lock_guard lock(mutex_);
  last_words_ = std::move(words);
}

void SignalWatch::clean_up_with(std::function<void()> clean_up) {
  const std::lock_guard lock(mutex_);
  clean_up_ = std::move(clean_up);
}

void SignalWatch::watch() {
  for (;;) {
    std::array<pollfd, 2> fds{{{signal_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) continue;
    if (fds[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signal_fd_, &info, sizeof info) != sizeof info) return;
    take(name_of(info.ssi_signo));
  }
}

void SignalWatch::take(const char* signal) {
  const std::lock_guard lock(mutex_);
  const auto meaning = request_.take(std::chrono::steady_clock::now());
  // Also once the handler is gone: what it asked for, the report above all, may still be in the making.
  if (meaning == SignalRequest::Meaning::repetition) return;
  if (meaning == SignalRequest::Meaning::stop && handler_) return handler_(signal);
  if (log_format() == LogFormat::text) std::fputs("\n", stderr);  // Behind what a terminal echoes.
  say(std::string("interrupted by ") + signal, Severity::error);
  if (!last_words_.empty()) say(last_words_);
  if (clean_up_) clean_up_();
  ::_exit(exit_code_);
}

bool SignalWatch::has_come() {
  const std::lock_guard lock(mutex_);
  return request_.is_made();
}

SignalWatch::~SignalWatch() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_fd_, &one, sizeof one);
  thread_.join();
  ::close(signal_fd_);
  ::close(stop_fd_);
}

}  // namespace sluice
