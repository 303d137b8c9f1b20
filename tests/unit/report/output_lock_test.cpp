#include "coordinator/output/output_lock.hpp"

#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

class OutputLocks : public ::testing::Test {
 protected:
  std::string file() const { return (folder_.path() / "new.jsonl").string(); }
  std::filesystem::path lock_file() const { return folder_.path() / ".new.jsonl.lock"; }

  support::TemporaryFolder folder_;
};

TEST_F(OutputLocks, OneAtATimeAndNothingStays) {
  {
    const auto first = OutputLock::take(file(), 0ms, {});
    ASSERT_TRUE(first) << first.error().message;
    int waits = 0;
    const auto second = OutputLock::take(file(), 0ms, [&] { ++waits; });
    ASSERT_FALSE(second);
    EXPECT_EQ(waits, 1);
    EXPECT_EQ(second.error().reason, Reason::output_failed);
    EXPECT_NE(second.error().message.find(lock_file().string()), std::string::npos) << second.error().message;
    EXPECT_TRUE(std::filesystem::exists(lock_file())) << "whoever gave up has removed it";
    EXPECT_TRUE(OutputLock::take((folder_.path() / "other.jsonl").string(), 0ms, {}));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(OutputLocks, WhoWaitedHasALockThatOthersSee) {
  std::optional<Result<OutputLock>> first = OutputLock::take(file(), 0ms, {});
  ASSERT_TRUE(*first);
  const auto second = OutputLock::take(file(), 1h, [&] { first.reset(); });
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_FALSE(OutputLock::take(file(), 0ms, {})) << "it is not a lock on the file that the first removed";
}

TEST_F(OutputLocks, WhatAKilledProcessLeftHoldsNobody) {
  std::ofstream(lock_file()).flush();
  EXPECT_TRUE(OutputLock::take(file(), 0ms, {}));
  EXPECT_FALSE(std::filesystem::exists(lock_file()));
}

TEST_F(OutputLocks, LinksToOneFileShareItsLock) {
  std::ofstream(file()).flush();
  const auto link = folder_.path() / "link.jsonl";
  std::filesystem::create_symlink("new.jsonl", link);
  const auto first = OutputLock::take(file(), 0ms, {});
  ASSERT_TRUE(first);
  EXPECT_FALSE(OutputLock::take(link.string(), 0ms, {}));
}

TEST_F(OutputLocks, WhereNoFileCanBeMadeEverybodyIsOnTheirOwn) {
  const std::string nowhere = (folder_.path() / "absent" / "new.jsonl").string();
  EXPECT_TRUE(OutputLock::take(nowhere, 0ms, {}));
  EXPECT_TRUE(OutputLock::take(nowhere, 0ms, {}));
}

}  // namespace
}  // namespace sluice
