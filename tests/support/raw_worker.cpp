#include "tests/support/raw_worker.hpp"

#include <utility>

namespace sluice::support {

RawWorker::RawWorker(const std::string& endpoint) : socket_(context_, zmq::socket_type::dealer) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::sndhwm, 0);
  socket_.set(zmq::sockopt::rcvhwm, 0);
  socket_.connect(endpoint);
}

void RawWorker::send(const wire::ToCoordinator& message) {
  const auto frames = wire::encode(message);
  send_frames({frames.header, frames.body});
}

void RawWorker::send_frames(const std::vector<std::string>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    socket_.send(zmq::buffer(frames[i]),
                 i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
}

std::optional<wire::ToWorker> RawWorker::receive(std::chrono::milliseconds deadline) {
  socket_.set(zmq::sockopt::rcvtimeo, static_cast<int>(deadline.count()));
  zmq::message_t header;
  zmq::message_t body;
  if (!socket_.recv(header) || !header.more() || !socket_.recv(body) || body.more()) return std::nullopt;
  auto message = wire::decode_to_worker(header.to_string_view(), body.to_string_view());
  if (!message) return std::nullopt;
  return std::move(*message);
}

}  // namespace sluice::support
