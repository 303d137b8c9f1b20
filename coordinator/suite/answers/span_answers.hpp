#pragma once

#include "coordinator/suite/answers/recorded_answers.hpp"
#include "coordinator/suite/documents/document_context.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Whether the object is one of spans as OpenTelemetry's collector exports them (OTLP in JSON).
bool is_span_export(const DocumentNode& node);

/// The answers of those spans that name their test in the attribute `sluice.test`, by OpenTelemetry's
/// conventions for generative AI: text and calls of tools from `gen_ai.output.messages` (or
/// `gen_ai.completion`), model from `gen_ai.response.model` (or `gen_ai.request.model`), tokens from
/// `gen_ai.usage.input_tokens` and `gen_ai.usage.output_tokens`. An attribute may stand at the span or at one
/// of its events. A span with neither text nor calls is a finding.
std::vector<std::pair<std::string, AnsweredTest>> answers_in_spans(const DocumentNode& node,
                                                                   const DocumentContext& context);

}  // namespace sluice
