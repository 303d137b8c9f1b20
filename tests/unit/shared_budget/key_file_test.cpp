#include "coordinator/shared_budget/key_file.hpp"

#include "coordinator/shared_budget/defaults.hpp"
#include "tests/support/temporary_folder.hpp"

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::key_file_test {

using namespace std::chrono_literals;

constexpr BootTime now = 5h;
constexpr BootTime patience = 2min;

using Calls = KeyFile::Calls;

KeyUse slot(std::uint64_t charge, BootTime opens = now) {
  return SlotTaken{charge, opens, {100, 20}};
}

class KeyFileTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "keys" / "one.key"; }
  KeyFile open() const {
    auto file = KeyFile::open(path());
    EXPECT_TRUE(file) << file.error().message;
    return std::move(*file);
  }
  /// One turn: what others did, and what it does.
  static KeyFile::News turn(KeyFile& file, const std::vector<KeyUse>& uses = {}, KeyPlaces places = {},
                            BootTime at = now, Calls calls = Calls::may_outlive) {
    const auto locked = file.lock();
    EXPECT_TRUE(locked && *locked);
    auto news = file.read(at, patience);
    EXPECT_TRUE(news) << news.error().message;
    EXPECT_TRUE(file.write(uses, places, calls, at));
    return news ? *news : KeyFile::News();
  }
  /// What a run finds that comes when all those that are there have died: a copy has none of their locks.
  OtherPlaces left_by_the_dead() const {
    const auto copy = folder_.path() / "copy.key";
    std::filesystem::copy_file(path(), copy, std::filesystem::copy_options::overwrite_existing);
    auto file = KeyFile::open(copy);
    EXPECT_TRUE(file) << file.error().message;
    return file ? turn(*file).others : OtherPlaces();
  }
  static std::vector<KeyUse> uses_in(const KeyFile::News& news) {
    std::vector<KeyUse> uses;
    for (const ForeignUse& one : news.uses) uses.push_back(one.use);
    return uses;
  }
  void overwrite(std::streamoff at, const std::string& bytes) const {
    std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(at);
    file << bytes;
  }

  support::TemporaryFolder folder_;
};

TEST_F(KeyFileTest, TellsEachRunWhatTheOthersDidInItsOrder) {
  KeyFile a = open();
  KeyFile b = open();
  KeyFile c = open();
  turn(a, {slot(1), ChargeSettled{1, {7, 8}}});
  EXPECT_EQ(uses_in(turn(b, {slot(1, now + 1ms)})), (std::vector<KeyUse>{slot(1), ChargeSettled{1, {7, 8}}}));
  const auto of_c = turn(c, {DelayNamed{now + 5s}});
  ASSERT_EQ(of_c.uses.size(), 3u);
  EXPECT_EQ(of_c.uses[2].use, slot(1, now + 1ms));
  EXPECT_NE(of_c.uses[0].run, of_c.uses[2].run) << "else their charges would be one";
  EXPECT_EQ(uses_in(turn(a)), (std::vector<KeyUse>{slot(1, now + 1ms), DelayNamed{now + 5s}}));
  EXPECT_TRUE(turn(a).uses.empty()) << "once";
}

TEST_F(KeyFileTest, TellsWhatASearchForARateHasSeenAndFound) {
  KeyFile a = open();
  KeyFile b = open();
  constexpr std::uint32_t most = (1u << 29) - 1;
  const CallsSeen seen{70'000, 3, 2, true, false, true, false, true, now - 120ms, now};
  const CallsSeen closed{0xffffffff, most, most, false, true, false, true, false, now, now + 1ms};
  const RateFound bucket{8.25, 7.5, 2.5, -3.5, now};
  const RateFound pace{1e6, std::nullopt, std::nullopt, 0, now};
  const std::vector<KeyUse> told{seen, closed, bucket, pace};
  turn(a, told);
  EXPECT_EQ(uses_in(turn(b)), told);
  const auto nobody_finds = [](double rate, double level, BootTime at) {
    return RateFound{rate, std::nullopt, std::nullopt, level, at};
  };
  turn(a, {nobody_finds(0, 0, now), nobody_finds(2e6, 0, now), nobody_finds(std::nan(""), 0, now),
           nobody_finds(1, std::nan(""), now), nobody_finds(1, -1e9, now), nobody_finds(1, 0, now + 1h)});
  EXPECT_TRUE(turn(b).uses.empty());
}

TEST_F(KeyFileTest, ShowsTheOtherRunsThatAreThere) {
  KeyFile a = open();
  {
    KeyFile b = open();
    turn(b, {}, {3, 9});
    EXPECT_EQ(turn(a).others, (OtherPlaces{{{3, 9}}, 0, {2}}));
    turn(a, {}, {1, 1});
    EXPECT_EQ(turn(b).others, (OtherPlaces{{{1, 1}}, 1, {1}}));
  }
  EXPECT_TRUE(turn(a).others.places.empty()) << "its run has ended";
}

TEST_F(KeyFileTest, ARunThatHasNoTurnForLongHasNoPlaces) {
  KeyFile a = open();
  KeyFile b = open();
  turn(b, {}, {3, 9});
  EXPECT_EQ(turn(a, {}, {}, now + patience).others.places.size(), 1u);
  const auto later = turn(a, {}, {}, now + patience + 1s);
  EXPECT_TRUE(later.others.places.empty());
  EXPECT_EQ(later.others.living.size(), 1u) << "it may go on";
}

TEST_F(KeyFileTest, MovesWithItsEntry) {
  KeyFile a = open();
  KeyFile b = open();
  KeyFile c = open();
  turn(b, {}, {2, 2});
  turn(c, {}, {3, 3});
  b = std::move(c);
  turn(b, {slot(7)}, {3, 3});
  EXPECT_EQ(uses_in(turn(a)), (std::vector<KeyUse>{slot(7)}));
}

TEST_F(KeyFileTest, ThatWasRemovedIsNotUsedAnyMore) {
  KeyFile a = open();
  std::filesystem::remove(path());
  ASSERT_TRUE(*a.lock());
  const auto news = a.read(now, patience);
  ASSERT_FALSE(news);
  EXPECT_NE(news.error().message.find("was removed"), std::string::npos) << news.error().message;
}

TEST_F(KeyFileTest, ARunThatComesLaterReadsWhatWasDoneBefore) {
  {
    KeyFile a = open();
    turn(a, {slot(1), slot(2)});
  }
  KeyFile b = open();
  const auto news = turn(b);
  EXPECT_EQ(uses_in(news), (std::vector<KeyUse>{slot(1), slot(2)}));
  EXPECT_FALSE(news.is_cut);
}

TEST_F(KeyFileTest, SaysWhereItReachesNoFartherBack) {
  KeyFile a = open();
  KeyFile b = open();
  std::vector<KeyUse> many;
  for (std::uint64_t i = 1; i <= defaults::key_records + 5; ++i) many.push_back(slot(i));
  turn(a, many);
  const auto news = turn(b);
  EXPECT_TRUE(news.is_cut);
  ASSERT_EQ(news.uses.size(), defaults::key_records);
  EXPECT_EQ(news.uses.front().use, slot(6));
  EXPECT_EQ(news.uses.back().use, slot(defaults::key_records + 5));
  turn(a, {slot(1)});
  const auto next = turn(b);
  EXPECT_FALSE(next.is_cut);
  EXPECT_EQ(uses_in(next), (std::vector<KeyUse>{slot(1)}));
}

TEST_F(KeyFileTest, IsLockedByOneAtATime) {
  KeyFile a = open();
  KeyFile b = open();
  ASSERT_TRUE(*a.lock());
  const auto second = b.lock();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_FALSE(*second);
  a.unlock();
  EXPECT_TRUE(*b.lock());
}

TEST_F(KeyFileTest, AProcessThatDiesLocksNothingAndItsCallsCountForAWhile) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto file = KeyFile::open(path());
    const std::array<KeyUse, 1> uses{slot(4)};
    if (!file || !*file->lock() || !file->read(now, patience) ||
        !file->write(uses, {2, 5}, Calls::may_outlive, now) || !*file->lock())
      ::_exit(1);
    ::_exit(0);  // With the lock.
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  KeyFile a = open();
  const auto news = turn(a);
  EXPECT_EQ(news.others, (OtherPlaces{{{2, 0}}, 1, {}, 2, now + patience})) << "its calls may be under way";
  EXPECT_EQ(uses_in(news), (std::vector<KeyUse>{slot(4)}));
  EXPECT_TRUE(turn(a, {}, {}, now + patience + 1s).others.places.empty());
}

TEST_F(KeyFileTest, CallsThatEndWithTheirProcessLeaveNoPlaces) {
  constexpr KeyPlaces places{2, 5};
  KeyFile a = open();
  KeyFile b = open();
  turn(a, {}, places, now, Calls::end_with_process);
  EXPECT_EQ(turn(b).others, (OtherPlaces{{places}, 1, {1}})) << "it lives";
  EXPECT_EQ(left_by_the_dead(), (OtherPlaces{{KeyPlaces()}, 1, {}})) << "nothing but b, which has none";
  turn(a, {}, places, now, Calls::may_outlive);
  EXPECT_EQ(left_by_the_dead().left_behind, 2u) << "a worker of another process has come";
}

TEST_F(KeyFileTest, WhatARunSaysOfItsCallsHoldsForNoOtherRun) {
  {
    KeyFile before = open();
    turn(before, {}, {2, 2}, now, Calls::end_with_process);
  }
  KeyFile a = open();  // In the same place.
  // What a version of sluice writes that says nothing of it: its places and nothing else.
  constexpr std::streamoff own_places = 24 + 8;
  overwrite(own_places, std::string("\3\0\0\0\3\0\0\0", 8));
  overwrite(own_places + 8, std::string(reinterpret_cast<const char*>(&now), sizeof now));
  EXPECT_EQ(left_by_the_dead().left_behind, 3u);
}

TEST_F(KeyFileTest, HoldsSoManyRunsAndNamesTheLimit) {
  std::vector<KeyFile> files;
  for (std::size_t i = 0; i < defaults::max_runs_of_key; ++i) files.push_back(open());
  const auto refused = KeyFile::open(path());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("has 64 runs already"), std::string::npos)
      << refused.error().message;
  files.pop_back();
  EXPECT_TRUE(KeyFile::open(path()));
}

TEST_F(KeyFileTest, LeavesAFileOfSomethingElseAlone) {
  std::filesystem::create_directories(path().parent_path());
  std::ofstream(path()) << "notes";
  const auto refused = KeyFile::open(path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::output_failed);
  EXPECT_NE(refused.error().message.find("one.key"), std::string::npos) << refused.error().message;
  std::ifstream in(path());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "notes");
}

TEST_F(KeyFileTest, CountsNoRecordThatNoRunWrote) {
  KeyFile a = open();
  KeyFile b = open();
  turn(a, {slot(1), slot(2), slot(3)});
  constexpr std::streamoff records = 4096;
  constexpr std::streamoff size = 48;
  overwrite(records, std::string(8, '\x7f'));                       // The number of the first.
  overwrite(records + size + 24, std::string(7, '\xff') + "\x7f");  // The time of the second: years ahead.
  EXPECT_EQ(uses_in(turn(b)), (std::vector<KeyUse>{slot(3)}));
}

TEST_F(KeyFileTest, ThatWasEmptiedIsNotUsedAnyMore) {
  KeyFile a = open();
  KeyFile b = open();
  turn(a, {slot(1)});
  std::filesystem::resize_file(path(), 0);
  ASSERT_TRUE(*b.lock());
  const auto news = b.read(now, patience);
  ASSERT_FALSE(news);
  EXPECT_NE(news.error().message.find("is cut off"), std::string::npos) << news.error().message;
}

}  // namespace sluice::key_file_test
