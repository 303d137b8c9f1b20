#pragma once

#include "common/documents/document.hpp"
#include "common/text/template.hpp"
#include "coordinator/suite/documents/document_context.hpp"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// The problem as a finding says it, with its line in texts of several lines.
std::string clause(const TemplateProblem& problem);
/// `names "a.txt", which `
std::string names_file(std::string_view path);

/// What stands in for the value of a variable that is wrong: not empty, so that what uses it is not found to
/// be empty as well.
inline constexpr const char* stand_in_value = "?";

/// The variables under `vars` of a test: texts, and numbers and booleans as they are written. What is wrong
/// becomes findings; a variable whose value is wrong is there nevertheless, so that its use is no finding.
Variables read_variables(const DocumentEntry& vars, const DocumentContext& context);

/// The same as a JSON object, with their types. A number that JSON does not have is a text.
std::string json_of_variables(const DocumentEntry& vars);

/// A test whose templates are rendered.
struct RenderedTest {
  DocumentNode node;
  std::set<std::string, std::less<>> used;  ///< The variables that they hold.
  bool is_sound = true;                     ///< All of them could be read.
};
/// Renders those texts of a test that are templates (docs/suites.md): of `input` the prompt, context,
/// system prompt and the contents of messages, of the metrics in `expected` their text, label, reference,
/// criteria, context, parameters and arguments. What is wrong becomes findings, and the text stays as it is.
/// `places`: as TestSource::metric_places. REQUIRES: a mapping.
RenderedTest render_test(const DocumentNode& test, const Variables& values, const DocumentContext& context,
                         std::span<const std::string> places = {});

/// What findings call the i-th metric of "expected": where it stands, if that is said, or its number.
std::string place_of_metric(std::span<const std::string> places, std::size_t i);

}  // namespace sluice
