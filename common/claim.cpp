#include "common/claim.hpp"

#include "common/text.hpp"

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
