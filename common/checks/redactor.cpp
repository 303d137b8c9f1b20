#include "common/checks/redactor.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <utility>

#include <re2/re2.h>

namespace sluice {
namespace {

tl::unexpected<Error> refused(const RedactionPattern& pattern, const std::string& why) {
  return fail(Reason::settings_invalid, "the redaction pattern " + json_string(excerpt(pattern.name, 80)) +
                                            " (" + json_string(excerpt(pattern.pattern, 100)) + ") " + why);
}

/// Nothing stands there to be replaced: `\b` would mark every word and hide none.
bool matches_an_empty_place(const re2::RE2& pattern) {
  for (const re2::StringPiece text : {"", "a", " "}) {
    re2::StringPiece found;
    if (pattern.Match(text, 0, text.size(), re2::RE2::UNANCHORED, &found, 1) && found.empty()) return true;
  }
  return false;
}

}  // namespace

Result<Redactor> Redactor::make(std::span<const RedactionPattern> patterns) {
  Redactor redactor;
  re2::RE2::Options options;
  options.set_max_mem(defaults::max_pattern_memory);
  options.set_log_errors(false);
  for (const RedactionPattern& one : patterns) {
    auto compiled = std::make_shared<const re2::RE2>(one.pattern, options);
    if (!compiled->ok()) {
      return refused(one,
                     "is no regular expression of RE2: " + excerpt(to_valid_utf8(compiled->error()), 150));
    }
    if (matches_an_empty_place(*compiled)) return refused(one, "matches the empty text, which is everywhere");
    redactor.patterns_.push_back({std::move(compiled), std::string(redaction_begin) + one.name + "]"});
  }
  return redactor;
}

std::optional<std::string> Redactor::redacted(std::string_view text) const {
  std::optional<std::string> clean;
  for (const Compiled& one : patterns_) {
    const std::string_view now = clean ? *clean : text;
    if (!re2::RE2::PartialMatch(re2::StringPiece(now.data(), now.size()), *one.pattern)) continue;
    if (!clean) clean.emplace(text);
    re2::RE2::GlobalReplace(&*clean, *one.pattern, one.replacement);
  }
  // A pattern may match an empty place in a text that is not empty, and change nothing.
  return clean && *clean != text ? std::move(clean) : std::nullopt;
}

bool Redactor::apply(std::string& text) const {
  auto clean = redacted(text);
  if (clean) text = std::move(*clean);
  return clean.has_value();
}

}  // namespace sluice
