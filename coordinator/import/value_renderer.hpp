#pragma once

#include "common/text/template.hpp"

#include <cstddef>
#include <set>
#include <string>

#include <tl/expected.hpp>

namespace sluice {

/// Whether anything of the text looks like a template. Signs of a block or a comment that nothing closes are
/// plain text, as in a suite.
bool has_template(const std::string& text);

/// The JSON of a value. One that is no text is JSON as a template shows it, but for nothing at all.
std::string json_of_value(const std::string& shown, bool is_text);

/// Fills in the templates in values, which show other values: these are filled in first, each once.
class ValueRenderer {
 public:
  /// `values` have lists as JSON, `lists` as they are shown without a filter; `typed` are those that are no
  /// texts.
  ValueRenderer(Variables values, Variables lists, std::set<std::string, std::less<>> typed);

  /// The error names the variable whose template cannot be filled in, and says why.
  tl::expected<std::string, std::string> rendered(const std::string& name, const std::string& value) {
    return rendered(name, value, 0);
  }
  /// Those that values show and that have none: they are empty there.
  const std::set<std::string, std::less<>>& missing() const { return missing_; }

 private:
  tl::expected<std::string, std::string> rendered(const std::string& name, const std::string& value,
                                                  std::size_t depth);
  tl::expected<std::string, std::string> shown_as(const std::string& name, bool is_json, std::size_t depth);

  Variables values_;
  Variables lists_;
  std::set<std::string, std::less<>> typed_;
  Variables rendered_;
  Variables rendered_json_;
  std::set<std::string, std::less<>> missing_;
};

}  // namespace sluice
