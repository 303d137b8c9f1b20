#include "common/text/text.hpp"
#include "worker/providers/formats.hpp"

#include <algorithm>
#include <array>
#include <utility>

/// OpenAI's responses, the only format that some of its models have.
namespace sluice {
namespace {

void append_part(std::string& body, const MessagePart& part, const ModelRequest& request) {
  const bool is_data = part.kind == PartKind::image_data;
  if (is_data || part.kind == PartKind::image_url) {
    body += R"({"type":"input_image","image_url":)";
    append_json_string(body, is_data ? "data:" + part.media_type + ";base64," + part.text : part.text);
  } else {
    body += R"({"type":"input_text","text":)";
    append_json_string(body, text_of(part, request));
  }
  body += '}';
}

void append_user(std::string& body, const ChatMessage& message, const ModelRequest& request) {
  body += R"({"role":"user","content":)";
  if (const std::string* text = only_text(message, request)) {
    append_json_string(body, *text);
  } else {
    body += '[';
    for (const MessagePart& part : message.parts) {
      append_part(body, part, request);
      body += ',';
    }
    close_list(body);
  }
  body += "},";
}

/// What the model said, and each of its calls: items of their own.
void append_assistant(std::string& body, const ChatMessage& message, const ModelRequest& request) {
  if (!message.parts.empty()) {
    body += R"({"role":"assistant","content":)";
    append_json_string(body, joined_texts(message, request));
    body += "},";
  }
  for (const ToolCall& call : message.calls) {
    body += R"({"type":"function_call","call_id":)";
    append_json_string(body, call.id);
    body += R"(,"name":)";
    append_json_string(body, call.name);
    body += R"(,"arguments":)";
    append_json_string(body, call.arguments);
    body += "},";
  }
}

void append_input(std::string& body, const ModelRequest& request) {
  body += R"(,"input":[)";
  for (const ChatMessage& message : messages_of(request)) {
    if (message.role == MessageRole::user) {
      append_user(body, message, request);
    } else if (message.role == MessageRole::assistant) {
      append_assistant(body, message, request);
    } else {
      body += R"({"type":"function_call_output","call_id":)";
      append_json_string(body, message.call_id);
      body += R"(,"output":)";
      append_json_string(body, joined_texts(message, request));
      body += "},";
    }
  }
  close_list(body);
}

/// Parameters of a tool are strict here unless it says that they are not.
void append_tools(std::string& body, const RequestExtras& extras) {
  for (const Tool& tool : extras.tools) {
    body += &tool == extras.tools.data() ? R"(,"tools":[)" : ",";
    body += R"({"type":"function","name":)";
    append_json_string(body, tool.name);
    body += R"(,"description":)";
    append_json_string(body, tool.description);
    body += R"(,"parameters":)" + tool.parameters + R"(,"strict":false})";
  }
  if (!extras.tools.empty()) body += ']';
  const std::string& choice = extras.tool_choice;
  if (choice.empty()) return;
  body += R"(,"tool_choice":)";
  if (choice == "auto" || choice == "none" || choice == "required") return append_json_string(body, choice);
  body += R"({"type":"function","name":)";
  append_json_string(body, choice);
  body += '}';
}

/// The value of a parameter, which is taken out; empty if there is none.
std::string taken(RequestParams& params, std::string_view name) {
  const auto found = std::ranges::find(params, name, &RequestParam::name);
  if (found == params.end()) return "";
  std::string json = std::move(found->json);
  params.erase(found);
  return json;
}

/// Appends a field that is an object: the members of the parameter of that name, and those of `more` that it
/// lacks. A parameter that is no object goes as it is, so that the provider refuses it.
void append_object(std::string& body, std::string_view name, RequestParams& params,
                   const RequestParams& more) {
  const std::string own = taken(params, name);
  const auto document = JsonDocument::parse(own);
  const JsonView given = document ? document->root() : JsonView();
  if (!own.empty() && !given.is_object()) return append_params(body, {{std::string(name), own}});
  RequestParams members;
  for (const auto& [key, value] : given.members()) members.push_back({std::string(key), value.json()});
  for (const RequestParam& one : more) {
    if (!one.json.empty() && !given[one.name]) members.push_back(one);
  }
  if (own.empty() && members.empty()) return;
  std::string fields;
  append_params(fields, members);
  append_params(body, {{std::string(name), "{" + (fields.empty() ? fields : fields.substr(1)) + "}"}});
}

/// The form of the answer; empty if nobody asks for one.
std::string format_of_answer(const ModelRequest& request) {
  const AnswerFormat& format = request.extras.format;
  if (!has_text(request.response_schema)) return format.is_json ? R"({"type":"json_object"})" : "";
  const bool is_own = !request.schema_name.empty();
  std::string json = R"({"type":"json_schema","name":)";
  append_json_string(json, is_own ? request.schema_name : format.name);
  json += is_own || format.is_strict ? R"(,"strict":true,"schema":)" : R"(,"strict":false,"schema":)";
  return json + *request.response_schema + "}";
}

HttpRequest build(const ProviderSettings& provider, const Credentials& credentials,
                  const ModelRequest& request) {
  HttpRequest http = json_post(provider, "/responses", "Authorization", "Bearer ", credentials);
  std::string& body = http.body;
  body.reserve(body_size_hint(request));
  body += R"({"model":)";
  append_json_string(body, request.model);
  if (has_text(request.system)) {
    body += R"(,"instructions":)";
    append_shared_json_string(http, request.system);
  }
  append_input(body, request);
  if (request.temperature) body += R"(,"temperature":)" + shortest(*request.temperature);
  if (request.max_tokens != 0) body += R"(,"max_output_tokens":)" + std::to_string(request.max_tokens);
  RequestParams params = params_in_format(request.extras.params, {});
  append_object(body, "text", params,
                {{"format", format_of_answer(request)}, {"verbosity", taken(params, "verbosity")}});
  append_tools(body, request.extras);
  append_object(body, "reasoning", params, {{"effort", taken(params, "reasoning_effort")}});
  // The provider keeps what it answers otherwise, unlike chat completions.
  const bool says_store = std::ranges::find(params, "store", &RequestParam::name) != params.end();
  if (!says_store) body += R"(,"store":false)";
  append_params(body, params);
  body += '}';
  return http;
}

/// The texts of the answer's messages, and what the model said instead of one.
struct Said {
  std::string text;
  std::string refusal;
  bool refuses = false;  ///< Be it without a word.
};

Said said_in(const JsonView& output) {
  Said said;
  for (const JsonView& item : output.elements()) {
    if (item["type"].text() != "message") continue;
    for (const JsonView& part : item["content"].elements()) {
      said.text += part["text"].text().value_or("");
      said.refusal += part["refusal"].text().value_or("");
      said.refuses = said.refuses || part["type"].text() == "refusal";
    }
  }
  return said;
}

/// Those that wait, failed or were cancelled have no answer, nor have those that name an error.
bool is_answer(const JsonView& body) {
  const auto status = body["status"].text();
  return body["output"].is_array() && !names_error(body["error"]) &&
         (!status || status == "completed" || status == "incomplete");
}

std::optional<Completion> read_answer(const JsonView& body, const Credentials&) {
  if (!is_answer(body)) return std::nullopt;
  Completion completion;
  const std::string reason = body["incomplete_details"]["reason"].text_or_empty();
  completion.finish_reason = reason.empty() ? body["status"].text_or_empty() : reason;
  completion.served_model = body["model"].text_or_empty();
  const JsonView output = body["output"];
  Said said = said_in(output);
  // Nothing else tells it from an answer without any text.
  if (said.refuses && said.refusal.empty() && said.text.empty()) completion.finish_reason = "refusal";
  if (!said.refusal.empty() || completion.finish_reason == "refusal" || reason == "content_filter") {
    completion.non_answer = declined(completion.finish_reason, said.refusal);
  } else if (body["status"].text() == "incomplete") {
    completion.non_answer = cut_off(completion.finish_reason);
  }
  completion.text = std::move(said.text.empty() ? said.refusal : said.text);
  for (const JsonView& item : output.elements()) {
    if (item["type"].text() == "function_call")
      add_call(completion, item["name"].text_or_empty(), item["arguments"].text_or_empty());
  }
  return completion;
}

Usage read_usage(const JsonView& body, const Credentials&) {
  const JsonView usage = body["usage"];
  return usage_with_total(usage["input_tokens"].whole(), usage["output_tokens"].whole(),
                          usage["total_tokens"].whole());
}

/// What the code of a response that failed would be as a status. One that nobody knows may be an outage's, as
/// servers of other makers name theirs.
int status_of(std::string_view code) {
  constexpr std::array<std::string_view, 2> limits{"rate_limit_exceeded", "slow_down"};
  if (std::ranges::find(limits, code) != limits.end()) return 429;
  const bool is_of_request = code.starts_with("invalid_") || code.starts_with("unsupported_") ||
                             code.find("image") != std::string_view::npos ||
                             code.ends_with("_content_policy_violation") || code == "context_length_exceeded";
  return is_of_request ? 400 : 500;
}

/// A response may fail after it began: its status is 200 then, and the code stands in it.
ErrorFacts read_error(const JsonView& body, const Credentials& credentials) {
  ErrorFacts facts = openai_format.read_error(body, credentials);
  const std::string_view code = body["error"]["code"].text().value_or("");
  facts.is_declined = facts.is_declined || code.ends_with("_content_policy_violation");
  if (!facts.status && body["status"].text() == "failed") facts.status = status_of(code);
  return facts;
}

}  // namespace

const Format openai_responses_format = {"an OpenAI response", build,   read_answer, read_usage,
                                        read_error,           nullptr, nullptr};

}  // namespace sluice
