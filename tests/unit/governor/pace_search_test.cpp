#include "coordinator/governor/pace_search.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::pace_search_test {

using namespace std::chrono_literals;

constexpr BootTime start = std::chrono::hours(1);
constexpr BootTime step = 1ms;

/// A strict bucket, and calls at the pace that is searched for, each refused at once or answered.
class Bucket {
 public:
  Bucket(double rate, double size, double pace) : rate(rate), size_(size), search_(pace, start) {}

  void run(BootTime time) {
    for (const auto until = now_ + time; now_ < until; now_ += step) {
      level_ = std::min(size_, level_ + rate * 1e-3);
      search_.grow(1e-3, now_);
      if (now_ < search_.hold_until()) continue;
      owed_ = std::min(1.0, owed_ + search_.pace() * 1e-3);
      if (owed_ < 1) continue;
      owed_ -= 1;
      search_.on_started(1, now_);
      if (level_ >= 1 && !is_closed) {
        level_ -= 1;
        ++answered;
      } else {
        ++refused;
        search_.on_refused(1, 0, 60ms, now_);
      }
    }
  }
  const PaceSearch& search() const { return search_; }

  double rate;
  bool is_closed = false;
  int answered = 0;
  int refused = 0;

 private:
  double size_;
  PaceSearch search_;
  double level_ = 0;
  double owed_ = 0;
  BootTime now_ = start;
};

TEST(PaceSearch, UsesABucketWithFewRefusals) {
  for (const double rate : {5.0, 20.0, 100.0, 400.0}) {
    for (const double size : {2.0, 10.0, rate}) {
      for (const double first : {0.6, 1.0, 8.0}) {
        SCOPED_TRACE(testing::Message() << rate << " a second, bucket " << size << ", from " << first);
        Bucket bucket(rate, size, first * rate);
        bucket.run(60s);
        // A bucket that runs over in the hold after a refusal loses what came in.
        EXPECT_GE(bucket.answered, (size < 0.06 * rate ? 0.7 : 0.85) * 60 * rate);
        EXPECT_LE(bucket.refused, 15 + 0.03 * bucket.answered);
      }
    }
  }
}

TEST(PaceSearch, FollowsALimitThatChanges) {
  Bucket bucket(100, 10, 100);
  bucket.run(20s);
  for (const double rate : {50.0, 200.0}) {
    bucket.rate = rate;
    bucket.run(20s);
    bucket.answered = bucket.refused = 0;
    bucket.run(20s);
    EXPECT_GE(bucket.answered, 0.8 * 20 * rate) << rate;
    EXPECT_LE(bucket.refused, 0.04 * bucket.answered) << rate;
  }
}

// Nothing is answered for a while, at whatever pace: few calls ask, and the pace is what it was.
TEST(PaceSearch, AClosedWindowSaysNothingOfThePace) {
  Bucket bucket(100, 10, 100);
  bucket.run(10s);
  const double before = bucket.search().pace();
  bucket.is_closed = true;
  bucket.refused = 0;
  bucket.run(20s);
  EXPECT_LE(bucket.refused, 30) << "one a second at last";
  bucket.is_closed = false;
  bucket.answered = 0;
  bucket.run(5s);
  EXPECT_GE(bucket.answered, 5 * 0.6 * before);
}

TEST(PaceSearch, RefusalsOfCallsThatBeganBesideOneAreNoNewOnes) {
  PaceSearch search(100, start);
  search.on_started(50, start);
  EXPECT_TRUE(search.on_refused(1, 0, 60ms, start + 100ms));
  const double pace = search.pace();
  EXPECT_FALSE(search.on_refused(5, 0, 60ms, start + 110ms)) << "in the hold";
  EXPECT_FALSE(search.on_refused(0, 5, 60ms, start + 190ms)) << "late";
  EXPECT_EQ(search.pace(), pace);
}

}  // namespace sluice::pace_search_test
