#include "worker/connection_errors.hpp"

namespace sluice {

std::string coordinator_awaited(std::optional<std::chrono::milliseconds> patience, bool is_refused) {
  const std::string meanwhile = is_refused
                                    ? "no new call is made until the coordinator takes this worker"
                                    : "the coordinator is silent; no new call is made until it answers";
  if (!patience) return meanwhile;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*patience).count();
  return meanwhile + ", for which this worker waits " + std::to_string(seconds) + " s (--orphan-timeout)";
}

Error coordinator_silent(std::chrono::milliseconds patience, const std::string& refusal, bool has_answers) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
  const std::string silence = "no coordinator has answered for " + std::to_string(seconds) + " s; ";
  return {Reason::coordinator_unreachable,
          silence +
              (refusal.empty()
                   ? "check the endpoint, and that `sluice run --listen` is running there (`sluice run "
                     "--resume` goes on with a run that stopped)"
                   : refusal) +
              (has_answers ? "; what was answered is in this worker's cache" : "")};
}

Error not_taken(const std::string& detail) {
  return {Reason::coordinator_unreachable, "the coordinator does not take this worker: " + detail};
}

Error protocol_mismatch(const std::string& detail) {
  return {Reason::protocol_mismatch, "the coordinator does not fit this worker: " + detail};
}

Error unreadable_work(const std::string& detail) {
  return {Reason::message_malformed, "what the coordinator leased cannot be read: " + detail +
                                         "; this is a defect of sluice: please report it with the suite"};
}

}  // namespace sluice
