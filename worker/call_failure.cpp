#include "worker/call_failure.hpp"

#include "common/command/bounded_command.hpp"
#include "common/text/text.hpp"
#include "worker/defaults.hpp"

#include <string>
#include <utility>

namespace sluice {

Failed failed_call(const HttpFailure& failure, const KeyMask& keys, const Redactor& redactor) {
  Failed failed;
  std::string errors = failure.errors;
  std::string header = failure.header;
  failed.message = failure.message;
  for (std::string* words : {&failed.message, &errors, &header}) {
    keys.apply(*words);
    redactor.apply(*words);
  }
  failed.message = with_errors(std::move(failed.message), errors, defaults::quoted_error_bytes);
  if (!header.empty())
    failed.message += " (" + excerpt(one_line(to_valid_utf8(header)), defaults::quoted_header_bytes) + ")";
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
    case HttpFailure::Kind::program_changed:
      failed.reason = Reason::provider_changed;
      failed.retryable = false;
      break;
    case HttpFailure::Kind::unasked_encoding:
      failed.reason = Reason::provider_failed;
      failed.retryable = false;
      break;
    default:
      failed.reason = Reason::connection_lost;
  }
  return failed;
}

bool never_connected(const HttpDone& done) {
  return done.failure &&
         (done.failure->kind == HttpFailure::Kind::could_not_connect ||
          done.failure->kind == HttpFailure::Kind::could_not_resolve ||
          done.failure->kind == HttpFailure::Kind::no_tls || done.failure->kind == HttpFailure::Kind::other);
}

}  // namespace sluice
