#pragma once

#include "common/error.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace sluice {

/// A compiled regular expression of RE2's syntax over UTF-8, with RE2's defaults: case counts, `.` is no line
/// end, `^` and `$` are the text's ends unless (?m) is set. `(?<name>...)` and `\u00e9`, as other languages
/// write them, are taken for `(?P<name>...)` and `\x{e9}`. Time is linear in the text, memory bounded.
/// Immutable and thread-safe.
class Pattern {
 public:
  /// Error: fixture_invalid, naming the pattern and what is wrong in it.
  static Result<Pattern> compile(std::string_view pattern);

  /// The leftmost place in the text that the pattern matches, if any.
  std::optional<std::string_view> find(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace sluice
