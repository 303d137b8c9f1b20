#include "coordinator/session/flag_values.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Names = std::vector<std::string>;

TEST(FlagValues, NamesStandInListsWithCommasAndBlanks) {
  EXPECT_EQ(names_of("--categories", {}, "a,b").value(), Names{});
  EXPECT_EQ(names_of("--categories", {"tls"}, "a,b").value(), Names{"tls"});
  EXPECT_EQ(names_of("--categories", {"tls, jwt", " two words\t,edge"}, "a,b").value(),
            (Names{"tls", "jwt", "two words", "edge"}));
}

TEST(FlagValues, AnEmptyNameIsRefusedWithAnExample) {
  for (const std::string list : {"", ",", " ", "tls,", ",tls", "tls,,jwt", "tls, ,jwt"}) {
    const auto names = names_of("--categories", {"edge", list}, "tls,jwt");
    ASSERT_FALSE(names) << list;
    EXPECT_EQ(names.error().reason, Reason::usage_invalid);
    EXPECT_EQ(names.error().message,
              "--categories must be names with a comma between them, like tls,jwt, not \"" + list + "\"");
  }
}

TEST(FlagValues, AnAgeIsInDaysOrHours) {
  EXPECT_EQ(age_of("--older-than", "30d").value(), std::chrono::hours(720));
  EXPECT_EQ(age_of("--older-than", "1h").value(), std::chrono::hours(1));
  EXPECT_EQ(age_of("--older-than", "0d").value(), std::chrono::hours(0)) << "whatever there is";
  EXPECT_EQ(age_of("--older-than", "36600d").value(), std::chrono::hours(878'400));
  for (const std::string age :
       {"", "d", "-1d", "30", "30m", "1.5d", " 1d", "36601d", "878401h", "99999999999d"}) {
    const auto refused = age_of("--older-than", age);
    ASSERT_FALSE(refused) << age;
    EXPECT_EQ(refused.error().reason, Reason::usage_invalid);
    EXPECT_TRUE(refused.error().message.starts_with("--older-than \"" + age + "\" is no age; give")) << age;
  }
}

}  // namespace
}  // namespace sluice
