#include "coordinator/governor/permit_slots.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>

namespace sluice {

namespace {

double total(const wire::CallSize& size) {
  return static_cast<double>(size.input_tokens) + size.output_tokens;
}

/// Takes up the limit, or another rate of it. One that is learnt while calls are under way begins with an
/// empty bucket: what it has taken is not known.
template <class Paced, class... Level>
void follow(std::optional<Paced>& paced, const std::optional<PacedLimit>& limit, BootTime now,
            Level... level) {
  if (!limit) {
    paced.reset();
  } else if (!paced) {
    paced.emplace(limit->shape, now, level...);
  } else if (!(paced->shape() == limit->shape)) {
    paced->reshape(limit->shape, now);
  }
}

bool within(std::uint64_t tokens, std::uint64_t ceiling) {
  return ceiling == 0 || tokens <= ceiling;
}

std::uint64_t ceiling_of(const std::optional<PacedLimit>& limit) {
  return limit ? limit->ceiling : 0;
}

}  // namespace

PermitSlots::PermitSlots(const ProviderLimits& limits, BootTime now)
    : limits_(limits),
      rule_(slot_rule(limits)),
      ceiling_{ceiling_of(rule_.tokens), ceiling_of(rule_.input_tokens), ceiling_of(rule_.output_tokens)} {
  if (rule_.requests) requests_.emplace(rule_.requests->shape, now);
  follow(tokens_, rule_.tokens, now);
  follow(input_tokens_, rule_.input_tokens, now);
  follow(output_tokens_, rule_.output_tokens, now);
}

void PermitSlots::set_limits(const ProviderLimits& limits, BootTime now) {
  limits_ = limits;
  follow_rule(now);
}

void PermitSlots::set_conditions(const SlotConditions& conditions, BootTime now) {
  if (conditions == conditions_) return;
  const auto latest = rule_.lifetime + conditions_.variation;
  conditions_ = conditions;
  follow_rule(now);
  // Calls of the slots until now may come that much later or earlier than the new rule counts on.
  if (requests_) requests_->delay(std::chrono::abs(rule_.lifetime + conditions_.variation - latest));
}

void PermitSlots::follow_rule(BootTime now) {
  rule_ = slot_rule(limits_, conditions_);
  follow(requests_, rule_.requests, now, 0.0);
  follow(tokens_, rule_.tokens, now, 0.0);
  follow(input_tokens_, rule_.input_tokens, now, 0.0);
  follow(output_tokens_, rule_.output_tokens, now, 0.0);
}

void PermitSlots::set_found_rate(std::optional<double> per_second, std::optional<double> burst,
                                 BootTime now) {
  if (!per_second) return found_.reset();
  const auto shape = burst ? found_shape(*per_second, *burst, conditions_) : spaced_evenly(*per_second);
  if (!found_) {
    found_.emplace(shape, now, 0.0);
  } else if (!(found_->shape() == shape)) {
    found_->reshape(shape, now);
  }
}

bool PermitSlots::fits(const wire::CallSize& size) const {
  return within(std::uint64_t{size.input_tokens} + size.output_tokens, ceiling_.total_tokens) &&
         within(size.input_tokens, ceiling_.input_tokens) &&
         within(size.output_tokens, ceiling_.output_tokens);
}

BootTime PermitSlots::earliest(const wire::CallSize& size, BootTime from) {
  auto opens = from;
  if (requests_) opens = std::max(opens, requests_->earliest(1, from));
  if (found_) opens = std::max(opens, found_->earliest(1, from));
  if (tokens_) opens = std::max(opens, tokens_->earliest(total(size), from));
  if (input_tokens_) opens = std::max(opens, input_tokens_->earliest(size.input_tokens, from));
  if (output_tokens_) opens = std::max(opens, output_tokens_->earliest(size.output_tokens, from));
  return opens;
}

std::optional<Slot> PermitSlots::take(const wire::CallSize& size, BootTime from, BootTime horizon,
                                      BootTime now) {
  const auto again = std::ranges::find_if(returned_, [&](const Slot& slot) {
    return slot.closes - std::max(now, from) >= defaults::permit_regrant_min &&
           slot.size.input_tokens >= size.input_tokens && slot.size.output_tokens >= size.output_tokens;
  });
  if (again != returned_.end()) {
    const auto slot = *again;
    returned_.erase(again);
    return slot;
  }
  const auto opens = earliest(size, from);
  if (opens > horizon) return std::nullopt;
  const Slot slot{next_charge_++, opens, opens + rule_.lifetime, by_tokens() ? size : any_size};
  reserve(slot.charge, size, opens);
  if (records_use_) use_.emplace_back(SlotTaken{slot.charge, opens, by_tokens() ? size : wire::CallSize()});
  return slot;
}

void PermitSlots::reserve(std::uint64_t charge, const wire::CallSize& size, BootTime opens) {
  if (requests_) requests_->take(1, opens);
  if (found_) found_->take(1, opens);
  if (tokens_) tokens_->reserve(charge, total(size), opens);
  if (input_tokens_) input_tokens_->reserve(charge, size.input_tokens, opens);
  if (output_tokens_) output_tokens_->reserve(charge, size.output_tokens, opens);
}

void PermitSlots::reserve_foreign(std::uint64_t charge, const wire::CallSize& size, BootTime opens) {
  if (requests_) requests_->take_foreign(1, opens);
  if (found_) found_->take_foreign(1, opens);
  if (tokens_) tokens_->note_foreign(charge, total(size), opens);
  if (input_tokens_) input_tokens_->note_foreign(charge, size.input_tokens, opens);
  if (output_tokens_) output_tokens_->note_foreign(charge, size.output_tokens, opens);
}

void PermitSlots::give_back(const Slot& slot, BootTime now) {
  if (slot.closes - now >= defaults::permit_regrant_min) {
    returned_.push_back(slot);
  } else {
    settle_unused(slot);
  }
}

void PermitSlots::settle(std::uint64_t charge, const wire::CallSize& used) {
  settle_tokens(charge, used);
  if (records_use_ && by_tokens()) use_.emplace_back(ChargeSettled{charge, used});
}

void PermitSlots::settle_tokens(std::uint64_t charge, const wire::CallSize& used) {
  if (tokens_) tokens_->settle(charge, total(used));
  if (input_tokens_) input_tokens_->settle(charge, used.input_tokens);
  if (output_tokens_) output_tokens_->settle(charge, used.output_tokens);
}

void PermitSlots::tidy(BootTime before, BootTime now) {
  std::erase_if(returned_, [&](const Slot& slot) {
    const bool over = slot.closes - now < defaults::permit_regrant_min;
    if (over) settle_unused(slot);
    return over;
  });
  for (auto* ledger : {&tokens_, &input_tokens_, &output_tokens_}) {
    if (*ledger) (*ledger)->give_up(before);
  }
}

void PermitSlots::count(std::span<const ForeignUse> uses, std::optional<std::uint64_t> leader) {
  for (const auto& [run, use] : uses) {
    if (const auto* taken = std::get_if<SlotTaken>(&use)) {
      const std::uint64_t charge = next_charge_++;
      reserve_foreign(charge, taken->size, taken->opens);
      if (!by_tokens()) continue;
      foreign_[{run, taken->charge}] = charge;
      // Those whose runs are gone are settled by nobody.
      if (foreign_.size() > defaults::max_retained_charges) foreign_.erase(foreign_.begin());
    } else if (const auto* settled = std::get_if<ChargeSettled>(&use)) {
      const auto found = foreign_.find({run, settled->charge});
      if (found == foreign_.end()) continue;
      settle_tokens(found->second, settled->used);
      foreign_.erase(found);
    } else if (const auto* rate = std::get_if<RateFound>(&use)) {
      // Each run began its bucket at another moment: the one ahead would have every slot.
      if (found_ && run == leader) found_->set_level(rate->level, rate->at);
    }
  }
}

void PermitSlots::restart(BootTime at, BucketLevel level) {
  const auto begin = [&](auto& limit) {
    if (!limit) return;
    const auto shape = limit->shape();
    limit.emplace(shape, at, level == BucketLevel::full ? shape.capacity : 0.0);
  };
  begin(requests_);
  begin(tokens_);
  begin(input_tokens_);
  begin(output_tokens_);
}

}  // namespace sluice
