#include "worker/http/answer_pacing.hpp"

#include "common/defaults.hpp"

#include <algorithm>

namespace sluice {

void AnswerPacing::answered(std::chrono::microseconds elapsed) {
  // Down at once and up slowly: where fast and slow providers are called side by side, the fast ones' calls
  // are the ones that a pause would hold up.
  constexpr int smoothing = 8;
  latency_ = elapsed < latency_ ? elapsed : latency_ + (elapsed - latency_) / smoothing;
}

std::chrono::microseconds AnswerPacing::pause(std::size_t in_flight) const {
  if (in_flight == 0) return {};
  const auto share = latency_ / defaults::answer_pause_share;
  if (share < defaults::min_answer_pause) return {};
  return std::min<std::chrono::microseconds>(share, defaults::max_answer_pause);
}

}  // namespace sluice
