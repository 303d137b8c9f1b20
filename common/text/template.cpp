#include "common/text/template.hpp"

#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view template_blanks = " \t\r\n";

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

/// What stands from `from` to the first `close`, which must come before the next `open`: so a text with many
/// that are never closed is gone through once. Null if it is not closed.
std::string_view inside(std::string_view text, std::size_t from, std::string_view open,
                        std::string_view close) {
  const std::string_view within = text.substr(from, std::min(text.find(open, from), text.size()) - from);
  const auto found = within.find(close);
  return found != std::string_view::npos ? within.substr(0, found) : std::string_view();
}

std::string missing_variable(const std::string& name, const Variables& values) {
  const std::string uses = "uses {{" + excerpt(name, defaults::quoted_bytes) + "}}, ";
  if (values.empty()) return uses + "but the test has no variables";
  std::vector<std::string> names;
  for (const auto& [known, value] : values) {
    if (is_variable_name(known)) names.push_back(known);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  std::string advice = did_you_mean(name, candidates);
  if (advice.empty() && !names.empty() && names.size() <= defaults::most_listed_keys) {
    advice = ", only " + quoted_list(names);
  }
  return uses + "which the test's \"vars\" do not have" + advice;
}

}  // namespace

bool is_variable_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.front() != '.' &&
         std::ranges::all_of(name, is_name_character);
}

std::string_view first_variable(std::string_view text) {
  for (auto begin = text.find("{{"); begin != std::string_view::npos; begin = text.find("{{", begin + 1)) {
    const std::string_view name = trimmed(inside(text, begin + 2, "{{", "}}"));
    if (is_variable_name(name)) return name;
  }
  return {};
}

std::vector<std::string_view> variables_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (auto name = first_variable(text); !name.empty(); name = first_variable(text)) {
    names.push_back(name);
    text.remove_prefix(static_cast<std::size_t>(name.data() - text.data()) + name.size());
  }
  return names;
}

class TemplateParser {
 public:
  explicit TemplateParser(std::string_view text) : text_(text) {}

  tl::expected<Template, std::vector<TemplateProblem>> parse() {
    while (problems_.size() < defaults::max_template_problems) {
      const auto next = next_opening();
      add_text(text_.substr(at_, next - at_));
      if (next == text_.size()) break;
      const char kind = text_[next + 1];
      kind == '{' ? read_variable() : read_foreign(kind);
    }
    if (!problems_.empty()) return tl::unexpected(std::move(problems_));
    return std::move(template_);
  }

 private:
  std::size_t next_opening() const {
    for (auto next = text_.find('{', at_); next != std::string_view::npos; next = text_.find('{', next + 1)) {
      const char kind = next + 1 < text_.size() ? text_[next + 1] : '\0';
      if (kind == '{' || kind == '%' || kind == '#') return next;
    }
    return text_.size();
  }

  /// Goes on behind what is passed.
  void pass(std::string_view passed) {
    line_ += static_cast<std::uint32_t>(std::ranges::count(passed, '\n'));
    at_ += passed.size();
  }

  void add_text(std::string_view text) {
    append(text);
    pass(text);
  }

  void append(std::string_view text) {
    auto& parts = template_.parts_;
    if (text.empty()) return;
    if (parts.empty() || parts.back().is_variable) parts.push_back({{}, false, line_});
    parts.back().text += text;
  }

  void add_problem(std::string message) { problems_.push_back({line_, std::move(message)}); }

  static std::string quoted(std::string_view tag) {
    return "\"" + excerpt(one_line(tag), defaults::quoted_tag_bytes) + "\"";
  }

  void read_variable() {
    const auto first = text_.find_first_not_of(template_blanks, at_ + 2);
    if (first != std::string_view::npos && (text_[first] == '\'' || text_[first] == '"')) {
      return read_literal(first);
    }
    const std::string_view held = inside(text_, at_ + 2, "{{", "}}");
    if (held.data() == nullptr) return refuse_unclosed();
    const std::string_view name = trimmed(held);
    const std::string_view tag = text_.substr(at_, held.size() + 4);
    if (is_variable_name(name)) {
      template_.parts_.push_back({std::string(name), true, line_});
    } else {
      refuse_expression(tag, name);
    }
    pass(tag);
  }

  void refuse_unclosed() {
    const std::string_view rest = text_.substr(at_);
    add_problem("holds " + quoted(rest.substr(0, rest.find('\n'))) +
                " without the \"}}\" that closes it; write {{ '{{' }} where the braces themselves are meant");
    pass(rest.substr(0, 2));
  }

  void refuse_expression(std::string_view tag, std::string_view held) {
    std::string what = "is no variable's name";
    if (held.empty()) what = "names no variable";
    if (held.find('|') != std::string_view::npos) what = "has a filter, of which there are none";
    add_problem("holds " + quoted(tag) + ", which " + what +
                ": {{name}} is all that is rendered; write {{ '{{' }} where the braces themselves are meant");
  }

  /// `{{ '...' }}`, from its quote on.
  void read_literal(std::size_t begin) {
    const auto end = text_.find(text_[begin], begin + 1);
    const auto close = end != std::string_view::npos ? text_.find_first_not_of(template_blanks, end + 1)
                                                     : std::string_view::npos;
    if (close == std::string_view::npos || text_.substr(close, 2) != "}}") return refuse_unclosed();
    const std::string_view literal = text_.substr(begin + 1, end - begin - 1);
    const std::string_view tag = text_.substr(at_, close + 2 - at_);
    if (literal.find('\\') != std::string_view::npos) {
      add_problem("holds " + quoted(tag) + " with a backslash, which has no meaning there: take it out");
    } else {
      append(literal);
    }
    pass(tag);
  }

  /// A block or a comment. A sign that nothing closes is plain text.
  void read_foreign(char kind) {
    const std::string open{'{', kind};
    const std::string close{kind, '}'};
    const std::string_view held = inside(text_, at_ + 2, open, close);
    if (held.data() == nullptr) return add_text(text_.substr(at_, 2));
    const std::string_view tag = text_.substr(at_, held.size() + 4);
    add_problem("holds " + quoted(tag) + ", " + (kind == '%' ? "a block" : "a comment") +
                ", of which there are none: {{name}} is all that is rendered; write {{ '" + open +
                "' }} where the signs themselves are meant");
    pass(tag);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  Template template_;
  std::vector<TemplateProblem> problems_;
};

tl::expected<Template, std::vector<TemplateProblem>> Template::parse(std::string_view text) {
  return TemplateParser(text).parse();
}

std::vector<std::string> Template::variables() const {
  std::vector<std::string> names;
  std::set<std::string_view> known;
  for (const Part& part : parts_) {
    if (part.is_variable && known.insert(part.text).second) names.push_back(part.text);
  }
  return names;
}

tl::expected<std::string, std::vector<TemplateProblem>> Template::render(const Variables& values,
                                                                         std::size_t& room) const {
  std::string text;
  std::vector<TemplateProblem> problems;
  std::vector<std::string_view> missing;
  for (const Part& part : parts_) {
    const auto value = part.is_variable ? values.find(part.text) : values.end();
    if (part.is_variable && value == values.end()) {
      if (std::ranges::find(missing, part.text) != missing.end()) continue;
      if (missing.size() == defaults::max_template_problems) break;
      missing.push_back(part.text);
      problems.push_back({part.line, missing_variable(part.text, values)});
      continue;
    }
    const std::string& piece = part.is_variable ? value->second : part.text;
    if (piece.size() > room - text.size()) {
      problems.push_back({part.line, "makes the texts of the test longer than " +
                                         std::to_string(defaults::max_rendered_bytes) + " bytes"});
      room = 0;
      break;
    }
    text += piece;
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  room -= text.size();
  return text;
}

}  // namespace sluice
