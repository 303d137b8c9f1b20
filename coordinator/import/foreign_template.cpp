#include "coordinator/import/foreign_template.hpp"

#include "common/defaults.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view blanks = " \t\r\n";

class Translator {
 public:
  explicit Translator(std::string_view text) : text_(text) {}

  tl::expected<TranslatedTemplate, std::string> run() {
    while (problem_.empty() && at_ < text_.size()) step();
    if (!problem_.empty()) return tl::unexpected(std::move(problem_));
    const auto parsed = Template::parse(result_.text);
    if (!parsed) return tl::unexpected(parsed.error().front().message);
    for (std::string& name : parsed->variables()) result_.variables.insert(std::move(name));
    return std::move(result_);
  }

 private:
  void step() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("{#")) return pass_comment(rest);
    if (rest.starts_with("{%")) return take_block(rest);
    if (rest.starts_with("{{")) return take_expression(rest);
    result_.text += rest.front();
    ++at_;
  }

  void fail(std::string_view tag, std::string_view why) {
    problem_ =
        "holds " + json_string(excerpt(one_line(tag), defaults::quoted_tag_bytes)) + ", " + std::string(why);
  }

  /// The whole tag, which a sign that takes away white space may close; empty if nothing closes it.
  std::string_view tag_of(std::string_view rest, std::string_view close) {
    const auto end = rest.find(close, 2);
    if (end == std::string_view::npos) {
      fail(rest.substr(0, rest.find('\n')), "which nothing closes");
      return {};
    }
    const std::string_view tag = rest.substr(0, end + 2);
    at_ += tag.size();
    if (tag[2] == '-') result_.text.erase(result_.text.find_last_not_of(blanks) + 1);
    if (tag[end - 1] == '-') at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size());
    return tag;
  }

  static std::string_view inside(std::string_view tag) {
    tag = tag.substr(2, tag.size() - 4);
    if (tag.starts_with('-')) tag.remove_prefix(1);
    if (tag.ends_with('-')) tag.remove_suffix(1);
    return trimmed(tag);
  }

  void pass_comment(std::string_view rest) { tag_of(rest, "#}"); }

  void take_block(std::string_view rest) {
    const std::string_view tag = tag_of(rest, "%}");
    if (tag.empty()) return;
    if (inside(tag) != "raw") return fail(tag, "a block, of which there are none");
    const std::string_view end_tag = "{% endraw %}";
    const auto end = text_.find(end_tag, at_);
    if (end == std::string_view::npos) return fail(tag, "which nothing closes");
    result_.text += template_of(text_.substr(at_, end - at_));
    at_ = end + end_tag.size();
  }

  void take_expression(std::string_view rest) {
    const std::string_view tag = tag_of(rest, "}}");
    if (tag.empty()) return;
    std::string_view held = inside(tag);
    const bool is_json = pass_filters(held);
    const bool is_text = held.size() > 1 && (held.front() == '\'' || held.front() == '"') &&
                         held.back() == held.front() && held.find('\\') == std::string_view::npos;
    const bool is_number = !held.empty() && std::ranges::all_of(held, is_digit);
    if (is_number) {
      result_.text += held;
      return;
    }
    if (held.starts_with("env."))
      return fail(tag, "a variable of the environment, which a suite does not read");
    if (!is_text && !is_variable_name(held))
      return fail(tag, "an expression or filter, of which there are none");
    if (is_json && is_text) {
      result_.text += template_of(json_string(held.substr(1, held.size() - 2)));
      return;
    }
    if (is_json) result_.json_variables.emplace(held);
    result_.text += "{{" + (is_json ? json_name(held) : std::string(held)) + "}}";
  }

  /// Takes the filters off that have a counterpart. Whether one of them writes JSON: two would write JSON of
  /// JSON.
  static bool pass_filters(std::string_view& held) {
    bool is_json = false;
    for (auto bar = held.rfind('|'); bar != std::string_view::npos; bar = held.rfind('|')) {
      const std::string_view filter = trimmed(held.substr(bar + 1));
      const bool writes_json = filter == "dump" || filter == "tojson";
      if (!writes_json && filter != "safe" && filter != "string") break;
      if (writes_json && is_json) break;
      is_json = is_json || writes_json;
      held = trimmed(held.substr(0, bar));
    }
    return is_json;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  TranslatedTemplate result_;
  std::string problem_;
};

}  // namespace

std::string template_of(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = text[i] == '{' && i + 1 < text.size() &&
                       (text[i + 1] == '{' || text[i + 1] == '%' || text[i + 1] == '#');
    if (!opens) {
      result += text[i];
      continue;
    }
    result += "{{ '" + std::string(text.substr(i, 2)) + "' }}";
    ++i;
  }
  return result;
}

std::string json_name(std::string_view variable) {
  return std::string(variable) + "-json";
}

std::string without_json_filter(std::string_view text) {
  const std::string_view tag = trimmed(text);
  const auto translated = translate_template(tag);
  if (!translated || translated->json_variables.size() != 1) return std::string(text);
  const std::string& name = *translated->json_variables.begin();
  const bool is_whole = translated->text == "{{" + json_name(name) + "}}";
  return is_whole ? "{{" + name + "}}" : std::string(text);
}

tl::expected<TranslatedTemplate, std::string> translate_template(std::string_view text) {
  return Translator(text).run();
}

}  // namespace sluice
