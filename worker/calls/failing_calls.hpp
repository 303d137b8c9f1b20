#pragma once

#include "common/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace sluice {

/// Tells apart what fails by itself from what a provider's outage may have failed. An outage fails all that
/// begins later: once a call that began after a failed try is answered after it, that try failed alone. Pure;
/// not thread-safe.
class FailingCalls {
 public:
  /// Numbers tries, and answers among them, in their order.
  using Instant = std::uint64_t;

  /// A try begins.
  Instant begin() { return ++clock_; }
  /// The try that began then was answered, be it with an error that is its own.
  void answered(Instant began, TimePoint now);
  /// A try of `call` has failed as an outage would have it. False if that says nothing of the provider.
  bool failed(const void* call, Instant began, TimePoint now);
  void ended(const void* call) { calls_.erase(call); }
  /// What was not seen to fail alone may have been the first of it, and so may what is under way.
  void outage_began();

  /// It fails while others are answered.
  bool fails_alone(const void* call) const;
  /// How many calls need not keep others from their turn, which show how the provider is: those that fail
  /// alone spend their own tries, and it takes a few more to see an outage, however few places there are.
  std::size_t leave_places() const;

 private:
  /// What a call's first failure was like.
  struct Failing {
    Instant began = 0;
    bool beside_answers = false;  ///< Others were answered while it was under way.
    bool alone = false;
  };

  static std::size_t failing_of_outage(std::size_t alone);
  bool may_be_outage() const;
  /// How many fail while others are answered.
  std::size_t alone() const;

  Instant clock_ = 0;
  Instant outage_at_ = 0;
  Instant last_answer_ = 0;
  Instant newest_answered_ = 0;  ///< When the newest try began of those that were answered
  TimePoint answered_at_{};      ///< then.
  std::unordered_map<const void*, Failing> calls_;
};

}  // namespace sluice
