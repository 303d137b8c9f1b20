#include "coordinator/gate/quoted.hpp"

#include "common/text.hpp"

#include <cstddef>

namespace sluice {

std::string escaped_excerpt(std::string_view text) {
  constexpr std::size_t shown_bytes = 80;
  std::string escaped;
  append_json_string(escaped, text.substr(0, 2 * shown_bytes));
  return excerpt(std::string_view(escaped).substr(1, escaped.size() - 2), shown_bytes);
}

std::string quoted(std::string_view text) {
  return "`" + escaped_excerpt(text) + "`";
}

}  // namespace sluice
