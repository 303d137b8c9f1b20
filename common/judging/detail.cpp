#include "common/judging/detail.hpp"

#include "common/text.hpp"

#include <cstddef>

namespace sluice {

std::string quoted_for_detail(std::string_view text) {
  constexpr std::size_t max_bytes = 60;
  std::string quoted;
  append_json_string(quoted, excerpt(text, max_bytes));
  return quoted;
}

}  // namespace sluice
