#pragma once

#include "common/files.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include <caf/blocking_actor.hpp>
#include <caf/message_handler.hpp>
#include <caf/system_messages.hpp>
#include <zmq.hpp>

namespace sluice {

/// A thread that owns one ZeroMQ socket and is itself an actor: while it waits its mailbox rings an eventfd
/// that stands in the poll set beside the socket, so there is no second queue and no lock. Derived classes
/// define what a frame and what a message means; both come in bounded batches, so that neither side starves
/// the other.
class SocketActor : public caf::blocking_actor {
 public:
  /// `side`, which may be empty, stands in the same poll set: a socket by which ZeroMQ asks or tells
  /// something about the first.
  SocketActor(caf::actor_config& config, zmq::socket_t socket, zmq::socket_t side);

  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override;

 protected:
  void act() final;

  /// What to do with each message, asked for once. An exit_msg is for `on_exit_message`.
  virtual caf::message_handler handlers() = 0;
  /// Frames of one multipart message, without the routing id's empty delimiter; at least one.
  virtual void on_frames(std::vector<zmq::message_t>& frames) = 0;
  /// Of the side socket.
  virtual void on_side_frames(std::vector<zmq::message_t>& frames) = 0;
  /// After each batch of frames: hand on what was collected.
  virtual void flush() = 0;
  /// Whether another message may be read now. If not, it waits in the network, and is asked for again soon.
  virtual bool may_read() const { return true; }
  /// How long to wait at most for something to happen; below 0: for ever.
  virtual std::chrono::milliseconds patience() const { return std::chrono::milliseconds(-1); }
  /// Once for each wait, and for each batch while there is no need to wait.
  virtual void on_turn() {}
  /// The sockets are closed.
  virtual void on_closed() {}

  /// What became of frames that were to be sent.
  enum class Sent : std::uint8_t {
    yes,
    gone,  ///< There is nobody to take them.
    full,  ///< Too many wait for this peer already.
  };
  /// Hands frames to ZeroMQ.
  Sent send_frames(std::initializer_list<std::string_view> frames) {
    return send_frames(socket_, std::span(frames.begin(), frames.size()));
  }
  Sent send_side_frames(std::span<const std::string_view> frames) { return send_frames(side_, frames); }
  /// Forwards what has arrived on the socket so far: all of it, or as much as one drain may take. While more
  /// comes than can be read, each peer has had its turn many times by then, since ZeroMQ reads them in turn;
  /// the rest is read as any other batch.
  void drain_socket();
  /// Goes on with other sockets; what waits in the old ones is dropped.
  void replace_sockets(zmq::socket_t socket, zmq::socket_t side);
  void stop() { running_ = false; }
  /// Ends at once, for the reason that whoever owns the actor names.
  void on_exit_message(const caf::exit_msg& exit) {
    fail_state(exit.reason);
    stop();
  }

 private:
  void ring();
  void wait();
  void close_sockets();
  bool take_messages(caf::message_handler& handlers);
  bool read_batch(int limit);
  /// True if there may be more.
  bool read_side();
  /// One message of several parts; false if none waits, or the socket failed.
  bool receive_frames(zmq::socket_t& socket, std::vector<zmq::message_t>& frames);
  static Sent send_frames(zmq::socket_t& socket, std::span<const std::string_view> frames);

  zmq::socket_t socket_;
  zmq::socket_t side_;
  FileDescriptor bell_;
  std::atomic<bool> waiting_{false};
  bool unread_ = true;      ///< The socket may hold more: there is nothing to wait for.
  bool held_back_ = false;  ///< It may hold more, of which its descriptor tells nothing.
  bool running_ = true;
};

}  // namespace sluice
