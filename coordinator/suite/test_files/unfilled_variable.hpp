#pragma once

#include "common/documents/finding.hpp"

#include <cstddef>
#include <string>

namespace sluice {

/// A `{{name}}` in a part of a check that is no template, as a pattern, so that it stands for itself.
struct UnfilledVariable {
  std::string name;
  std::size_t metric = 0;  ///< Which of `expected` holds it.
  Finding finding;         ///< What is to be said of a test that has a variable of that name.
  bool is_unseen = false;  ///< Of a check that passes where the braces are not found: no run shows the slip.
};

}  // namespace sluice
