#include "coordinator/display/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice {
namespace {

TEST(Terminal, ColoursNeedATerminalThatUnderstandsThemAndAUserWhoWantsThem) {
  EXPECT_TRUE(terminal_of(true, "xterm-256color", nullptr).colour);
  EXPECT_TRUE(terminal_of(true, "xterm", "").colour);
  EXPECT_FALSE(terminal_of(true, "xterm", "1").colour);
  EXPECT_TRUE(terminal_of(true, "xterm", "1").is_terminal);
  for (const char* term : {static_cast<const char*>(nullptr), "", "dumb"}) {
    EXPECT_FALSE(terminal_of(true, term, nullptr).is_terminal);
    EXPECT_FALSE(terminal_of(true, term, nullptr).colour);
  }
  EXPECT_FALSE(terminal_of(false, "xterm", nullptr).is_terminal);
  EXPECT_FALSE(terminal_of(false, "xterm", nullptr).colour);
}

TEST(Terminal, ColoursAPipeWhereThatIsForced) {
  EXPECT_TRUE(terminal_of(false, nullptr, nullptr, "1").colour);
  EXPECT_FALSE(terminal_of(false, nullptr, nullptr, "1").is_terminal) << "colours are no live line";
  EXPECT_FALSE(terminal_of(false, nullptr, nullptr, "").colour);
  EXPECT_FALSE(terminal_of(false, nullptr, "1", "1").colour) << "a refusal goes first";
  EXPECT_FALSE(terminal_of(true, "xterm", nullptr, "0").colour);
}

TEST(Terminal, APipeIsNone) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  const Terminal terminal = detect_terminal(ends[1]);
  EXPECT_FALSE(terminal.is_terminal);
  EXPECT_FALSE(terminal.colour);
  EXPECT_EQ(terminal.columns, std::nullopt);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace sluice
