#pragma once

#include <set>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace sluice {

/// A template that a suite renders to the same, of one that promptfoo renders (Nunjucks).
struct TranslatedTemplate {
  std::string text;
  std::set<std::string, std::less<>> variables{};       ///< In the text, among them those of json_name.
  std::set<std::string, std::less<>> json_variables{};  ///< What promptfoo's shows as JSON, by its own name.
};

/// The variable that has the JSON of another: a suite has no filter that writes it. No template of promptfoo
/// can show one of this name, where the sign takes away.
std::string json_name(std::string_view variable);
/// A text that is one tag with a filter that writes JSON, without that filter: where JSON is read again, the
/// tag stands for the value itself. Any other text as it is.
std::string without_json_filter(std::string_view text);

/// The template that renders to the text as it is.
std::string template_of(std::string_view text);

/// Comments go, signs of white space control and the filter `safe` too, and raw blocks become plain text.
/// What `dump` and `tojson` write is a variable of its own (json_name). Everything else than `{{name}}`
/// cannot be said: the error is a clause that names it.
tl::expected<TranslatedTemplate, std::string> translate_template(std::string_view text);

}  // namespace sluice
