#include "coordinator/suite/fingerprint.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Changes whenever the canonical form does: then every baseline's fingerprint is another.
constexpr std::string_view form_version = "1";

/// An object at the end of a text, closed when it goes; members are added in the order of their keys.
class Object {
 public:
  explicit Object(std::string& text) : text_(text) { text_ += '{'; }
  ~Object() { text_ += '}'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  /// Its value is what the caller appends.
  std::string& member(std::string_view key) {
    text_ += std::exchange(is_empty_, false) ? "\"" : ",\"";
    text_ += key;
    text_ += "\":";
    return text_;
  }
  Object& add(std::string_view key, std::string_view json) {
    member(key) += json;
    return *this;
  }
  Object& add_text(std::string_view key, std::string_view text) {
    append_json_string(member(key), text);
    return *this;
  }
  Object& add_number(std::string_view key, double value) {
    append_canonical_number(member(key), value);
    return *this;
  }
  Object& add_if(std::string_view key, const std::optional<double>& value) {
    return value ? add_number(key, *value) : *this;
  }

 private:
  std::string& text_;
  bool is_empty_ = true;
};

template <class Elements, class Append>
void append_array(std::string& out, const Elements& elements, const Append& append_one) {
  out += '[';
  for (bool is_first = true; const auto& element : elements) {
    if (!std::exchange(is_first, false)) out += ',';
    append_one(out, element);
  }
  out += ']';
}

/// Its order says nothing, so it is the elements' own.
template <class Elements, class Append>
void append_unordered(std::string& out, const Elements& elements, const Append& append_one) {
  if (std::size(elements) < 2) return append_array(out, elements, append_one);
  std::vector<std::string> texts;
  for (const auto& element : elements) append_one(texts.emplace_back(), element);
  std::ranges::sort(texts);
  append_array(out, texts, [](std::string& to, const std::string& text) { to += text; });
}

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
  Object object(out);
  object.add_text("predicate", claim.predicate).add_text("subject", claim.subject);
  append_value(object.member("value"), claim.value);
}

void append_prompt(std::string& out, const RenderedPrompt& one) {
  Object(out).add_text("prompt", one.prompt).add_text("system", one.system);
}

void append_message_part(std::string& out, const MessagePart& one) {
  Object(out)
      .add("kind", std::to_string(static_cast<unsigned>(one.kind)))
      .add_text("media_type", one.media_type)
      .add_text("text", one.text);
}

void append_call(std::string& out, const ToolCall& one) {
  Object(out).add("arguments", one.arguments).add_text("id", one.id).add_text("name", one.name);
}

void append_message(std::string& out, const ChatMessage& one) {
  Object object(out);
  object.add_text("call_id", one.call_id).add_text("call_name", one.call_name);
  if (!one.calls.empty()) append_array(object.member("calls"), one.calls, append_call);
  append_array(object.member("parts"), one.parts, append_message_part);
  object.add("role", std::to_string(static_cast<unsigned>(one.role)));
}

void append_tool(std::string& out, const Tool& one) {
  Object(out)
      .add_text("description", one.description)
      .add_text("name", one.name)
      .add("parameters", one.parameters);
}

void append_format(std::string& out, const AnswerFormat& format) {
  Object(out)
      .add("is_json", format.is_json ? "true" : "false")
      .add("is_strict", format.is_strict ? "true" : "false")
      .add_text("name", format.name);
}

void append_extras(std::string& out, const RequestExtras& extras) {
  Object object(out);
  if (extras.format != AnswerFormat{}) append_format(object.member("format"), extras.format);
  if (!extras.messages.empty()) append_array(object.member("messages"), extras.messages, append_message);
  if (!extras.params.empty()) object.add("params", json_of(extras.params));
  if (!extras.tool_choice.empty()) object.add_text("tool_choice", extras.tool_choice);
  // In their order: models look at it.
  if (!extras.tools.empty()) append_array(object.member("tools"), extras.tools, append_tool);
}

void append_question(std::string& out, const JudgeQuestion& question) {
  Object object(out);
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
  // Of a call the first is its name, of a command its arguments.
  const MetricId metric = positive(what.metric);
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
  Object object(out);
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
  Object object(out);
  if (thresholding.cluster_by_category) object.add_text("cluster", "category");
  object.add_if("confidence", thresholding.confidence).add_if("max_drop", thresholding.max_drop);
  object.add_if("min_effect", thresholding.min_effect).add_if("min_floor", thresholding.min_floor);
  object.add_if("min_score", thresholding.min_score);
  if (thresholding.mode) object.add_text("mode", to_string(*thresholding.mode));
}

void append_expectation(std::string& out, const Expectation& expectation) {
  Object object(out);
  const TextExpectation& what = expectation.what;
  if (expectation.judge) append_question(object.member("judge"), *expectation.judge);
  object.add_text("metric", info(what.metric).name).add_if("min_score", expectation.min_score);
  if (!what.numbers.empty()) append_numbers(object.member("numbers"), what);
  if (!what.parts.empty()) append_parts_of(object.member("parts"), what);
  append_texts(object.member("texts"), what);
  append_thresholding(object.member("thresholding"), expectation.thresholding);
}

/// The language is one of what floors differ by.
void append_examples(std::string& out, const Case& one) {
  Object(out)
      .add_text("build_system", one.examples.build_system)
      .add_text("language", one.language)
      .add_text("task_class", one.examples.task_class);
}

void append_judge(std::string& out, const FingerprintJudge& judge) {
  Object object(out);
  object.add("max_tokens", std::to_string(judge.max_tokens)).add_text("model", judge.model);
  if (judge.provider) object.add_text("provider", to_string(*judge.provider));
  object.add("samples", std::to_string(judge.samples)).add_number("temperature", judge.temperature);
}

void append_arm(std::string& out, const FingerprintArm& arm) {
  Object object(out);
  object.add("max_tokens", std::to_string(arm.max_tokens)).add_text("model", arm.model);
  object.add_text("name", arm.name);
  if (!arm.params.empty()) object.add("params", json_of(arm.params));
  if (arm.prompt) object.add("prompt", std::to_string(*arm.prompt));
  object.add_text("provider", to_string(arm.provider));
  if (arm.seed) object.add("seed", std::to_string(*arm.seed));
  object.add_if("temperature", arm.temperature);
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

/// All of it, or that alone which judges answers.
enum class Part : std::uint8_t { whole, judging };

void append_form(std::string& out, const Case& one, std::string_view expectations, Part part) {
  const bool is_claims = one.kind == CaseKind::claims;
  const bool asks = part == Part::whole;
  // A judge reads it beside the answer.
  const bool judges = std::ranges::any_of(one.expectations, [](const Expectation& expectation) {
    return is_judge_metric(expectation.what.metric);
  });
  Object object(out);
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
    // In their order, which arms refer to.
    if (asks && !one.prompts.empty()) append_array(object.member("prompts"), one.prompts, append_prompt);
    if (!one.response_schema.empty()) object.add("response_schema", one.response_schema);
    if (asks) object.add_text("system", one.system);
    if (!one.command_vars.empty()) object.add("vars", one.command_vars);
  }
  object.add_number("weight", one.weight);
}

std::string canonical_form(const Case& one, std::string_view expectations, Part part) {
  std::string text;
  append_form(text, one, expectations, part);
  return text;
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
  std::string text;
  append_expectation(text, without_files ? *without_files : expectation);
  const Digest whole = sha256(text);
  std::uint64_t digest = 0;
  for (std::size_t i = 0; i < sizeof digest; ++i) digest = digest << 8 | whole[i];
  return std::max<std::uint64_t>(digest, 1);
}

CaseFingerprints case_fingerprints(const Case& one) {
  const std::string expectations = canonical_expectations(one);
  return {sha256(canonical_form(one, expectations, Part::whole)),
          sha256(canonical_form(one, expectations, Part::judging))};
}

namespace {

bool reads_claims(const Suite& suite) {
  return std::ranges::any_of(suite.metrics, is_claims_metric);
}
bool embeds(const Suite& suite) {
  return suite.examples != nullptr ||
         std::ranges::find(suite.metrics, MetricId::semantic_similarity_to) != suite.metrics.end();
}
bool judges(const Suite& suite) {
  return std::ranges::any_of(suite.metrics, is_judge_metric);
}

void append_metric(std::string& out, MetricId id) {
  append_json_string(out, std::string(info(id).name) + " " + std::string(info(id).version));
}

void append_config(std::string& out, const Suite& suite, const Digest& content,
                   const FingerprintSettings& settings) {
  Object object(out);
  if (!settings.arms.empty()) append_unordered(object.member("arms"), settings.arms, append_arm);
  if (embeds(suite)) {
    object.add_text("embedding_model", settings.embedding_model);
    if (settings.embedding_provider) {
      object.add_text("embedding_provider", to_string(*settings.embedding_provider));
    }
  }
  object.add_text("form", form_version);
  if (judges(suite)) append_judge(object.member("judge"), settings.judge);
  const bool has_arms = !settings.arms.empty();
  if (!has_arms) object.add("max_tokens", std::to_string(settings.max_tokens));
  append_unordered(object.member("metrics"), suite.metrics, append_metric);
  if (!has_arms) object.add_text("model", settings.model);
  if (reads_claims(suite)) object.add_text("ontology", to_hex(settings.ontology));
  if (!has_arms && !settings.params.empty()) object.add("params", json_of(settings.params));
  if (reads_claims(suite)) object.add_text("prompt", to_hex(settings.prompt));
  if (!has_arms) object.add_text("provider", to_string(settings.provider));
  if (!has_arms && settings.seed) object.add("seed", std::to_string(*settings.seed));
  object.add_text("suite", to_hex(content));
  if (!has_arms) object.add_if("temperature", settings.temperature);
}

Digest fingerprint_of(const Suite& suite, const Digest& content, const FingerprintSettings& settings) {
  std::string text;
  append_config(text, suite, content, settings);
  return sha256(text);
}

}  // namespace

Digest config_fingerprint(const Suite& suite, const FingerprintSettings& settings) {
  return fingerprint_of(suite, suite.content_fingerprint, settings);
}

FingerprintParts fingerprint_parts(const Suite& suite, const FingerprintSettings& settings) {
  constexpr std::size_t digits = 16;
  FingerprintParts parts;
  const auto add = [&](const std::string& name, const auto& append, const auto&... what) {
    std::string text;
    append(text, what...);
    parts[name] = to_hex(sha256(text)).substr(0, digits);
  };
  const auto append_text = [](std::string& out, const std::string& text) { out += text; };
  add("requests", append_text, to_hex(suite.content_fingerprint));
  add("checks", append_text, to_hex(suite.judging_fingerprint));
  add("metrics", append_unordered<std::vector<MetricId>, decltype(&append_metric)>, suite.metrics,
      &append_metric);
  for (const PromptVariant& one : suite.prompts)
    add("prompt " + one.id, append_prompt, RenderedPrompt{one.system, one.prompt});
  for (const FingerprintArm& arm : settings.arms) add("arm " + arm.name, append_arm, arm);
  if (settings.arms.empty()) {
    add("model", append_arm,
        FingerprintArm{"", settings.provider, settings.model, settings.temperature, settings.max_tokens,
                       settings.seed, std::nullopt, settings.params});
  }
  if (judges(suite)) add("judge", append_judge, settings.judge);
  if (reads_claims(suite)) add("claims", append_text, to_hex(settings.prompt) + to_hex(settings.ontology));
  if (embeds(suite)) {
    const auto& provider = settings.embedding_provider;
    add("embeddings", append_text,
        settings.embedding_model + '\n' + std::string(provider ? to_string(*provider) : ""));
  }
  return parts;
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
