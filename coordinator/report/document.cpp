#include "coordinator/report/document.hpp"

#include "coordinator/report/wording.hpp"

namespace sluice::document {

std::string titled(const std::string& heading, const std::optional<std::uint64_t>& count) {
  return count ? heading + " (" + wording::grouped(*count) + ")" : heading;
}

}  // namespace sluice::document
