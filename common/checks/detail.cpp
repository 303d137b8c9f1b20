#include "common/checks/detail.hpp"

#include "common/text/text.hpp"

#include <cstddef>

namespace sluice {

std::string quoted_for_detail(std::string_view text) {
  constexpr std::size_t max_bytes = 60;
  return json_string(excerpt(text, max_bytes));
}

}  // namespace sluice
