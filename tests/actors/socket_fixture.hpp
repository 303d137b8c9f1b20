#pragma once

#include "common/wire/codec.hpp"
#include "tests/actors/actor_fixture.hpp"

#include <zmq.hpp>

namespace sluice {

class SocketActorTest : public ActorTest {
 protected:
  zmq::context_t context;
};

inline void send_frames(zmq::socket_t& socket, const wire::Frames& frames) {
  socket.send(zmq::buffer(frames.header), zmq::send_flags::sndmore);
  socket.send(zmq::buffer(frames.body), zmq::send_flags::none);
}

}  // namespace sluice
