#pragma once

#include "common/documents/document.hpp"
#include "common/model/recorded_answer.hpp"

#include <string_view>

namespace sluice {

/// Adds a call of a tool to an answer as a provider's answer has it: to its calls, and as a line at the end
/// of its text (docs/suites.md#tools). `arguments`: a value, or JSON as a text; null: none.
void add_call(RecordedAnswer& answer, std::string_view name, const DocumentNode* arguments);

/// Takes the lines at the end of the text that are such calls for calls; the text keeps them. So what sluice
/// shows of an answer can be recorded.
void take_calls_of_text(RecordedAnswer& answer);

}  // namespace sluice
