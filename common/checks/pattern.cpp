#include "common/checks/pattern.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <re2/re2.h>

namespace sluice {
namespace {

/// What people mean who write what RE2 does not take.
std::string_view advice_on(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadPerlOp:
    case re2::RE2::ErrorBadEscape:
      return "; there are no look-arounds and no back-references: a pattern that must not be found is a "
             "check of "
             "its own, regex_not_match";
    case re2::RE2::ErrorMissingBracket:
    case re2::RE2::ErrorMissingParen:
    case re2::RE2::ErrorUnexpectedParen:
    case re2::RE2::ErrorRepeatArgument:
      return "; a sign that stands for itself has a backslash before it";
    default:
      return "";
  }
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_max_mem(defaults::max_pattern_memory);
  options.set_log_errors(false);
  auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok()) {
    return fail(Reason::fixture_invalid,
                "the pattern " + json_string(excerpt(pattern, 100)) +
                    " is no regular expression of RE2: " + excerpt(to_valid_utf8(compiled->error()), 150) +
                    std::string(advice_on(compiled->error_code())));
  }
  return Pattern(std::move(compiled));
}

std::optional<std::string_view> Pattern::find(std::string_view text) const {
  const re2::StringPiece whole(text.data(), text.size());
  re2::StringPiece found;
  if (!compiled_->Match(whole, 0, text.size(), re2::RE2::UNANCHORED, &found, 1)) return std::nullopt;
  return text.substr(static_cast<std::size_t>(found.data() - text.data()), found.size());
}

}  // namespace sluice
