#include "worker/budget/permit_book.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace permit_book_test {

using namespace std::chrono_literals;
using Spent = std::vector<wire::SpentPermit>;

/// A worker whose clock is the coordinator's, as it knows from a quick exchange at 10 s.
class PermitBookTest : public testing::Test {
 protected:
  PermitBookTest() { clock.on_grants(10s, 10s, 10s); }

  static wire::Permit permit(std::uint64_t id, BootTime opens, BootTime closes, wire::CallSize size = {},
                             bool probe = false) {
    return {id, static_cast<std::uint64_t>(opens.count()), static_cast<std::uint64_t>(closes.count()), size,
            probe};
  }
  std::uint64_t take(BootTime now, wire::CallSize size = {}, bool probes_only = false) {
    const auto taken = book.take(size, probes_only, clock, now);
    return taken ? taken->permit.id : 0;
  }

  ClockBounds clock;
  PermitBook book;
};

TEST_F(PermitBookTest, APermitIsForItsWindow) {
  book.grant(permit(1, 10s + 20ms, 10s + 80ms));
  EXPECT_EQ(take(10s), 0u);
  EXPECT_EQ(take(10s + 20ms), 0u) << "the other's clock may be a little behind";
  EXPECT_EQ(book.next_change(clock, 10s + 19ms), 10s + 20ms + 6us);
  EXPECT_EQ(take(10s + 21ms), 1u);
  EXPECT_EQ(take(10s + 21ms), 0u) << "once";
  EXPECT_EQ(book.take_spent(), (Spent{{1, true}}));
  EXPECT_EQ(book.take_spent(), Spent{});
}

TEST_F(PermitBookTest, WhatHasClosedIsGivenBack) {
  book.grant(permit(1, 10s, 10s + 50ms));
  book.grant(permit(2, 10s, 10s + 90ms));
  const auto closed = book.next_change(clock, 10s + 20ms);
  ASSERT_TRUE(closed);
  EXPECT_GT(*closed, 10s + 49ms);
  EXPECT_LE(*closed, 10s + 50ms);
  EXPECT_EQ(take(*closed), 2u);
  book.drop_closed(clock, *closed);
  EXPECT_EQ(book.take_spent(), (Spent{{2, true}, {1, false}}));
  EXPECT_EQ(book.held(), 0u);
  EXPECT_FALSE(book.next_change(clock, *closed));
}

TEST_F(PermitBookTest, TheOneThatClosesFirstGoesFirst) {
  book.grant(permit(1, 10s, 10s + 90ms));
  book.grant(permit(2, 10s, 10s + 50ms));
  EXPECT_EQ(take(10s + 10ms), 2u);
  EXPECT_EQ(take(10s + 10ms), 1u);
}

TEST_F(PermitBookTest, ACallIsNeverLargerThanItsPermit) {
  book.grant(permit(1, 10s, 11s, {100, 50}));
  book.grant(permit(2, 10s, 12s, {200, 50}));
  EXPECT_EQ(take(10s + 1ms, {100, 51}), 0u);
  EXPECT_EQ(take(10s + 1ms, {101, 50}), 2u);
  EXPECT_EQ(take(10s + 1ms, {100, 50}), 1u);
  book.grant(permit(3, 10s, 12s));
  EXPECT_EQ(take(10s + 1ms, {100'000, 100'000}), 3u) << "without a size it is for any";
}

TEST_F(PermitBookTest, TheOneOfExactlyItsSizeGoesBeforeALargerOne) {
  book.grant(permit(1, 10s, 11s, {200, 50}));
  book.grant(permit(2, 10s, 12s, {100, 50}));
  EXPECT_EQ(take(10s + 1ms, {100, 50}), 2u);
  EXPECT_EQ(take(10s + 1ms, {200, 50}), 1u);
  book.grant(permit(3, 10s, 11s, {200, 50}));
  book.grant(permit(4, 10s, 12s, {100, 50}));
  const std::vector<wire::CallSize> ready{{100, 50}, {200, 50}};
  book.keep_for(ready);
  EXPECT_EQ(book.held(), 2u) << "one for each";
}

TEST_F(PermitBookTest, OnlyProbesStartWhileProbesAreWanted) {
  book.grant(permit(1, 10s, 11s));
  book.grant(permit(2, 10s, 12s, {}, true));
  EXPECT_EQ(take(10s + 1ms, {}, true), 2u);
  EXPECT_EQ(take(10s + 1ms, {}, true), 0u);
}

TEST_F(PermitBookTest, WhatNoCallNeedsIsGivenBack) {
  for (std::uint64_t id = 1; id <= 3; ++id)
    book.grant(permit(id, 10s, 10s + id * 100ms, {100 * static_cast<std::uint32_t>(id), 0}));
  const std::vector<wire::CallSize> ready{{250, 0}, {50, 0}};
  book.keep_for(ready);
  EXPECT_EQ(book.take_spent(), (Spent{{2, false}}));
  EXPECT_EQ(book.held(), 2u);
  book.keep_for({});
  EXPECT_EQ(book.held(), 0u);
}

TEST_F(PermitBookTest, WhatIsForgottenIsNeitherUsedNorReported) {
  book.grant(permit(1, 10s, 11s));
  EXPECT_EQ(take(10s + 1ms), 1u);
  book.grant(permit(2, 10s, 11s));
  book.forget();
  EXPECT_EQ(take(10s + 1ms), 0u);
  EXPECT_EQ(book.take_spent(), Spent{});
}

TEST_F(PermitBookTest, WithoutTheCoordinatorsTimeNothingStarts) {
  PermitBook other;
  other.grant(permit(1, 0s, 1000h));
  const ClockBounds unknown;
  EXPECT_FALSE(other.take({}, false, unknown, 10s));
  EXPECT_FALSE(other.next_change(unknown, 10s));
  other.drop_closed(unknown, 10s);
  EXPECT_EQ(other.held(), 1u);
}

/// GRANTS on their way to the worker.
struct Message {
  BootTime arrives{};
  BootTime sent{};
  std::optional<BootTime> echo;
  std::vector<wire::Permit> permits;
};

// The coordinator's clock is the world's; the worker's has an offset and runs fast or slow. Messages take any
// time and overtake each other. Whatever happens, a call starts within its permit's window in the
// coordinator's time, and each permit that came is spent once, or still held.
RC_GTEST_PROP(PermitBookProperty, WindowsAreKeptAndEachPermitIsReportedOnce, ()) {
  const auto offset = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
  const auto ppm = *rc::gen::inRange<std::int64_t>(-190, 191);
  const auto own = [&](BootTime world) {
    return BootTime(offset + world.count() + world.count() * ppm / 1'000'000);
  };
  const auto delay = [] {
    return BootTime(*rc::gen::weightedOneOf<std::int64_t>(
        {{8, rc::gen::inRange<std::int64_t>(0, 3'000)}, {1, rc::gen::inRange<std::int64_t>(0, 400'000)}}));
  };
  ClockBounds clock;
  PermitBook book;
  BootTime now(5'000'000);
  std::vector<Message> on_the_way;
  std::map<std::uint64_t, wire::Permit> arrived;
  std::map<std::uint64_t, int> reported;
  std::uint64_t next_id = 1;
  std::optional<BootTime> echoed;  // What the coordinator received last was sent then, on the worker's clock.
  const auto receive_arrivals = [&] {
    std::ranges::stable_sort(on_the_way, {}, &Message::arrives);
    while (!on_the_way.empty() && on_the_way.front().arrives <= now) {
      const auto message = on_the_way.front();
      on_the_way.erase(on_the_way.begin());
      clock.on_grants(message.sent, message.echo, own(now));
      for (const auto& permit : message.permits) {
        book.grant(permit);
        arrived.emplace(permit.id, permit);
      }
    }
  };
  const auto take_reported = [&] {
    for (const auto& spent : book.take_spent()) {
      RC_ASSERT(arrived.contains(spent.id));
      ++reported[spent.id];
    }
  };
  const auto steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    now += BootTime(*rc::gen::inRange<std::int64_t>(0, 30'000));
    receive_arrivals();
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
      case 1: {  // A heartbeat goes there and GRANTS come back.
        const auto sent_at = own(now);
        const auto there = now + delay();
        echoed = std::max(echoed.value_or(sent_at), sent_at);
        Message message{there + delay(), there, echoed, {}};
        for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
          const auto opens = there + BootTime(*rc::gen::inRange<std::int64_t>(-20'000, 60'000));
          const auto closes = opens + BootTime(*rc::gen::inRange<std::int64_t>(0, 100'000));
          message.permits.push_back({next_id++,
                                     static_cast<std::uint64_t>(opens.count()),
                                     static_cast<std::uint64_t>(closes.count()),
                                     {},
                                     false});
        }
        on_the_way.push_back(std::move(message));
        break;
      }
      case 2:
      case 3:
        if (const auto taken = book.take({}, false, clock, own(now))) {
          RC_ASSERT(own(now) >= taken->own_window.from && own(now) <= taken->own_window.to);
          // The clock rounds its own time; a microsecond of it is not the book's.
          RC_ASSERT(now.count() + 1 >= static_cast<std::int64_t>(taken->permit.opens_us));
          RC_ASSERT(now.count() - 1 <= static_cast<std::int64_t>(taken->permit.closes_us));
        }
        break;
      default:
        book.drop_closed(clock, own(now));
    }
    take_reported();
  }
  // In the end nothing is held back: what was not used is reported once its window is over.
  now += 10s;
  receive_arrivals();
  const bool knows_the_time = clock.at(own(now)).has_value();
  book.drop_closed(clock, own(now));
  take_reported();
  if (knows_the_time) RC_ASSERT(book.held() == 0u);
  RC_ASSERT(reported.size() + book.held() == arrived.size());
  for (const auto& [id, times] : reported) RC_ASSERT(times == 1);
}

// A quick exchange leaves nearly the whole window to the calls.
RC_GTEST_PROP(PermitBookProperty, CapacityIsNotHeldBack, ()) {
  const auto offset = BootTime(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000));
  const auto trip = BootTime(*rc::gen::inRange<std::int64_t>(0, 2'000));
  const auto opens = 60s + BootTime(*rc::gen::inRange<std::int64_t>(0, 1'000'000));
  const auto lifetime = BootTime(*rc::gen::inRange<std::int64_t>(10'000, 100'000));
  ClockBounds clock;
  clock.on_grants(60s + trip / 2, 60s + offset, 60s + trip + offset);
  PermitBook book;
  book.grant({1,
              static_cast<std::uint64_t>(opens.count()),
              static_cast<std::uint64_t>((opens + lifetime).count()),
              {},
              false});
  // Usable for all of its window but the trip's uncertainty and 200 ppm of the second since.
  const auto slack = trip + 250us;
  RC_PRE(2 * slack < lifetime);
  const auto at =
      opens + slack + BootTime(*rc::gen::inRange<std::int64_t>(0, (lifetime - 2 * slack).count() + 1));
  RC_ASSERT(book.take({}, false, clock, at + offset).has_value());
}

}  // namespace permit_book_test
}  // namespace sluice
