#include "common/model/request_text.hpp"
#include "common/settings/request_body.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "worker/providers/formats.hpp"

#include <chrono>
#include <limits>

/// The formats that a worker's own settings make: kinds `http` and `exec` (docs/providers.md).
namespace sluice {
namespace {

/// A value of the request as JSON, and as it stands in the midst of a text.
struct RequestValue {
  std::string json{};  ///< Empty: the request has none.
  std::string text{};
};

RequestValue text_value(const std::string& text) {
  return {json_string(text), text};
}

RequestValue number_value(std::string number) {
  return {number, number};
}

std::string chat_messages(const ModelRequest& request) {
  std::string list = "[";
  if (has_text(request.system)) {
    list += R"({"role":"system","content":)";
    append_json_string(list, *request.system);
    list += "},";
  }
  append_chat_messages(list, request);
  return list + "]";
}

class BodyWriter {
 public:
  BodyWriter(const ModelRequest& request, std::string& out) : request_(request), out_(out) {}

  /// False, and nothing is written, for a text that is a variable without a value.
  bool write(const JsonView& node) {
    if (const auto text = node.text()) return write_text(*text);
    if (node.is_object()) {
      write_object(node);
    } else if (node.is_array()) {
      out_ += '[';
      for (const JsonView& one : node.elements()) {
        if (write(one)) out_ += ',';
      }
      close_list(out_);
    } else {
      out_ += node.json();
    }
    return true;
  }

 private:
  void write_object(const JsonView& node) {
    out_ += '{';
    for (const auto& [name, value] : node.members()) {
      const std::size_t before = out_.size();
      append_json_string(out_, name);
      out_ += ':';
      if (write(value)) {
        out_ += ',';
      } else {
        out_.resize(before);
      }
    }
    if (out_.back() == ',') out_.pop_back();
    out_ += '}';
  }

  bool write_text(std::string_view text) {
    if (const std::string_view sole = sole_variable(text); !sole.empty()) {
      const RequestValue value = value_of(sole);
      out_ += value.json;
      return !value.json.empty();
    }
    // Settings were read with the same parser: it is a template, of these variables alone.
    const auto parsed = Template::parse(text);
    Variables values;
    for (const std::string& name : parsed->variables()) values.emplace(name, value_of(name).text);
    std::size_t room = std::numeric_limits<std::size_t>::max();
    append_json_string(out_, parsed->render(values, room).value_or(std::string()));
    return true;
  }

  RequestValue value_of(std::string_view name) const {
    if (name == "model") return text_value(request_.model);
    if (name == "prompt") return text_value(transcript(request_.extras.messages, request_.user));
    if (name == "system") return has_text(request_.system) ? text_value(*request_.system) : RequestValue();
    if (name == "messages") return {chat_messages(request_), ""};
    if (name == "temperature" && request_.temperature) return number_value(shortest(*request_.temperature));
    if (name == "max_tokens" && request_.max_tokens != 0)
      return number_value(std::to_string(request_.max_tokens));
    if (name == "seed" && request_.seed) return number_value(std::to_string(*request_.seed));
    if (name == "response_schema" && has_text(request_.response_schema))
      return {*request_.response_schema, ""};
    return {};
  }

  const ModelRequest& request_;
  std::string& out_;
};

HttpRequest build_http(const ProviderSettings& provider, const Credentials& credentials,
                       const ModelRequest& request) {
  HttpRequest http = json_post(provider, "", "Authorization", "Bearer ", credentials);
  const auto body = JsonDocument::parse(credentials.own ? credentials.own->body : "{}");
  http.body.reserve(body_size_hint(request));
  if (body) BodyWriter(request, http.body).write(body->root());
  const RequestParams params = params_in_format(request.extras.params, {});
  if (params.empty() || !http.body.ends_with('}')) return http;
  http.body.pop_back();
  append_params(http.body, params);
  if (http.body.starts_with("{,")) http.body.erase(1, 1);
  http.body += '}';
  return http;
}

JsonView part(const JsonView& body, const std::string& pointer) {
  return pointer.empty() ? JsonView() : body.at(pointer);
}

/// `calls`: of tools, where the format has any.
std::optional<Completion> read_by(const JsonView& body, const AnswerPointers& pointers,
                                  const JsonView& calls = {}) {
  // Half an answer may stand beside it.
  if (names_error(part(body, pointers.error))) return std::nullopt;
  const JsonView text = part(body, pointers.text);
  Completion completion;
  completion.finish_reason = part(body, pointers.finish_reason).text_or_empty();
  completion.non_answer = non_answer_of(completion.finish_reason);
  completion.text = text.text_or_empty();
  for (const JsonView& call : calls.elements()) {
    // As a text too: libraries have them so.
    const auto arguments = call["arguments"].text();
    add_call(completion, call["name"].text_or_empty(), arguments ? *arguments : call["arguments"].json());
  }
  if (!text.text() && !completion.non_answer && completion.calls.empty()) return std::nullopt;
  completion.served_model = part(body, pointers.model).text_or_empty();
  return completion;
}

Usage usage_by(const JsonView& body, const AnswerPointers& pointers) {
  return whole_usage(part(body, pointers.input_tokens).whole(), part(body, pointers.output_tokens).whole());
}

std::optional<Completion> read_http_answer(const JsonView& body, const Credentials& credentials) {
  return credentials.own ? read_by(body, credentials.own->answer) : std::nullopt;
}

Usage read_http_usage(const JsonView& body, const Credentials& credentials) {
  return credentials.own ? usage_by(body, credentials.own->answer) : Usage();
}

ErrorFacts read_http_error(const JsonView& body, const Credentials& credentials) {
  ErrorFacts facts;
  if (credentials.own) facts.message = part(body, credentials.own->answer.error).text_or_empty();
  if (facts.message.empty()) facts.message = error_message(body);
  return facts;
}

/// The program reads what a server of chat completions would.
HttpRequest build_exec(const ProviderSettings& provider, const Credentials& credentials,
                       const ModelRequest& request) {
  HttpRequest program = openai_format.build(provider, Credentials(), request);
  program.url = provider.base_url;
  program.headers.clear();
  program.program = credentials.own;
  return program;
}

/// `{"text": ..., "usage": {...}}`
const AnswerPointers& exec_pointers() {
  static const AnswerPointers pointers{
      "/text", "/finish_reason", "/model", "/usage/input_tokens", "/usage/output_tokens", "/error"};
  return pointers;
}

bool is_chat_completion(const JsonView& body) {
  return body["choices"].is_array();
}

std::optional<Completion> read_exec_answer(const JsonView& body, const Credentials& credentials) {
  if (is_chat_completion(body)) return openai_format.read_answer(body, credentials);
  return read_by(body, exec_pointers(), body["tool_calls"]);
}

Usage read_exec_usage(const JsonView& body, const Credentials& credentials) {
  if (is_chat_completion(body)) return openai_format.read_usage(body, credentials);
  return usage_by(body, exec_pointers());
}

ErrorFacts read_exec_error(const JsonView& body, const Credentials&) {
  ErrorFacts facts;
  facts.message = error_message(body);
  const std::uint64_t status = body["error"]["status"].count();
  if (status >= 400 && status < 600) facts.status = static_cast<int>(status);
  const double seconds = body["error"]["retry_after_seconds"].number().value_or(0);
  if (seconds > 0 && seconds < 86'400)
    facts.retry_after = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  return facts;
}

}  // namespace

const Format http_format = {"an answer with a text where \"answer\" of its settings points",
                            build_http,
                            read_http_answer,
                            read_http_usage,
                            read_http_error,
                            nullptr,
                            nullptr};
const Format exec_format = {"an answer, a JSON object such as {\"text\": \"...\"}",
                            build_exec,
                            read_exec_answer,
                            read_exec_usage,
                            read_exec_error,
                            nullptr,
                            nullptr};

}  // namespace sluice
