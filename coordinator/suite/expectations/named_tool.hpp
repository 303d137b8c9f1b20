#pragma once

#include "common/documents/finding.hpp"

#include <cstddef>
#include <string>

namespace sluice {

/// A tool that a check of calls names, or all that the test has.
struct NamedTool {
  std::string name;           ///< Empty: all, whose parameters calls are held against.
  std::string arguments{};    ///< What a call of it has, a JSON object; empty: whatever it has.
  std::size_t metric = 0;     ///< Which of `expected` names it.
  bool is_forbidden = false;  ///< The check passes where it is not called: no run shows a slip in the name.
  bool has_alternatives = false;  ///< It is a part of a group, of which another may pass in its place.
  Finding finding{};       ///< The beginning of what is to be said of a test whose tools it is none of, or
                           ///< whose tools calls cannot be held against.
  Finding of_arguments{};  ///< The beginning of what is to be said of one where no call can have them.
};

}  // namespace sluice
