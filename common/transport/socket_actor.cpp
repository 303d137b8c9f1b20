#include "common/transport/socket_actor.hpp"

#include "common/transport/defaults.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include <poll.h>
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
      bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!bell_.is_open()) std::abort();  // No file descriptor is left for the first thing the process does.
}

/// Called on other threads. The bell is rung only when the loop waits, or is about to.
void SocketActor::enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) {
  caf::blocking_actor::enqueue(std::move(element), unit);
  if (waiting_.exchange(false)) ring();
}

void SocketActor::ring() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(bell_.number(), &one, sizeof one);
}

/// Waits on ZeroMQ's own file descriptor, since zmq_poll looks at the socket three times for each wait. It
/// tells of what has happened since the socket was last used, and no more: before the wait it has been read
/// until there was nothing left.
void SocketActor::wait() {
  // Raised before the mailbox is looked at: whoever enqueues after that look finds it raised and rings.
  waiting_.exchange(true);
  if (!has_next_message()) {
    // A negative one is passed over.
    const int side = side_ ? side_.get(zmq::sockopt::fd) : -1;
    const int socket = held_back_ ? -1 : socket_.get(zmq::sockopt::fd);
    const auto longest = held_back_ ? defaults::in_hand_interval : patience();
    std::array<pollfd, 3> items{{{socket, POLLIN, 0}, {bell_.number(), POLLIN, 0}, {side, POLLIN, 0}}};
    if (::poll(items.data(), items.size(), static_cast<int>(longest.count())) < 0 && errno != EINTR) {
      spdlog::error("socket poll failed: {}", std::generic_category().message(errno));
      stop();
    }
    if (items[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto read = ::read(bell_.number(), &count, sizeof count);
    }
  }
  waiting_.exchange(false);
}

/// True if there may be more.
bool SocketActor::take_messages(caf::message_handler& handlers) {
  for (int taken = 0; taken < defaults::socket_batch && running_; ++taken) {
    if (!has_next_message()) return false;
    auto message = dequeue()->move_content_to_message();
    handlers(message);
  }
  return true;
}

void SocketActor::act() {
  auto handlers = this->handlers();
  while (running_) {
    if (!unread_) wait();
    on_turn();
    const bool more_messages = take_messages(handlers);
    const bool more_of_side = running_ && side_ && read_side();
    const bool more_frames = running_ && read_batch(defaults::socket_batch);
    flush();
    unread_ = more_messages || more_of_side || more_frames;
  }
  close_sockets();
  on_closed();
}

void SocketActor::close_sockets() {
  // ZeroMQ's thread waits for whoever listens to a monitor: it must be silent before its other end goes.
  zmq_socket_monitor(socket_.handle(), nullptr, 0);
  socket_.close();
  side_.close();
}

void SocketActor::replace_sockets(zmq::socket_t socket, zmq::socket_t side) {
  socket_.set(zmq::sockopt::linger, 0);
  close_sockets();
  socket_ = std::move(socket);
  side_ = std::move(side);
}

void SocketActor::drain_socket() {
  for (int batch = 0; batch < defaults::max_batches_per_drain; ++batch) {
    const bool more = read_batch(defaults::socket_batch);
    flush();
    if (!more) return;
  }
}

bool SocketActor::read_batch(int limit) {
  std::vector<zmq::message_t> frames;
  for (int count = 0; count < limit; ++count) {
    held_back_ = !may_read();
    if (held_back_ || !receive_frames(socket_, frames)) return false;
    on_frames(frames);
  }
  return true;
}

bool SocketActor::read_side() {
  std::vector<zmq::message_t> frames;
  for (int count = 0; count < defaults::socket_batch; ++count) {
    if (!receive_frames(side_, frames)) return false;
    on_side_frames(frames);
  }
  return true;
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
