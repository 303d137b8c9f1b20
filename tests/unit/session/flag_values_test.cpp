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

}  // namespace
}  // namespace sluice
