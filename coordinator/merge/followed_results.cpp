#include "coordinator/merge/followed_results.hpp"

#include <algorithm>

namespace sluice {
namespace {

using namespace std::chrono_literals;

/// What is left when the run is over is waited for: a quick run leaves so much of its results.
constexpr std::chrono::milliseconds shortest_pause = 20ms;
/// A slow run leaves few results all the same, and each look at them costs a query.
constexpr std::chrono::milliseconds longest_pause = 500ms;
constexpr TrialId results_of_quick_run = 20;  ///< Between two looks.

}  // namespace

void RunOver::tell() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  told_.notify_all();
}

void RunOver::give_up() {
  const std::lock_guard lock(mutex_);
  is_over_ = is_given_up_ = true;
  told_.notify_all();
}

bool RunOver::is_given_up() const {
  const std::lock_guard lock(mutex_);
  return is_given_up_;
}

bool RunOver::wait_for(std::chrono::milliseconds most) const {
  std::unique_lock lock(mutex_);
  return told_.wait_for(lock, most, [this] { return is_over_; });
}

Result<void> FollowedResults::visit_from(TrialId first, const VisitTrial& visit) const {
  TrialId next = first;
  const VisitTrial count = [&](const CommittedTrial& trial) {
    next = trial.trial + 1;
    visit(trial);
  };
  auto pause = shortest_pause;
  while (!over_.wait_for(pause)) {
    const TrialId before = next;
    const bool is_read = consecutive_(next, count).has_value();
    const bool is_quick = is_read && next - before >= results_of_quick_run;
    pause = is_quick ? shortest_pause : std::min(2 * pause, longest_pause);
  }
  if (over_.is_given_up()) return fail(Reason::internal_error, "the run is not reported");
  return committed_.visit_from(next, visit);
}

}  // namespace sluice
