#include "worker/coordinator_contact.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::coordinator_contact_test {

using namespace std::chrono_literals;

constexpr TimePoint start{1h};

TEST(CoordinatorContact, IsThereFromTheFirstWordOn) {
  CoordinatorContact contact(start);
  EXPECT_FALSE(contact.connected());
  EXPECT_TRUE(contact.on_message(start + 1s));
  EXPECT_FALSE(contact.on_message(start + 2s)) << "it was there";
  EXPECT_TRUE(contact.connected());
}

TEST(CoordinatorContact, IsLostOnceAfterThreeSilentBeats) {
  CoordinatorContact contact(start);
  contact.on_message(start);
  for (int second = 1; second <= 3; ++second) {
    EXPECT_FALSE(contact.beat(start + second * 1s, 1s).just_silent) << second;
  }
  const auto fourth = contact.beat(start + 4s, 1s);
  EXPECT_TRUE(fourth.just_silent);
  EXPECT_EQ(fourth.silence, 4s);
  EXPECT_FALSE(contact.connected());
  EXPECT_FALSE(contact.beat(start + 5s, 1s).just_silent) << "that is known";
  EXPECT_TRUE(contact.on_message(start + 5s)) << "it is back";
}

// A worker with a wrong address used to say nothing until it gave up.
TEST(CoordinatorContact, AFirstWordThatDoesNotComeIsNoticedOnce) {
  CoordinatorContact contact(start);
  std::vector<int> noticed;
  for (int second = 1; second <= 12; ++second) {
    if (contact.beat(start + second * 1s, 1s).just_silent) noticed.push_back(second);
  }
  EXPECT_EQ(noticed, std::vector{4});
}

TEST(CoordinatorContact, ReconnectsNowAndThenWhileItIsSilent) {
  CoordinatorContact contact(start);
  std::vector<int> reconnected;
  for (int second = 1; second <= 12; ++second) {
    if (contact.beat(start + second * 1s, 1s).reconnect) reconnected.push_back(second);
  }
  EXPECT_EQ(reconnected, (std::vector{4, 8, 12}));
  EXPECT_FALSE(contact.connected()) << "nothing ever came from it";
}

TEST(CoordinatorContact, AWorkerThatWasStoppedItselfListensFirst) {
  CoordinatorContact contact(start);
  contact.on_message(start);
  contact.beat(start + 1s, 1s);
  const auto after_a_sleep = contact.beat(start + 1h, 1s);
  EXPECT_FALSE(after_a_sleep.just_silent);
  EXPECT_EQ(after_a_sleep.silence, 0s);
  EXPECT_TRUE(contact.connected());
  EXPECT_FALSE(contact.beat(start + 1h + 3s, 1s).just_silent) << "late again";
  contact.beat(start + 1h + 4s, 1s);
  contact.beat(start + 1h + 5s, 1s);
  contact.beat(start + 1h + 6s, 1s);
  EXPECT_TRUE(contact.beat(start + 1h + 7s, 1s).just_silent);
}

TEST(CoordinatorContact, AHelloIsAnsweredByOneWelcome) {
  CoordinatorContact contact(start);
  EXPECT_FALSE(contact.on_welcome()) << "nobody asked for it";
  contact.on_hello_sent(start);
  EXPECT_TRUE(contact.on_welcome());
  EXPECT_FALSE(contact.on_welcome()) << "the answer to a HELLO that was sent twice";
}

TEST(CoordinatorContact, AHelloThatIsOnItsWayIsNotRepeatedForAnInterval) {
  CoordinatorContact contact(start);
  EXPECT_TRUE(contact.needs_hello(start, 1s)) << "none is on its way";
  contact.on_hello_sent(start);
  EXPECT_FALSE(contact.needs_hello(start + 999ms, 1s));
  EXPECT_TRUE(contact.needs_hello(start + 1s, 1s)) << "it may be lost";
  contact.on_hello_sent(start + 1s);
  contact.on_welcome();
  EXPECT_TRUE(contact.needs_hello(start + 1s, 1s)) << "the coordinator has forgotten it since";
}

}  // namespace sluice::coordinator_contact_test
