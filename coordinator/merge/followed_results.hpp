#pragma once

#include "coordinator/facts/committed_results.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

namespace sluice {

/// Tells those who follow a run that no more results come. Thread-safe.
class RunOver {
 public:
  void tell();
  /// The same where nobody wants the results any more.
  void give_up();
  /// Waits so long at most; whether the run is over.
  bool wait_for(std::chrono::milliseconds most) const;
  bool is_given_up() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable told_;
  bool is_over_ = false;
  bool is_given_up_ = false;
};

/// The results of a run that goes on: a visit takes each in plan order as soon as it and all before it are
/// committed, and once the run is over those that are there, past the gaps. A read that fails while the run
/// goes on is tried again at its end. A run that is given up fails the visit. For one thread; what it is made
/// of must outlive it.
class FollowedResults final : public ResultSource {
 public:
  /// Visits the committed trials from `first` on up to the first that is missing, and returns that one.
  using VisitConsecutive = std::function<Result<TrialId>(TrialId first, const VisitTrial&)>;

  FollowedResults(const ResultSource& committed, VisitConsecutive consecutive, const RunOver& over)
      : committed_(committed), consecutive_(std::move(consecutive)), over_(over) {}

  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override;

 private:
  const ResultSource& committed_;
  VisitConsecutive consecutive_;
  const RunOver& over_;
};

}  // namespace sluice
