#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A test's variables: their texts by name.
using Variables = std::map<std::string, std::string, std::less<>>;

/// What is wrong with a template, or with rendering one.
struct TemplateProblem {
  std::uint32_t line = 1;  ///< Of the text, from 1.
  std::string message;     ///< A clause that begins with a verb: "uses {{x}}, which ...".
  friend bool operator==(const TemplateProblem&, const TemplateProblem&) = default;
};

/// Letters, digits, `_`, `-` and `.`, of which the first is neither `-` nor `.`.
bool is_variable_name(std::string_view name);

/// The name in the text's first `{{name}}`; empty if there is none.
std::string_view first_variable(std::string_view text);
/// The names in all of them, in the order of the text.
std::vector<std::string_view> variables_in(std::string_view text);

/// A text in which `{{name}}` stands for a variable, and `{{ '...' }}` for what is between the quotes, which
/// is how a template holds braces of its own. That is all there is: filters, expressions, blocks (`{% %}`)
/// and comments (`{# #}`) of other template languages are refused, so that none is sent to a model.
/// Braces that come singly, and a `}}` that closes nothing, are plain text. Immutable; thread-safe.
class Template {
 public:
  /// The empty text.
  Template() = default;
  /// The template, or the first of its problems (defaults::max_template_problems).
  static tl::expected<Template, std::vector<TemplateProblem>> parse(std::string_view text);

  /// Each once, in the order of the text.
  std::vector<std::string> variables() const;
  /// The text with every variable's value, which is not read as a template again; its length is taken off
  /// `room`, in bytes. Or a problem for each variable that there is not, or that the room is too small, which
  /// is then 0.
  tl::expected<std::string, std::vector<TemplateProblem>> render(const Variables& values,
                                                                 std::size_t& room) const;

 private:
  friend class TemplateParser;
  struct Part {
    std::string text;  ///< As it is, or a variable's name.
    bool is_variable = false;
    std::uint32_t line = 1;
  };
  std::vector<Part> parts_;
};

}  // namespace sluice
