#pragma once
#include "a//b.h" // name
auto text = R"x(
  // not a comment )" )x"; /* but this is */
auto wide = u8R"(')" "'" L'\''; int n = 1'000'000;
/* ends *\
/ above */
