#include "worker/scoring/label_check.hpp"

#include "common/checks/code_fence.hpp"
#include "common/checks/detail.hpp"
#include "common/checks/label_form.hpp"
#include "common/checks/outcome.hpp"
#include "common/documents/json_depth.hpp"
#include "common/model/expectation.hpp"

#include <optional>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using JsonValue = nlohmann::json;

/// The text, number or boolean at the path; nothing where there is none.
std::optional<std::string> scalar_at(const JsonValue& document, const std::string& path) {
  try {
    const JsonValue::json_pointer pointer(path);
    if (!document.contains(pointer)) return std::nullopt;
    const JsonValue& value = document.at(pointer);
    if (value.is_string()) return value.get<std::string>();
    return value.is_number() || value.is_boolean() ? std::optional(value.dump()) : std::nullopt;
  } catch (const JsonValue::exception&) {  // A position that is too large for any list.
    return std::nullopt;
  }
}

/// What stands in the answer for a label, or why nothing does.
tl::expected<std::string, std::string> said_in(std::string_view answer, const std::string& path) {
  if (path.empty()) return std::string(answer);
  const std::string_view text = unfenced(answer);
  const auto document = parse_tree<JsonValue>(text);
  if (document.is_discarded())
    return tl::unexpected(quoted_for_detail(answer) + " is not JSON with a label at " + path);
  auto said = scalar_at(document, path);
  if (!said) return tl::unexpected("there is no label at " + path + " of " + quoted_for_detail(answer));
  return std::move(*said);
}

}  // namespace

Result<MetricOutcome> assess_label(MetricId id, std::string_view answer,
                                   const std::vector<std::string>& texts) {
  const std::string& expected = texts.front();
  const auto said = said_in(answer, texts[1]);
  if (!said) return failed_outcome(id, said.error());
  const auto form = label_form(*said);
  if (!form) return fail(form.error());
  for (const std::string& label : labels_in(texts)) {
    const auto form_of_label = label_form(label);
    if (!form_of_label) return fail(form_of_label.error());
    if (form->empty() || *form_of_label != *form) continue;
    if (is_negated(id)) return outcome_of(id, label == expected ? "it must not be " + label : "");
    MetricOutcome outcome = outcome_of(id, label == expected ? "" : label + ", not " + expected);
    outcome.label = label;
    return outcome;
  }
  return failed_outcome(id, quoted_for_detail(*said) + " is none of the labels");
}

}  // namespace sluice
