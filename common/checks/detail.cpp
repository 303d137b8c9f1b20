#include "common/checks/detail.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"

namespace sluice {

std::string quoted_for_detail(std::string_view text) {
  return json_string(excerpt(text, defaults::max_quoted_bytes));
}

}  // namespace sluice
