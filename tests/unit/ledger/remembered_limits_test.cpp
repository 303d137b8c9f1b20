// What runs learnt of providers: the newest of each key, until it is forgotten.
#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::remembered_limits_test {

RememberedLimits sample(const std::string& key) {
  RememberedLimits one;
  one.key = key;
  one.provider = "openai";
  one.server = "https://api.openai.com/v1";
  one.limits.requests_per_minute = 5999.5;
  one.limits.burst = 10;
  one.learned_at_ms = 1000;
  one.run_id = "run-1";
  return one;
}

std::vector<RememberedLimits> all_of(const Ledger& ledger) {
  const auto limits = ledger.limits();
  EXPECT_TRUE(limits) << limits.error().message;
  return limits ? *limits : std::vector<RememberedLimits>();
}

TEST(RememberedLimits, TheNewestOfAKeyIsKept) {
  const support::TemporaryFolder folder;
  auto ledger = Ledger::open(folder.path() / "ledger.db");
  ASSERT_TRUE(ledger);
  EXPECT_TRUE(all_of(*ledger).empty());
  ASSERT_TRUE(ledger->note_limits(sample("a")));
  RememberedLimits newer = sample("a");
  newer.limits = {std::nullopt, std::nullopt, 40, LimitSource::announced, {}};
  newer.run_id = "run-2";
  ASSERT_TRUE(ledger->note_limits(newer));
  ASSERT_TRUE(ledger->note_limits(sample("b")));
  EXPECT_EQ(all_of(*ledger), (std::vector{newer, sample("b")}));
}

TEST(RememberedLimits, AreForgottenByKeyOrAll) {
  const support::TemporaryFolder folder;
  auto ledger = Ledger::open(folder.path() / "ledger.db");
  ASSERT_TRUE(ledger);
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(ledger->note_limits(sample(key)));
  EXPECT_EQ(ledger->forget_limits("b").value(), 1u);
  EXPECT_EQ(ledger->forget_limits("b").value(), 0u);
  EXPECT_EQ(all_of(*ledger), (std::vector{sample("a"), sample("c")}));
  EXPECT_EQ(ledger->forget_limits(std::nullopt).value(), 2u);
  EXPECT_TRUE(all_of(*ledger).empty());
}

}  // namespace sluice::remembered_limits_test
