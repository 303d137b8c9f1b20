#include "coordinator/suite/canonical_case.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/leading_bits.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/canonical_object.hpp"
#include "coordinator/suite/documents/json_document.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

void append_prompt(std::string& out, const RenderedPrompt& one) {
  CanonicalObject(out).add_text("prompt", one.prompt).add_text("system", one.system);
}

namespace {

void append_value(std::string& out, const ClaimValue& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) {
    out += *boolean ? "true" : "false";
  } else if (const auto* real = std::get_if<double>(&value)) {
    append_canonical_number(out, *real);
  } else {
    append_json_string(out, std::get<std::string>(value));
  }
}

void append_claim(std::string& out, const ExpectedClaim& claim) {
  CanonicalObject object(out);
  object.add_text("predicate", claim.predicate).add_text("subject", claim.subject);
  append_value(object.member("value"), claim.value);
}

void append_message_part(std::string& out, const MessagePart& one) {
  CanonicalObject(out)
      .add("kind", std::to_string(static_cast<unsigned>(one.kind)))
      .add_text("media_type", one.media_type)
      .add_text("text", one.text);
}

void append_call(std::string& out, const ToolCall& one) {
  CanonicalObject(out).add("arguments", one.arguments).add_text("id", one.id).add_text("name", one.name);
}

void append_message(std::string& out, const ChatMessage& one) {
  CanonicalObject object(out);
  object.add_text("call_id", one.call_id).add_text("call_name", one.call_name);
  if (!one.calls.empty()) append_array(object.member("calls"), one.calls, append_call);
  append_array(object.member("parts"), one.parts, append_message_part);
  object.add("role", std::to_string(static_cast<unsigned>(one.role)));
}

void append_tool(std::string& out, const Tool& one) {
  CanonicalObject(out)
      .add_text("description", one.description)
      .add_text("name", one.name)
      .add("parameters", one.parameters);
}

void append_format(std::string& out, const AnswerFormat& format) {
  CanonicalObject(out)
      .add("is_json", format.is_json ? "true" : "false")
      .add("is_strict", format.is_strict ? "true" : "false")
      .add_text("name", format.name);
}

void append_extras(std::string& out, const RequestExtras& extras) {
  CanonicalObject object(out);
  if (extras.format != AnswerFormat{}) append_format(object.member("format"), extras.format);
  if (!extras.messages.empty()) append_array(object.member("messages"), extras.messages, append_message);
  if (!extras.params.empty()) object.add("params", json_of(extras.params));
  if (!extras.tool_choice.empty()) object.add_text("tool_choice", extras.tool_choice);
  // In their order: models look at it.
  if (!extras.tools.empty()) append_array(object.member("tools"), extras.tools, append_tool);
}

void append_question(std::string& out, const JudgeQuestion& question) {
  CanonicalObject object(out);
  if (!question.context.empty()) object.add_text("context", question.context);
  object.add_text("criteria", question.criteria).add_text("reference", question.reference);
  object.add_text("rubric", to_hex(question.rubric_hash));
  if (question.samples) object.add("samples", std::to_string(*question.samples));
}

/// A schema is canonical JSON already and stands as a text here: one form for all metrics.
void append_texts(std::string& out, const TextExpectation& what) {
  if (positive(what.metric) == MetricId::tool_calls && what.numbers == std::vector<double>{0.0}) {
    std::vector<std::span<const std::string>> calls;
    for (std::size_t i = 0; i + 1 < what.texts.size(); i += 2)
      calls.push_back(std::span(what.texts).subspan(i, 2));
    return append_unordered(out, calls, [](std::string& to, std::span<const std::string> call) {
      append_array(to, call, append_json_string);
    });
  }
  const MetricId metric = positive(what.metric);
  if (metric == MetricId::label) {
    std::vector<std::string> texts = what.texts;
    std::ranges::sort(texts.begin() + static_cast<std::ptrdiff_t>(std::min(first_label, texts.size())),
                      texts.end());
    return append_array(out, texts, append_json_string);
  }
  // Of a call the first is its name, of a command its arguments.
  const bool has_order =
      metric == MetricId::tool_call || metric == MetricId::tool_calls || is_command_metric(metric);
  if (has_order) return append_array(out, what.texts, append_json_string);
  append_unordered(out, what.texts, append_json_string);
}

void append_numbers(std::string& out, const TextExpectation& what) {
  append_array(out, what.numbers, append_canonical_number);
}

void append_parts_of(std::string& out, const TextExpectation& what);

void append_part(std::string& out, const TextExpectation& part) {
  CanonicalObject object(out);
  object.add_text("metric", info(part.metric).name);
  append_numbers(object.member("numbers"), part);
  append_parts_of(object.member("parts"), part);
  append_texts(object.member("texts"), part);
  object.add_number("weight", part.weight);
}

void append_parts_of(std::string& out, const TextExpectation& what) {
  append_unordered(out, what.parts, append_part);
}

void append_thresholding(std::string& out, const Thresholding& thresholding) {
  CanonicalObject object(out);
  if (thresholding.cluster_by_category) object.add_text("cluster", "category");
  object.add_if("confidence", thresholding.confidence).add_if("max_drop", thresholding.max_drop);
  object.add_if("min_effect", thresholding.min_effect).add_if("min_floor", thresholding.min_floor);
  object.add_if("min_score", thresholding.min_score);
  if (thresholding.mode) object.add_text("mode", to_string(*thresholding.mode));
}

void append_expectation(std::string& out, const Expectation& expectation) {
  CanonicalObject object(out);
  const TextExpectation& what = expectation.what;
  if (expectation.judge) append_question(object.member("judge"), *expectation.judge);
  object.add_text("metric", info(what.metric).name).add_if("min_score", expectation.min_score);
  if (!expectation.name.empty()) object.add_text("name", expectation.name);
  if (!what.numbers.empty()) append_numbers(object.member("numbers"), what);
  if (!what.parts.empty()) append_parts_of(object.member("parts"), what);
  append_texts(object.member("texts"), what);
  append_thresholding(object.member("thresholding"), expectation.thresholding);
}

/// The language is one of what floors differ by.
void append_examples(std::string& out, const Case& one) {
  CanonicalObject(out)
      .add_text("build_system", one.examples.build_system)
      .add_text("language", one.language)
      .add_text("task_class", one.examples.task_class);
}

}  // namespace

std::string canonical_thresholding(const Thresholding& thresholding) {
  std::string text;
  append_thresholding(text, thresholding);
  return text;
}

namespace {

std::string canonical_expectations(const Case& one) {
  std::string text;
  append_unordered(text, one.expectations, append_expectation);
  return text;
}

/// Whether calls are held against the tools of the request.
bool judges_by_tools(const TextExpectation& expectation) {
  return is_or_holds(expectation, [](const TextExpectation& one) {
    return positive(one.metric) == MetricId::tool_calls_valid;
  });
}

/// The order of its keys is for the model, and judges nothing.
std::string without_order(const std::string& schema) {
  const auto node = parse_json(schema);
  return node ? canonical_json(*node) : schema;
}

/// All of it, or that alone which judges answers.
enum class Part : std::uint8_t { whole, judging };

void append_form(std::string& out, const Case& one, std::string_view expectations, Part part) {
  const bool is_claims = one.kind == CaseKind::claims;
  const bool asks = part == Part::whole;
  // A judge reads it beside the answer.
  const bool judges = std::ranges::any_of(one.expectations, [](const Expectation& expectation) {
    return is_judge_metric(expectation.what.metric);
  });
  CanonicalObject object(out);
  object.add_text("category", one.category);
  if (asks) object.add_text("content", one.content);
  if ((asks || judges) && !is_claims) object.add_text("context", one.context);
  if (one.examples.are_wanted) append_examples(object.member("examples"), one);
  object.add("expectations", expectations);
  const bool has_judging_tools =
      !one.extras.tools.empty() && std::ranges::any_of(one.expectations, judges_by_tools, &Expectation::what);
  if (asks && !one.extras.empty()) {
    append_extras(object.member("extras"), one.extras);
  } else if (has_judging_tools) {
    RequestExtras judging;
    judging.tools = one.extras.tools;
    for (Tool& tool : judging.tools) tool.parameters = without_order(tool.parameters);
    append_extras(object.member("extras"), judging);
  }
  object.add_text("id", one.id);
  object.add("kind", is_claims ? "\"claims\"" : "\"text\"");
  if (is_claims) {
    // The prompt names the language of the code.
    if (asks) object.add_text("language", one.language);
    object.add_number("min_confidence", one.min_confidence);
    append_unordered(object.member("must_contain"), one.must_contain, append_claim);
    append_unordered(object.member("must_not_contain"), one.must_not_contain, append_claim);
  } else {
    // In their order, which arms refer to. It decides nothing, and stays in the form that baselines have.
    if (asks && !one.prompts.empty()) append_array(object.member("prompts"), one.prompts, append_prompt);
    if (!one.response_schema.empty())
      object.add("response_schema", asks ? one.response_schema : without_order(one.response_schema));
    if (asks) object.add_text("system", one.system);
    if (!one.command_vars.empty()) object.add("vars", one.command_vars);
  }
  object.add_number("weight", one.weight);
}

std::string canonical_text_of(const Case& one, std::string_view expectations, Part part) {
  std::string text;
  append_form(text, one, expectations, part);
  return text;
}

}  // namespace

std::string canonical_case(const Case& one) {
  return canonical_text_of(one, canonical_expectations(one), Part::whole);
}

std::string canonical_judging(const Case& one) {
  return canonical_text_of(one, canonical_expectations(one), Part::judging);
}

namespace {

/// What may change and the check is the same: the files of a program, which may be mended, and the labels
/// that there are beside the expected one.
bool has_surroundings(const TextExpectation& what) {
  return is_command_metric(what.metric) || positive(what.metric) == MetricId::label;
}
void forget_surroundings(TextExpectation& what) {
  if (has_surroundings(what)) what.texts.resize(2);
  for (TextExpectation& part : what.parts) forget_surroundings(part);
}

std::uint64_t digest_of(const Expectation& expectation) {
  std::string text;
  append_expectation(text, expectation);
  return std::max<std::uint64_t>(leading_bits(sha256(text)), 1);
}

}  // namespace

std::uint64_t check_digest(const Expectation& expectation) {
  std::optional<Expectation> alone;
  if (is_or_holds(expectation.what, has_surroundings)) {
    alone = expectation;
    forget_surroundings(alone->what);
  }
  return digest_of(alone ? *alone : expectation);
}

std::uint64_t score_digest(const Expectation& expectation) {
  if (is_claims_metric(expectation.what.metric)) return 0;
  Expectation asked;
  asked.what = expectation.what;
  forget_surroundings(asked.what);
  asked.judge = expectation.judge;
  if (asked.judge) {
    asked.judge->rubric_hash = {};
    asked.judge->samples.reset();
  }
  return digest_of(asked);
}

std::uint64_t criteria_digest(const Expectation& expectation) {
  Expectation asked;
  asked.what.metric = expectation.what.metric;
  asked.min_score = expectation.min_score.value_or(defaults::judge_min_score);
  asked.judge = JudgeQuestion{};
  asked.judge->criteria = expectation.judge->criteria;
  return digest_of(asked);
}

CaseFingerprints case_fingerprints(const Case& one) {
  const std::string expectations = canonical_expectations(one);
  return {sha256(canonical_text_of(one, expectations, Part::whole)),
          sha256(canonical_text_of(one, expectations, Part::judging))};
}

}  // namespace sluice
