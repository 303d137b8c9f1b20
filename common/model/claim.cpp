#include "common/model/claim.hpp"

#include "common/text/number.hpp"
#include "common/text/text.hpp"

namespace sluice {

std::string to_text(const ClaimValue& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  // Zero has one text, whatever its sign: equal values have equal forms.
  if (const auto* number = std::get_if<double>(&value)) return shortest(*number == 0 ? 0.0 : *number);
  return json_string(std::get<std::string>(value));
}

std::string to_text(std::string_view subject, std::string_view predicate, const ClaimValue& value) {
  std::string text(subject);
  text += '/';
  text += predicate;
  text += " = ";
  text += to_text(value);
  return text;
}

std::optional<bool> boolean_word(std::string_view text) {
  constexpr std::size_t longest = 8;
  if (text.size() > longest) return std::nullopt;
  std::string word(text);
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (word == "true" || word == "yes" || word == "on" || word == "enabled" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "disabled" || word == "0") return false;
  return std::nullopt;
}

std::optional<double> number_word(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  // "nan" and "inf" are numbers, too.
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  return number_from<double>(text);
}

std::string canonical_form(std::string_view subject, std::string_view predicate, const ClaimValue& value) {
  // Quoting keeps the parts apart whatever they contain; the kind of value shows in its text.
  std::string form;
  form.reserve(subject.size() + predicate.size() + 32);
  append_json_string(form, subject);
  append_json_string(form, predicate);
  form += to_text(value);
  return form;
}

}  // namespace sluice
