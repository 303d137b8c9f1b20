#include "coordinator/import/value_renderer.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/import/defaults.hpp"
#include "coordinator/import/foreign_template.hpp"

#include <utility>

namespace sluice {

bool has_template(const std::string& text) {
  const auto is_in = [&](const char* open, const char* close) {
    const auto at = text.find(open);
    return at != std::string::npos && text.find(close, at + 2) != std::string::npos;
  };
  return text.find("{{") != std::string::npos || is_in("{%", "%}") || is_in("{#", "#}");
}

std::string json_of_value(const std::string& shown, bool is_text) {
  if (is_text) return json_string(shown);
  return shown.empty() ? "null" : shown;
}

ValueRenderer::ValueRenderer(Variables values, Variables lists, std::set<std::string, std::less<>> typed)
    : values_(std::move(values)), lists_(std::move(lists)), typed_(std::move(typed)) {}

tl::expected<std::string, std::string> ValueRenderer::rendered(const std::string& name,
                                                               const std::string& value, std::size_t depth) {
  if (!has_template(value)) return value;
  const auto fail = [&](const std::string& why) {
    return tl::unexpected("the variable " + json_string(excerpt(name, defaults::quoted_bytes)) + " " + why);
  };
  if (depth == defaults::max_value_depth)
    return fail("shows itself, or others more than " + std::to_string(depth) + " deep");
  const auto translated = translate_template(value);
  if (!translated) return fail(translated.error());
  Variables shown;
  for (const std::string& one : translated->json_variables) {
    auto text = shown_as(one, true, depth + 1);
    if (!text) return text;
    shown.emplace(json_name(one), std::move(*text));
  }
  for (const std::string& one : translated->variables) {
    if (shown.contains(one)) continue;
    auto text = shown_as(one, false, depth + 1);
    if (!text) return text;
    shown.emplace(one, std::move(*text));
  }
  std::size_t room = defaults::max_rendered_bytes;
  auto text = Template::parse(translated->text)->render(shown, room);
  if (!text) return fail("is too long with its templates filled in");
  return std::move(*text);
}

tl::expected<std::string, std::string> ValueRenderer::shown_as(const std::string& name, bool is_json,
                                                               std::size_t depth) {
  Variables& before = is_json ? rendered_json_ : rendered_;
  if (const auto found = before.find(name); found != before.end()) return found->second;
  const auto list = is_json ? lists_.end() : lists_.find(name);
  const auto value = values_.find(name);
  if (list == lists_.end() && value == values_.end()) {
    missing_.insert(name);
    return std::string();
  }
  auto text = rendered(name, list != lists_.end() ? list->second : value->second, depth);
  if (text && is_json) *text = json_of_value(*text, !typed_.contains(name));
  if (text) before.emplace(name, *text);
  return text;
}

}  // namespace sluice
