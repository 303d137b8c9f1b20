#include "worker/call_failure.hpp"

namespace sluice {

Failed failed_call(const HttpFailure& failure) {
  Failed failed;
  failed.message = failure.message;
  failed.retryable = true;
  switch (failure.kind) {
    case HttpFailure::Kind::timed_out:
      failed.reason = Reason::timed_out;
      break;
    case HttpFailure::Kind::program_failed:
      failed.reason = Reason::provider_failed;
      break;
    case HttpFailure::Kind::too_large:
      failed.reason = Reason::answer_too_large;
      failed.retryable = false;
      break;
    default:
      failed.reason = Reason::connection_lost;
  }
  return failed;
}

bool never_connected(const HttpDone& done) {
  return done.failure && (done.failure->kind == HttpFailure::Kind::could_not_connect ||
                          done.failure->kind == HttpFailure::Kind::could_not_resolve ||
                          done.failure->kind == HttpFailure::Kind::other);
}

}  // namespace sluice
