#include "tests/support/raw_worker.hpp"

#include <utility>

namespace sluice::support {

UnitResult result_of(const WorkUnit& unit) {
  UnitResult result;
  result.unit = unit.unit;
  result.key = unit.key;
  result.lease = unit.lease;
  result.answer = unit.key;  // Any digest that tells the units apart.
  result.answer[0] = static_cast<std::uint8_t>(~result.answer[0]);
  result.usage = {100, 4};
  result.spend.calls = 1;
  for (const auto& task : unit.tasks) {
    TrialScore score;
    score.trial = task.trial;
    for (std::uint32_t i = 0; i < task.must_contain.size(); ++i) score.claims.missing.push_back(i);
    const bool nothing_expected = task.must_contain.empty();
    const auto zero = nothing_expected ? std::nullopt : std::optional(0.0);
    score.metrics = {{MetricId::claims_precision, std::nullopt, std::nullopt, ""},
                     {MetricId::claims_recall, zero, std::nullopt, ""},
                     {MetricId::claims_f1, zero, std::nullopt, ""},
                     {MetricId::claims_required, std::nullopt, nothing_expected, ""},
                     {MetricId::claims_forbidden, std::nullopt, true, ""}};
    if (nothing_expected) score.metrics.push_back({MetricId::claims_absent, std::nullopt, true, ""});
    result.scores.push_back(std::move(score));
  }
  return result;
}

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
