#include "common/transport/refusals.hpp"

#include "common/transport/defaults.hpp"

#include <utility>

#include <zmq.h>

namespace sluice {

ConnectionStage stage_of(std::uint16_t event) {
  switch (event) {
    case ZMQ_EVENT_CONNECT_DELAYED:
      return ConnectionStage::tried;
    case ZMQ_EVENT_CLOSED:
      return ConnectionStage::failed;
    case ZMQ_EVENT_CONNECTED:
      return ConnectionStage::open;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      return ConnectionStage::greeted;
    default:
      return ConnectionStage::none;
  }
}

std::optional<std::string> unanswered(ConnectionStage stage, const std::string& endpoint) {
  switch (stage) {
    case ConnectionStage::tried:
      return "nobody answers at " + endpoint +
             ": check host and port of --connect, and that no firewall drops connections to this port";
    case ConnectionStage::failed:
      return "the connection to " + endpoint +
             " is refused, or there is no way to this host: check host and port of --connect, and that "
             "`sluice "
             "run --listen` is running there and listens on an address that this machine reaches";
    case ConnectionStage::open:
      return "whoever listens at " + endpoint +
             " takes the connection and does not greet as a coordinator does: check the port of --connect, "
             "which `sluice run --listen` prints, and that the coordinator there is not stopped";
    default:
      return std::nullopt;
  }
}

Refusals::News Refusals::on_refusal(const Refusal& refusal) {
  const bool is_exact = refusal.cause != Refusal::Cause::hang_up;
  hang_ups_ = is_exact ? 0 : hang_ups_ + 1;
  const bool is_certain = is_exact || hang_ups_ >= defaults::hang_ups_in_a_row;
  if (!is_certain && is_exact_) return {};
  News news;
  news.is_another = refusal.why != why_;
  why_ = refusal.why;
  is_exact_ = is_exact;
  if (!is_certain) return news;
  const bool is_unlisted = refusal.cause == Refusal::Cause::not_listed;
  news.is_to_log = !std::exchange(is_unlisted ? is_unlisted_logged_ : is_disagreement_logged_, true);
  return news;
}

}  // namespace sluice
