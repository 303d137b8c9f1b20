#include "common/wire/layout.hpp"

namespace sluice::wire {

template <>
bool is_known(AckCode value) {
  return value >= AckCode::committed && value <= AckCode::retry;
}

template <>
bool is_known(RejectCode value) {
  return value >= RejectCode::malformed && value <= RejectCode::not_taken;
}

template <>
bool is_known(HoldReason value) {
  return value <= HoldReason::given_up;
}

template <>
bool is_known(EntryKind value) {
  return value == EntryKind::answer || is_leased(value);  // A live run asks for refusals again.
}

}  // namespace sluice::wire
