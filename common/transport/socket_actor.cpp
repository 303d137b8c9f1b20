#include "common/transport/socket_actor.hpp"

#include "common/defaults.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace sluice {

namespace {

/// A WORK or RESULT has three parts with its routing id; anything longer is not ours.
constexpr std::size_t max_parts = 8;

}  // namespace

SocketActor::SocketActor(caf::actor_config& config, zmq::socket_t socket, zmq::socket_t side)
    : caf::blocking_actor(config),
      socket_(std::move(socket)),
      side_(std::move(side)),
      wake_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wake_fd_ < 0) std::abort();  // No file descriptor is left for the first thing the process does.
}

SocketActor::~SocketActor() {
  ::close(wake_fd_);
}

void SocketActor::enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) {
  caf::blocking_actor::enqueue(std::move(element), unit);
  ring();
}

void SocketActor::ring() {
  if (rung_.exchange(true)) return;  // One write a burst.
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_fd_, &one, sizeof one);
}

void SocketActor::wait() {
  std::array<zmq::pollitem_t, 3> items{{{socket_.handle(), 0, ZMQ_POLLIN, 0},
                                        {nullptr, wake_fd_, ZMQ_POLLIN, 0},
                                        {side_.handle(), 0, ZMQ_POLLIN, 0}}};
  try {
    zmq::poll(items.data(), side_ ? 3 : 2, std::chrono::milliseconds(-1));
  } catch (const zmq::error_t& error) {
    if (error.num() != EINTR) {
      spdlog::error("socket poll failed: {}", error.what());
      stop();
    }
  }
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(wake_fd_, &count, sizeof count);
  // Cleared after the read and before the mailbox is drained: a message that comes now rings again.
  rung_.store(false);
}

void SocketActor::act() {
  while (running_) {
    wait();
    int taken = 0;
    while (running_ && taken < defaults::socket_batch && take_message()) ++taken;
    const bool more_frames = read_batch(defaults::socket_batch);
    if (side_) read_side();
    flush();
    if (taken == defaults::socket_batch || more_frames) ring();
  }
  side_.close();
  socket_.close();
}

void SocketActor::replace_sockets(zmq::socket_t socket, zmq::socket_t side) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_ = std::move(socket);
  side_ = std::move(side);
}

void SocketActor::drain_socket() {
  for (int batch = 0; batch < defaults::max_batches_per_drain; ++batch) {
    const bool more = read_batch(defaults::socket_batch);
    flush();
    if (!more) return;
  }
  ring();  // The rest is read as any other batch.
}

bool SocketActor::read_batch(int limit) {
  std::vector<zmq::message_t> frames;
  for (int count = 0; count < limit; ++count) {
    if (!receive_frames(socket_, frames)) return false;
    on_frames(frames);
  }
  return true;
}

void SocketActor::read_side() {
  std::vector<zmq::message_t> frames;
  for (int count = 0; count < defaults::socket_batch; ++count) {
    if (!receive_frames(side_, frames)) return;
    on_side_frames(frames);
  }
  ring();
}

bool SocketActor::receive_frames(zmq::socket_t& socket, std::vector<zmq::message_t>& frames) {
  frames.clear();
  bool more = true;
  while (more) {
    zmq::message_t part;
    try {
      if (!socket.recv(part, zmq::recv_flags::dontwait)) return false;
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) continue;
      spdlog::error("socket read failed: {}", error.what());
      stop();
      return false;
    }
    more = part.more();
    if (frames.size() < max_parts) frames.push_back(std::move(part));
  }
  return true;
}

SocketActor::Sent SocketActor::send_frames(zmq::socket_t& socket, std::span<const std::string_view> frames) {
  std::size_t left = frames.size();
  for (const auto frame : frames) {
    const auto flags =
        --left > 0 ? zmq::send_flags::sndmore | zmq::send_flags::dontwait : zmq::send_flags::dontwait;
    for (;;) {
      try {
        if (!socket.send(zmq::buffer(frame), flags)) return Sent::full;
        break;
      } catch (const zmq::error_t& error) {
        if (error.num() == EINTR) continue;
        // EHOSTUNREACH: the peer has gone; what it missed is not resent, since its leases are lost with it.
        if (error.num() != EHOSTUNREACH) spdlog::error("socket write failed: {}", error.what());
        return Sent::gone;
      }
    }
  }
  return Sent::yes;
}

}  // namespace sluice
