#pragma once

#include <map>
#include <string>

namespace sluice {

/// The files that a suite was read from, as they were then: by it a past run is reported whatever became of
/// them.
struct SuiteCopy {
  std::map<std::string, std::string> files;  ///< What each holds, by its absolute path.
};

}  // namespace sluice
