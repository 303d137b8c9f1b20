#include "common/text/build_commands.hpp"

#include <gtest/gtest.h>

namespace sluice::build_commands_test {

TEST(BuildCommands, AreNoneWhereALineBeginsWhateverBlanksStandBefore) {
  EXPECT_EQ(without_commands("::error::x"), "\xef\xbf\xbd:error::x");
  EXPECT_EQ(without_commands("a\n::set-output name=x::y"), "a\n\xef\xbf\xbd:set-output name=x::y");
  EXPECT_EQ(without_commands("a\r \t::x"), "a\r \t\xef\xbf\xbd:x");
  EXPECT_EQ(without_commands("\xc2\xa0::x"), "\xc2\xa0\xef\xbf\xbd:x") << "GitHub's runner passes over it";
  EXPECT_EQ(without_commands(":::::"), "\xef\xbf\xbd::::");
}

TEST(BuildCommands, AreNoneOfTheOlderFormAnywhere) {
  EXPECT_EQ(without_commands("a ##[error]b ###[x]"), "a #\xef\xbf\xbd[error]b ##\xef\xbf\xbd[x]");
}

TEST(BuildCommands, AllElseStays) {
  for (const char* text :
       {"", ":", "a::b", "std::string ::x", "## heading\n# [link]", "a: :b", "\xe4\xb8\xad a::b"})
    EXPECT_EQ(without_commands(text), text);
}

}  // namespace sluice::build_commands_test
