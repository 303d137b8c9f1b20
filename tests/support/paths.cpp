#include "tests/support/paths.hpp"

namespace sluice::support {

// The only file that is compiled with the paths of this checkout, so that a compiler cache serves another
// one.
std::string source_path(std::string_view relative) {
  return std::string(SLUICE_SOURCE_DIR "/").append(relative);
}

std::string program_path(std::string_view name) {
  return std::string(SLUICE_BINARY_DIR "/").append(name);
}

}  // namespace sluice::support
