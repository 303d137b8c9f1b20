#include "common/documents/json_depth.hpp"

namespace sluice {

bool nests_deeper_than(std::string_view json, std::size_t limit) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      // Skip the string: most of an answer is one long string.
      for (++i; i < json.size() && json[i] != '"'; ++i) {
        if (json[i] == '\\') ++i;
      }
    } else if (c == '[' || c == '{') {
      if (++depth > limit) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace sluice
