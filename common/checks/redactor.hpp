#pragma once

#include "common/error.hpp"
#include "common/model/redaction.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace sluice {

/// What each replacement begins with.
inline constexpr std::string_view redaction_begin = "[redacted ";

/// Replaces what must not be seen outside the caches: each match of a pattern becomes "[redacted NAME]".
/// Patterns are applied one after the other. Time is linear in the text. Immutable; thread-safe.
class Redactor {
 public:
  /// Replaces nothing.
  Redactor() = default;
  /// settings_invalid for a pattern that RE2 does not take, or that matches the empty text.
  static Result<Redactor> make(std::span<const RedactionPattern> patterns);

  bool empty() const { return patterns_.empty(); }
  /// The text as it may be shown; nothing if it may be shown as it is.
  std::optional<std::string> redacted(std::string_view text) const;
  /// Returns whether anything was replaced.
  bool apply(std::string& text) const;

 private:
  struct Compiled {
    std::shared_ptr<const re2::RE2> pattern;
    std::string replacement;
  };
  std::vector<Compiled> patterns_;
};

}  // namespace sluice
