#pragma once

#include <set>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace sluice {

/// A template that a suite renders to the same, of one that promptfoo renders (Nunjucks).
struct TranslatedTemplate {
  std::string text;
  std::set<std::string, std::less<>> variables{};
  std::set<std::string, std::less<>> json_variables{};  ///< Those that a filter writes as JSON.
};

/// The template that renders to the text as it is.
std::string template_of(std::string_view text);

/// Comments go, signs of white space control and the filters `safe`, `dump` and `tojson` too, and raw blocks
/// become plain text. Everything else than `{{name}}` cannot be said: the error is a clause that names it.
tl::expected<TranslatedTemplate, std::string> translate_template(std::string_view text);

}  // namespace sluice
