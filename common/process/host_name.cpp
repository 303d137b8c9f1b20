#include "common/process/host_name.hpp"

#include <array>

#include <unistd.h>

namespace sluice {

std::optional<std::string> host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return std::nullopt;
  return std::string(name.data());
}

}  // namespace sluice
