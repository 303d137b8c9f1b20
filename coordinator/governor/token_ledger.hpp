#pragma once

#include "coordinator/governor/bucket.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace sluice {

/// A bucket of tokens whose charges are reserved at an upper bound and settled later with what was really
/// used. Settling never adds to the level, since the provider's bucket may have been full meanwhile: the
/// retained charges are replayed. Charges before the oldest open one are folded into the bucket. Pure; not
/// thread-safe.
class TokenLedger {
 public:
  /// Full at `now`.
  TokenLedger(const Bucket::Shape& shape, BootTime now) : folded_(shape, now), newest_(shape, now) {}
  TokenLedger(const Bucket::Shape& shape, BootTime now, double level)
      : folded_(shape, now, level), newest_(shape, now, level) {}

  /// When `tokens` may be taken, not before `from`.
  BootTime earliest(double tokens, BootTime from);
  /// Takes them at `at`. Numbers of charges ascend, and so do their times.
  void reserve(std::uint64_t charge, double tokens, BootTime at);
  /// What another run took at `at`; numbered like a charge of this run.
  void note_foreign(std::uint64_t charge, double tokens, BootTime at);
  /// What the charge really was. An unknown number, or one that has been settled or given up, is ignored.
  void settle(std::uint64_t charge, double tokens);
  /// Charges before `before` stay as they were reserved.
  void give_up(BootTime before);
  void reshape(const Bucket::Shape& shape, BootTime now);

  std::size_t retained() const { return charges_.size(); }
  double level(BootTime at);
  const Bucket::Shape& shape() const { return newest_.shape(); }

 private:
  struct Charge {
    std::uint64_t id = 0;
    BootTime at{};
    double tokens = 0;
    bool settled = false;
    bool foreign = false;
  };

  static void take(Bucket& from, const Charge& charge) {
    charge.foreign ? from.take_foreign(charge.tokens, charge.at) : from.take(charge.tokens, charge.at);
  }
  void bound();

  void replay();

  Bucket folded_;               ///< After all charges that are not retained.
  std::deque<Charge> charges_;  ///< From the oldest open one on.
  Bucket newest_;               ///< After all charges, unless stale.
  bool stale_ = false;
};

}  // namespace sluice
