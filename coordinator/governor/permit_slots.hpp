#pragma once

#include "common/defaults.hpp"
#include "common/wire/messages.hpp"
#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/key_use.hpp"
#include "coordinator/governor/slot_rule.hpp"
#include "coordinator/governor/token_ledger.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

/// A window in which one call of at most `size` may start; `charge` names it in the ledgers of tokens.
struct Slot {
  std::uint64_t charge = 0;
  BootTime opens{};
  BootTime closes{};
  wire::CallSize size;
};

/// The size of a slot where tokens are not limited: any call's.
inline constexpr wire::CallSize any_size{0xffffffff, 0xffffffff};

enum class BucketLevel : std::uint8_t { full, empty };

/// The slots of one provider: every limit that is known must admit a call at the time its slot opens. Slots
/// open in the order in which they are taken. Pure; not thread-safe.
class PermitSlots {
 public:
  PermitSlots(const ProviderLimits& limits, BootTime now);

  /// The rates in force; levels go on from where they are.
  void set_limits(const ProviderLimits& limits, BootTime now);
  /// What is known of the ways and the burst now; levels go on from where they are.
  void set_conditions(const SlotConditions& conditions, BootTime now);
  const SlotConditions& conditions() const { return conditions_; }
  /// Calls at once that the rate of requests counts on; 0 without one.
  double burst() const { return rule_.burst; }
  /// A rate besides, found by search, and its burst if that is known; nothing: none.
  void set_found_rate(std::optional<double> per_second, std::optional<double> burst, BootTime now);

  /// True if calls need permits at all.
  bool needed() const { return rule_.any() || found_; }
  /// How far ahead slots may be taken: no farther than need be where the rate is searched for, and may be
  /// cut, where tokens are limited, of which a call gives back what it did not use, or where other runs wait
  /// for them as well.
  BootTime lookahead() const {
    const bool limits_tokens = rule_.tokens || rule_.input_tokens || rule_.output_tokens;
    return found_ || limits_tokens || is_beside_others_ ? defaults::permit_lead : defaults::permit_lookahead;
  }
  bool by_tokens() const { return tokens_ || input_tokens_ || output_tokens_; }
  /// Of the limits that were there from the beginning, which the settings name. One that is learnt ends no
  /// call: what is larger than its bucket waits until that is full.
  const wire::CallCeiling& ceiling() const { return ceiling_; }
  /// False for a call that can never start.
  bool fits(const wire::CallSize& size) const;

  /// When the next slot for such a call opens, not before `from`.
  BootTime earliest(const wire::CallSize& size, BootTime from);
  /// A returned slot that is still open long enough at `now`, or else a new one if it opens by `horizon`.
  std::optional<Slot> take(const wire::CallSize& size, BootTime from, BootTime horizon, BootTime now);
  bool has_returned() const { return !returned_.empty(); }
  /// No call started on it. It can be taken again within its own window; nothing is credited back.
  void give_back(const Slot& slot, BootTime now);
  void settle(std::uint64_t charge, const wire::CallSize& used);
  /// Settles what can not be taken again, and forgets who has not settled since `before`.
  void tidy(BootTime before, BootTime now);

  /// What other runs with this key took since the last call, in the order in which it was taken: before
  /// anything else is taken here. `leader`: the run whose found rate is followed; its bucket is this one's.
  void count(std::span<const ForeignUse> uses, std::optional<std::uint64_t> leader = {});
  /// Of the bucket of a found rate: RateFound::level.
  double found_level(BootTime now) const { return found_ ? found_->level_then(now) : 0; }
  /// Other runs with this key are there.
  void set_beside_others(bool is_beside) { is_beside_others_ = is_beside; }
  /// Begins anew: every bucket is full or empty at `at`.
  void restart(BootTime at, BucketLevel level);
  /// What was taken and settled here since the last call, if `record_use` was called.
  std::vector<KeyUse> take_use() { return std::exchange(use_, {}); }
  void record_use(bool records) {
    records_use_ = records;
    use_.clear();
  }

 private:
  void settle_unused(const Slot& slot) { settle(slot.charge, {}); }
  void reserve(std::uint64_t charge, const wire::CallSize& size, BootTime opens);
  void reserve_foreign(std::uint64_t charge, const wire::CallSize& size, BootTime opens);
  void settle_tokens(std::uint64_t charge, const wire::CallSize& used);
  void follow_rule(BootTime now);

  ProviderLimits limits_;
  SlotConditions conditions_;
  SlotRule rule_;
  wire::CallCeiling ceiling_;
  std::optional<Bucket> requests_;
  std::optional<Bucket> found_;
  std::optional<TokenLedger> tokens_;
  std::optional<TokenLedger> input_tokens_;
  std::optional<TokenLedger> output_tokens_;
  std::vector<Slot> returned_;
  std::uint64_t next_charge_ = 1;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> foreign_;  ///< Charges here of others', by
                                                                              ///< run and their number there.
  std::vector<KeyUse> use_;
  bool records_use_ = false;
  bool is_beside_others_ = false;
};

}  // namespace sluice
