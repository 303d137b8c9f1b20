#pragma once

#include "tests/provider_sim/json_text.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace sluice::sim {

/// Walks a JSON text without building a tree: the hot path reads three members of a request and skips the
/// rest. It is a reader, not a validator: what it skips is only checked for closed strings and balanced
/// brackets. Every function returns false once the text is not JSON; the cursor is then of no further use.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// The next character that is no white space, not consumed; 0 at the end.
  char peek();
  bool string(JsonString& out);
  /// A number that is a non-negative integer; fractions are cut off.
  bool count(std::uint64_t& out);
  /// `true` or `false`.
  bool boolean(bool& out);
  /// Skips one value of any kind.
  bool skip();

  /// Walks an object: `visit(key)` is called behind each colon and must consume the value.
  template <class Visit>
  bool members(Visit&& visit) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      JsonString key;
      if (!string(key) || !take(':') || !visit(key.raw)) return false;
    } while (take(','));
    return take('}');
  }

  /// Walks an array: `visit()` is called before each element and must consume it.
  template <class Visit>
  bool elements(Visit&& visit) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!visit()) return false;
    } while (take(','));
    return take(']');
  }

 private:
  bool take(char wanted);

  const char* at_;
  const char* end_;
};

}  // namespace sluice::sim
