#include "common/process/signals.hpp"

#include "common/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr SignalRequest::TimePoint start{1000s};

TEST(SignalRequest, TheFirstSignalAsksToStop) {
  SignalRequest request;
  EXPECT_EQ(request.take(start), SignalRequest::Meaning::stop);
}

// GNU timeout signals its child and then the child's process group, to which the child belongs.
TEST(SignalRequest, ASecondSignalAtOnceIsTheSameRequest) {
  SignalRequest request;
  request.take(start);
  EXPECT_EQ(request.take(start), SignalRequest::Meaning::repetition);
  EXPECT_EQ(request.take(start + 5ms), SignalRequest::Meaning::repetition);
  EXPECT_EQ(request.take(start + defaults::one_signal_request - 1ns), SignalRequest::Meaning::repetition);
}

TEST(SignalRequest, ALaterSignalInsists) {
  SignalRequest request;
  request.take(start);
  EXPECT_EQ(request.take(start + defaults::one_signal_request), SignalRequest::Meaning::insistence);
  EXPECT_EQ(request.take(start + 1h), SignalRequest::Meaning::insistence);
}

// Whoever presses the keys again and again gets through: only the first signal begins the time.
TEST(SignalRequest, RepetitionsDoNotPutOffTheInsistence) {
  SignalRequest request;
  request.take(start);
  request.take(start + defaults::one_signal_request * 3 / 5);
  EXPECT_EQ(request.take(start + defaults::one_signal_request * 6 / 5), SignalRequest::Meaning::insistence);
}

}  // namespace
}  // namespace sluice
