#include "coordinator/suite/fingerprint.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/model/metrics.hpp"
#include "common/text/joined.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Changes whenever the canonical form does: then every baseline's fingerprint is another.
constexpr std::string_view form_version = "1";

std::string number(double value) {
  std::string out;
  append_canonical_number(out, value);
  return out;
}

/// An object; members are added in the order of their keys.
class Object {
 public:
  Object& add(std::string_view key, std::string_view json) {
    text_ += text_.empty() ? "{\"" : ",\"";
    text_ += key;
    text_ += "\":";
    text_ += json;
    return *this;
  }
  Object& add_text(std::string_view key, std::string_view text) {
    add(key, "");
    append_json_string(text_, text);
    return *this;
  }
  Object& add_if(std::string_view key, const std::optional<double>& value) {
    return value ? add(key, number(*value)) : *this;
  }
  Object& add_unless_empty(std::string_view key, bool is_empty, std::string_view json) {
    return is_empty ? *this : add(key, json);
  }
  std::string finish() {
    text_ += text_.empty() ? "{}" : "}";
    return std::move(text_);
  }

 private:
  std::string text_;
};

/// Its order says nothing, so it is the elements' own.
std::string unordered_array(std::vector<std::string> elements) {
  std::ranges::sort(elements);
  std::string out = "[";
  for (const std::string& element : elements) {
    if (&element != elements.data()) out += ',';
    out += element;
  }
  return out + "]";
}

std::string canonical_value(const ClaimValue& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const auto* real = std::get_if<double>(&value)) return number(*real);
  return json_string(std::get<std::string>(value));
}

std::string canonical_claims(const std::vector<ExpectedClaim>& claims) {
  std::vector<std::string> elements;
  for (const ExpectedClaim& claim : claims) {
    elements.push_back(Object()
                           .add_text("predicate", claim.predicate)
                           .add_text("subject", claim.subject)
                           .add("value", canonical_value(claim.value))
                           .finish());
  }
  return unordered_array(std::move(elements));
}

/// In their order, which arms refer to.
std::string canonical_prompts(const std::vector<RenderedPrompt>& prompts) {
  std::string out = "[";
  for (const RenderedPrompt& one : prompts) {
    if (&one != prompts.data()) out += ',';
    out += Object().add_text("prompt", one.prompt).add_text("system", one.system).finish();
  }
  return out + "]";
}

std::string canonical_parts(const std::vector<MessagePart>& parts) {
  std::string out = "[";
  for (const MessagePart& one : parts) {
    if (&one != parts.data()) out += ',';
    out += Object()
               .add("kind", std::to_string(static_cast<unsigned>(one.kind)))
               .add_text("media_type", one.media_type)
               .add_text("text", one.text)
               .finish();
  }
  return out + "]";
}

std::string canonical_calls(const std::vector<ToolCall>& calls) {
  std::string out = "[";
  for (const ToolCall& one : calls) {
    if (&one != calls.data()) out += ',';
    out +=
        Object().add("arguments", one.arguments).add_text("id", one.id).add_text("name", one.name).finish();
  }
  return out + "]";
}

std::string canonical_messages(const std::vector<ChatMessage>& messages) {
  std::string out = "[";
  for (const ChatMessage& one : messages) {
    if (&one != messages.data()) out += ',';
    Object object;
    object.add_text("call_id", one.call_id).add_text("call_name", one.call_name);
    if (!one.calls.empty()) object.add("calls", canonical_calls(one.calls));
    object.add("parts", canonical_parts(one.parts));
    out += object.add("role", std::to_string(static_cast<unsigned>(one.role))).finish();
  }
  return out + "]";
}

/// In their order: models look at it.
std::string canonical_tools(const std::vector<Tool>& tools) {
  std::string out = "[";
  for (const Tool& one : tools) {
    if (&one != tools.data()) out += ',';
    out += Object()
               .add_text("description", one.description)
               .add_text("name", one.name)
               .add("parameters", one.parameters)
               .finish();
  }
  return out + "]";
}

std::string canonical_extras(const RequestExtras& extras) {
  Object object;
  if (extras.format != AnswerFormat{}) {
    object.add("format", Object()
                             .add("is_json", extras.format.is_json ? "true" : "false")
                             .add("is_strict", extras.format.is_strict ? "true" : "false")
                             .add_text("name", extras.format.name)
                             .finish());
  }
  if (!extras.messages.empty()) object.add("messages", canonical_messages(extras.messages));
  if (!extras.params.empty()) object.add("params", json_of(extras.params));
  if (!extras.tool_choice.empty()) object.add_text("tool_choice", extras.tool_choice);
  if (!extras.tools.empty()) object.add("tools", canonical_tools(extras.tools));
  return object.finish();
}

std::string canonical_question(const JudgeQuestion& question) {
  Object object;
  object.add_text("criteria", question.criteria).add_text("reference", question.reference);
  object.add_text("rubric", to_hex(question.rubric_hash));
  if (question.samples) object.add("samples", std::to_string(*question.samples));
  return object.finish();
}

std::string canonical_texts(const TextExpectation& what) {
  // A schema is canonical JSON already and stands as a text here: one form for all metrics.
  std::vector<std::string> texts;
  for (const std::string& text : what.texts) texts.push_back(json_string(text));
  // Of a call the first is its name, of a command its arguments.
  const bool has_order = positive(what.metric) == MetricId::tool_call || is_command_metric(what.metric);
  return has_order ? "[" + joined(texts, ",") + "]" : unordered_array(std::move(texts));
}

std::string canonical_numbers(const TextExpectation& what) {
  std::vector<std::string> numbers;
  for (const double one : what.numbers) numbers.push_back(number(one));
  return "[" + joined(numbers, ",") + "]";
}

std::string canonical_parts_of(const TextExpectation& what);

std::string canonical_part(const TextExpectation& part) {
  return Object()
      .add_text("metric", info(part.metric).name)
      .add("numbers", canonical_numbers(part))
      .add("parts", canonical_parts_of(part))
      .add("texts", canonical_texts(part))
      .add("weight", number(part.weight))
      .finish();
}

std::string canonical_parts_of(const TextExpectation& what) {
  std::vector<std::string> parts;
  for (const TextExpectation& one : what.parts) parts.push_back(canonical_part(one));
  return unordered_array(std::move(parts));
}

std::string canonical_expectation(const Expectation& expectation) {
  Object object;
  if (expectation.judge) object.add("judge", canonical_question(*expectation.judge));
  return object.add_text("metric", info(expectation.what.metric).name)
      .add_if("min_score", expectation.min_score)
      .add_unless_empty("numbers", expectation.what.numbers.empty(), canonical_numbers(expectation.what))
      .add_unless_empty("parts", expectation.what.parts.empty(), canonical_parts_of(expectation.what))
      .add("texts", canonical_texts(expectation.what))
      .add("thresholding", canonical_thresholding(expectation.thresholding))
      .finish();
}

/// The language is one of what floors differ by.
std::string canonical_examples(const Case& one) {
  return Object()
      .add_text("build_system", one.examples.build_system)
      .add_text("language", one.language)
      .add_text("task_class", one.examples.task_class)
      .finish();
}

std::string canonical_judge(const FingerprintJudge& judge) {
  Object object;
  object.add("max_tokens", std::to_string(judge.max_tokens)).add_text("model", judge.model);
  if (judge.provider) object.add_text("provider", to_string(*judge.provider));
  object.add("samples", std::to_string(judge.samples)).add("temperature", number(judge.temperature));
  return object.finish();
}

std::string canonical_arm(const FingerprintArm& arm) {
  Object object;
  object.add("max_tokens", std::to_string(arm.max_tokens)).add_text("model", arm.model);
  object.add_text("name", arm.name);
  if (!arm.params.empty()) object.add("params", json_of(arm.params));
  if (arm.prompt) object.add("prompt", std::to_string(*arm.prompt));
  object.add_text("provider", to_string(arm.provider));
  if (arm.seed) object.add("seed", std::to_string(*arm.seed));
  object.add_if("temperature", arm.temperature);
  return object.finish();
}

}  // namespace

std::string canonical_thresholding(const Thresholding& thresholding) {
  Object object;
  if (thresholding.cluster_by_category) object.add_text("cluster", "category");
  object.add_if("confidence", thresholding.confidence).add_if("max_drop", thresholding.max_drop);
  object.add_if("min_effect", thresholding.min_effect).add_if("min_floor", thresholding.min_floor);
  object.add_if("min_score", thresholding.min_score);
  if (thresholding.mode) object.add_text("mode", to_string(*thresholding.mode));
  return object.finish();
}

namespace {

std::string canonical_expectations(const Case& one) {
  std::vector<std::string> expectations;
  for (const Expectation& expectation : one.expectations)
    expectations.push_back(canonical_expectation(expectation));
  return unordered_array(std::move(expectations));
}

/// All of it, or that alone which judges answers.
enum class Part : std::uint8_t { whole, judging };

std::string canonical_form(const Case& one, const std::string& expectations, Part part) {
  const bool is_claims = one.kind == CaseKind::claims;
  const bool asks = part == Part::whole;
  // A judge reads it beside the answer.
  const bool judges = std::ranges::any_of(one.expectations, [](const Expectation& expectation) {
    return is_judge_metric(expectation.what.metric);
  });
  Object object;
  object.add_text("category", one.category);
  if (asks) object.add_text("content", one.content);
  if ((asks || judges) && !is_claims) object.add_text("context", one.context);
  if (one.examples.are_wanted) object.add("examples", canonical_examples(one));
  object.add("expectations", expectations);
  if (asks && !one.extras.empty()) object.add("extras", canonical_extras(one.extras));
  object.add_text("id", one.id);
  object.add("kind", is_claims ? "\"claims\"" : "\"text\"");
  if (is_claims) {
    // The prompt names the language of the code.
    if (asks) object.add_text("language", one.language);
    object.add("min_confidence", number(one.min_confidence));
    object.add("must_contain", canonical_claims(one.must_contain));
    object.add("must_not_contain", canonical_claims(one.must_not_contain));
  } else {
    if (asks && !one.prompts.empty()) object.add("prompts", canonical_prompts(one.prompts));
    if (!one.response_schema.empty()) object.add("response_schema", one.response_schema);
    if (asks) object.add_text("system", one.system);
  }
  object.add("weight", number(one.weight));
  return object.finish();
}

}  // namespace

std::string canonical_case(const Case& one) {
  return canonical_form(one, canonical_expectations(one), Part::whole);
}

namespace {

/// A program that is mended is the same check.
void forget_files(TextExpectation& what) {
  if (is_command_metric(what.metric)) what.texts.resize(2);
  for (TextExpectation& part : what.parts) forget_files(part);
}

}  // namespace

std::uint64_t check_digest(const Expectation& expectation) {
  std::optional<Expectation> without_files;
  if (has_command(expectation.what)) {
    without_files = expectation;
    forget_files(without_files->what);
  }
  const std::string hex = to_hex(sha256(canonical_expectation(without_files ? *without_files : expectation)));
  std::uint64_t digest = 0;
  std::from_chars(hex.data(), hex.data() + 16, digest, 16);
  return std::max<std::uint64_t>(digest, 1);
}

Digest case_fingerprint(const Case& one) {
  return sha256(canonical_case(one));
}

CaseFingerprints case_fingerprints(const Case& one) {
  const std::string expectations = canonical_expectations(one);
  return {sha256(canonical_form(one, expectations, Part::whole)),
          sha256(canonical_form(one, expectations, Part::judging))};
}

namespace {

Digest fingerprint_of(const Suite& suite, const Digest& content, const FingerprintSettings& settings) {
  const bool reads_claims = std::ranges::any_of(suite.metrics, is_claims_metric);
  const bool embeds =
      suite.examples != nullptr ||
      std::ranges::find(suite.metrics, MetricId::semantic_similarity_to) != suite.metrics.end();
  std::vector<std::string> metrics;
  for (const MetricId id : suite.metrics) {
    metrics.push_back(json_string(std::string(info(id).name) + " " + std::string(info(id).version)));
  }
  Object object;
  if (!settings.arms.empty()) {
    std::vector<std::string> arms;
    for (const FingerprintArm& arm : settings.arms) arms.push_back(canonical_arm(arm));
    object.add("arms", unordered_array(std::move(arms)));
  }
  if (embeds) {
    object.add_text("embedding_model", settings.embedding_model);
    if (settings.embedding_provider) {
      object.add_text("embedding_provider", to_string(*settings.embedding_provider));
    }
  }
  object.add_text("form", form_version);
  if (std::ranges::any_of(suite.metrics, is_judge_metric)) {
    object.add("judge", canonical_judge(settings.judge));
  }
  const bool has_arms = !settings.arms.empty();
  if (!has_arms) object.add("max_tokens", std::to_string(settings.max_tokens));
  object.add("metrics", unordered_array(std::move(metrics)));
  if (!has_arms) object.add_text("model", settings.model);
  if (reads_claims) object.add_text("ontology", to_hex(settings.ontology));
  if (!has_arms && !settings.params.empty()) object.add("params", json_of(settings.params));
  if (reads_claims) object.add_text("prompt", to_hex(settings.prompt));
  if (!has_arms) object.add_text("provider", to_string(settings.provider));
  if (!has_arms && settings.seed) object.add("seed", std::to_string(*settings.seed));
  object.add_text("suite", to_hex(content));
  if (!has_arms) object.add_if("temperature", settings.temperature);
  return sha256(object.finish());
}

}  // namespace

Digest config_fingerprint(const Suite& suite, const FingerprintSettings& settings) {
  return fingerprint_of(suite, suite.content_fingerprint, settings);
}

Digest judging_fingerprint(const Suite& suite, FingerprintSettings settings) {
  settings.temperature.reset();
  settings.max_tokens = 0;
  settings.seed.reset();
  settings.params = {};
  settings.prompt = {};
  for (FingerprintArm& arm : settings.arms) arm = {arm.name, arm.provider, arm.model, {}, 0, {}, {}, {}};
  return fingerprint_of(suite, suite.judging_fingerprint, settings);
}

CaseJudging::CaseJudging(const Suite& suite, FingerprintSettings settings)
    : suite_(suite), settings_(std::move(settings)) {}

/// One of few: a suite's cases are judged by the same metrics under the same arms.
const Digest& CaseJudging::by_metrics(std::uint32_t arm, const std::vector<MetricId>& metrics) {
  const auto [found, is_new] = known_.try_emplace({arm, metrics});
  if (!is_new) return found->second;
  Suite alone;
  alone.examples = suite_.examples;
  alone.metrics = metrics;
  alone.judging_fingerprint = sha256(suite_.name + '\n' + canonical_thresholding(suite_.thresholding));
  FingerprintSettings settings = settings_;
  if (arm < settings.arms.size()) settings.arms = {settings_.arms[arm]};
  return found->second = judging_fingerprint(alone, std::move(settings));
}

Digest CaseJudging::of(const Case& one) {
  std::vector<MetricId> metrics;
  for (const MetricId metric : suite_.metrics) {
    const bool is_asked = std::ranges::any_of(one.expectations, [metric](const Expectation& expectation) {
      return expectation.what.metric == metric;
    });
    if (is_asked || (one.expectations.empty() && is_claims_metric(metric))) metrics.push_back(metric);
  }
  return sha256(to_hex(by_metrics(one.arm, metrics)) + '\n' +
                canonical_form(one, canonical_expectations(one), Part::judging));
}

}  // namespace sluice
