#include "tests/provider_sim/simulator.hpp"

#include "tests/provider_sim/content_hash.hpp"
#include "tests/provider_sim/embeddings.hpp"
#include "tests/provider_sim/http_response.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace sluice::sim {

namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view gemini_prefix = "/v1beta/models/";
constexpr std::string_view gemini_suffix = ":generateContent";
constexpr std::string_view gemini_embeddings = ":batchEmbedContents";

std::chrono::milliseconds to_ms(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000 - 1e-6)));
}

/// The largest length up to `bytes` that cuts no UTF-8 character.
std::size_t character_boundary(std::string_view text, std::size_t bytes) {
  if (bytes >= text.size()) return text.size();
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return bytes;
}

/// What the header `retry-after` of a script says, for the log.
std::int64_t named_ms(std::string_view seconds) {
  double value = -1;
  std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
  return value < 0 ? -1 : to_ms(value).count();
}

}  // namespace

Simulator::Simulator(SimSettings settings, EventLog& log)
    : settings_(std::move(settings)),
      log_(log),
      book_(settings_.script),
      limiter_(settings_.limits),
      script_uses_(settings_.script.size(), 0) {}

void Simulator::respond(const HttpRequest& request, std::uint64_t connection, bool last, std::int64_t now_us,
                        Reply& reply) {
  last_ = last || !request.keep_alive;
  reply.close = last_;
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  if (serve_house(request, path, reply)) return;
  const bool embeddings = path == "/v1/embeddings" || path.ends_with(gemini_embeddings);
  const auto provider = route(path);
  const Call call{provider.value_or(Provider::openai), request, now_us, reply};
  headers_.clear();
  if (!provider || request.method != "POST") {
    return error(call, provider ? 405 : 404,
                 provider ? "Only POST is allowed here." : "Unknown request URL: " + std::string(path));
  }
  reply.record.connection = connection;
  reply.record.provider = to_string(*provider);
  ++sequence_;
  embeddings ? serve_embeddings(call) : serve_chat(call);
}

std::optional<Provider> Simulator::route(std::string_view path) {
  if (path == "/v1/chat/completions" || path == "/v1/embeddings") return Provider::openai;
  if (path == "/v1/messages") return Provider::anthropic;
  const auto suffix = path.ends_with(gemini_embeddings) ? gemini_embeddings : gemini_suffix;
  if (!path.starts_with(gemini_prefix) || !path.ends_with(suffix)) return std::nullopt;
  path.remove_prefix(gemini_prefix.size());
  path.remove_suffix(std::min(path.size(), suffix.size()));
  if (path.empty()) return std::nullopt;
  gemini_model_.clear();
  append_escaped(gemini_model_, path);
  return Provider::gemini;
}

bool Simulator::serve_house(const HttpRequest& request, std::string_view path, Reply& reply) {
  auto answer = [&](std::string_view body) {
    append_response(reply.bytes, 200, json_type, {}, last_, body);
    return true;
  };
  if (request.method == "GET" && path == "/healthz") return answer(R"({"status":"ok"})");
  if (request.method == "GET" && path == "/stats") return answer(counters_.to_json());
  if (request.method != "POST" || path != "/reset") return false;
  reset();
  return answer(R"({"status":"reset"})");
}

void Simulator::reset() {
  counters_.reset();
  limiter_.reset();
  sequence_ = 0;
  std::fill(script_uses_.begin(), script_uses_.end(), 0);
}

void Simulator::start(const Call& call, std::uint64_t connection, std::uint64_t content) {
  Record& record = call.reply.record;
  record.id = next_id_++;
  record.connection = connection;
  record.content = content;
  counters_.started();
  log_.write("start", record, call.now_us);
}

void Simulator::reject(int status, Reply& reply) {
  reply.close = true;
  body_.clear();
  append_error(Provider::openai, status, reason_phrase(status), std::nullopt, 0, body_);
  append_response(reply.bytes, status, json_type, {}, true, body_);
}

void Simulator::finished(const Reply& reply, bool gone, std::int64_t now_us) {
  if (reply.record.id == 0) return;
  Record record = reply.record;
  if (gone || reply.delivery != Reply::Delivery::send) record.status = 0;
  counters_.finished(record, gone);
  log_.write(gone ? "gone" : (reply.delivery == Reply::Delivery::drop ? "drop" : "answer"), record, now_us);
}

void Simulator::serve_chat(const Call& call) {
  auto bad_request = read_chat_request(call.provider, call.request.body, chat_);
  static const BookEntry unreadable;
  const BookEntry& entry = bad_request ? unreadable : book_.look_up(chat_);
  start(call, call.reply.record.connection, entry.content);
  if (call.provider == Provider::gemini) chat_.model = {gemini_model_, gemini_model_.size()};
  if (!bad_request && call.provider == Provider::anthropic &&
      call.request.header("anthropic-version").empty()) {
    bad_request = "anthropic-version: header is required";
  }
  Plan plan;
  if (!bad_request) plan = plan_answer(entry);
  const std::uint64_t tokens = tokens_of(chat_.prompt_bytes) + tokens_of(plan.text_bytes);
  if (turned_away(call, bad_request, tokens)) return;
  answer(call, entry, plan);
}

void Simulator::serve_embeddings(const Call& call) {
  EmbeddingsRequest wanted;
  const auto bad_request = read_embeddings_request(call.provider, call.request.body, wanted);
  std::uint64_t content = 0;
  std::uint64_t tokens = 0;
  for (const auto& input : wanted.inputs) {
    content = content_hash(input.raw, content);
    tokens += tokens_of(input.size);
  }
  start(call, call.reply.record.connection, content);
  if (turned_away(call, bad_request, tokens)) return;
  delay(call);
  const auto fault = choose_fault(settings_.faults, content, sequence_);
  if (fault.fault == Fault::error) {
    return error(call, fault.status, "The simulated server failed.", injected_retry_after(fault.status));
  }
  body_.clear();
  call.reply.record.tokens = append_embeddings(call.provider, wanted, body_);
  call.reply.record.fault = fault.fault;
  if (!apply_transport_fault(call, fault.fault)) deliver(call, 200, json_type);
}

bool Simulator::authorized(const Call& call) const {
  const std::string& key = settings_.required_key;
  if (key.empty()) return true;
  const HttpRequest& request = call.request;
  switch (call.provider) {
    case Provider::openai:
      return request.header("authorization") == "Bearer " + key;
    case Provider::anthropic:
      return request.header("x-api-key") == key;
    case Provider::gemini:
      return request.header("x-goog-api-key") == key ||
             request.target.find("key=" + key) != std::string_view::npos;
  }
  return false;
}

/// Key, form, burst of failures and limits, in this order: what a provider's front checks before any model
/// runs. Such answers come at once.
bool Simulator::turned_away(const Call& call, const std::optional<std::string>& bad_request,
                            std::uint64_t tokens) {
  if (!authorized(call)) {
    error(call, 401, "Incorrect API key provided.");
  } else if (bad_request) {
    error(call, 400, *bad_request);
  } else if (sequence_ <= settings_.fail_first.count) {
    const auto& first = settings_.fail_first;
    auto retry_after = injected_retry_after(first.status);
    if (first.retry_after_s) retry_after = RetryAfter{to_ms(*first.retry_after_s), false};
    error(call, first.status, "The simulated server fails its first requests.", retry_after);
  } else if (const auto denial = limiter_.admit(tokens, call.now_us)) {
    std::optional<RetryAfter> retry_after = RetryAfter{denial->wait, true};
    if (settings_.retry_after_s) retry_after = RetryAfter{to_ms(*settings_.retry_after_s), false};
    if (!settings_.name_retry_after) retry_after.reset();
    error(call, 429, denial->message, retry_after);
  } else {
    return false;
  }
  return true;
}

std::optional<Simulator::RetryAfter> Simulator::injected_retry_after(int status) const {
  const bool delays = status == 429 || status == 503 || status == 529;
  if (!delays || !settings_.retry_after_s || !settings_.name_retry_after) return std::nullopt;
  return RetryAfter{to_ms(*settings_.retry_after_s), false};
}

/// A computed delay is named as the provider would: OpenAI in milliseconds beside whole seconds, Anthropic in
/// whole seconds, Gemini in its body. A fixed one is named as it was given.
void Simulator::error(const Call& call, int status, std::string_view message,
                      std::optional<RetryAfter> retry_after) {
  using std::chrono::seconds;
  Record& record = call.reply.record;
  std::optional<std::chrono::milliseconds> named;
  if (retry_after) {
    named = retry_after->time;
    const auto whole = std::chrono::ceil<seconds>(retry_after->time);
    if (retry_after->computed && call.provider == Provider::anthropic) named = whole;
    if (call.provider != Provider::gemini) {
      headers_ += "retry-after: ";
      append_seconds(headers_, retry_after->computed ? whole : *named);
      headers_ += "\r\n";
    }
    if (retry_after->computed && call.provider == Provider::openai) {
      headers_ += "retry-after-ms: ";
      append_number(headers_, named->count());
      headers_ += "\r\n";
    }
    record.retry_after_ms = named->count();
  }
  body_.clear();
  append_error(call.provider, status, message, named, record.id, body_);
  deliver(call, status, json_type);
}

/// Sends `headers_` and `body_`.
void Simulator::deliver(const Call& call, int status, std::string_view content_type) {
  Record& record = call.reply.record;
  record.status = status;
  append_id_header(call.provider, record.id, headers_);
  if (record.id != 0) limiter_.append_headers(call.provider, call.now_us, headers_);
  append_response(call.reply.bytes, status, content_type, headers_, last_, body_);
}

void Simulator::delay(const Call& call) {
  const std::int64_t latency = latency_us(settings_.latency, sequence_);
  call.reply.due_us = latency > 0 ? call.now_us + latency : 0;
}

Simulator::Plan Simulator::plan_answer(const BookEntry& entry) {
  Plan plan;
  plan.escaped = entry.escaped;
  plan.text_bytes = entry.text.size();
  std::string_view text = entry.text;
  for (const auto index : entry.scripts) {
    const ScriptRule& rule = settings_.script[index];
    if (rule.times && script_uses_[index] >= *rule.times) continue;
    plan.script = index;
    if (rule.text) {
      text = *rule.text;
      use_text(plan, text);
    }
    plan.finish_word = rule.finish;
    if (rule.finish == "length" || rule.finish == "stop") {
      plan.finish_word = {};
      plan.finish = rule.finish == "length" ? Finish::length : Finish::stop;
      if (plan.finish == Finish::length && !rule.text) cut_text(plan, text, text.size() / 2);
    }
    break;
  }
  if (chat_.max_tokens && tokens_of(plan.text_bytes) > *chat_.max_tokens) {
    cut_text(plan, text, *chat_.max_tokens * 4);
  }
  return plan;
}

void Simulator::use_text(Plan& plan, std::string_view text) {
  escaped_.clear();
  append_escaped(escaped_, text);
  plan.escaped = escaped_;
  plan.text_bytes = text.size();
}

void Simulator::cut_text(Plan& plan, std::string_view text, std::size_t bytes) {
  use_text(plan, text.substr(0, character_boundary(text, bytes)));
  plan.finish = Finish::length;
}

const ScriptRule* Simulator::consume_script(const Plan& plan) {
  if (!plan.script) return nullptr;
  ++script_uses_[*plan.script];
  return &settings_.script[*plan.script];
}

void Simulator::answer(const Call& call, const BookEntry& entry, Plan& plan) {
  const ScriptRule* rule = consume_script(plan);
  delay(call);
  if (rule != nullptr && rule->latency_ms) {
    call.reply.due_us = *rule->latency_ms > 0 ? call.now_us + *rule->latency_ms * 1000 : 0;
  }
  FaultChoice fault;
  if (rule != nullptr && rule->answers()) {
    fault.fault = rule->fault;
    if (answer_from_script(call, *rule)) return;
  } else {
    fault = choose_fault(settings_.faults, entry.content, sequence_);
  }
  call.reply.record.fault = fault.fault;
  if (fault.fault == Fault::error) {
    return error(call, fault.status, "The simulated server failed.", injected_retry_after(fault.status));
  }
  if (fault.fault == Fault::length) cut_text(plan, entry.text, entry.text.size() / 2);
  answer_text(call, plan, fault.fault);
}

/// True if the rule gives a body or an error of its own.
bool Simulator::answer_from_script(const Call& call, const ScriptRule& rule) {
  for (const auto& [name, value] : rule.headers) {
    headers_ += name + ": " + value + "\r\n";
    if (equal_ignoring_case(name, "retry-after")) call.reply.record.retry_after_ms = named_ms(value);
  }
  const int status = rule.status.value_or(200);
  if (rule.body) {
    body_ = *rule.body;
    if (!apply_transport_fault(call, rule.fault)) deliver(call, status, json_type);
    return true;
  }
  if (status < 400) return false;
  std::optional<RetryAfter> retry_after;
  if (rule.retry_after) retry_after = RetryAfter{to_ms(*rule.retry_after), false};
  error(call, status, rule.text.value_or("The script says so."), retry_after);
  return true;
}

void Simulator::answer_text(const Call& call, const Plan& plan, Fault fault) {
  Record& record = call.reply.record;
  AnswerParts parts;
  parts.model = chat_.model.raw;
  parts.id = mix(record.content);
  parts.prompt_tokens = tokens_of(chat_.prompt_bytes);
  parts.completion_tokens = fault == Fault::refusal ? 0 : tokens_of(plan.text_bytes);
  parts.finish = fault == Fault::refusal ? Finish::refusal : plan.finish;
  parts.finish_word = plan.finish_word;
  parts.text = plan.escaped;
  record.tokens = parts.prompt_tokens + parts.completion_tokens;
  body_.clear();
  append_answer(call.provider, parts, body_);
  if (body_.size() < settings_.big_body && fault != Fault::refusal) {
    // Blanks behind the claims: the text stays valid JSON.
    text_.assign(plan.escaped);
    text_.append(settings_.big_body - body_.size(), ' ');
    parts.text = text_;
    body_.clear();
    append_answer(call.provider, parts, body_);
  }
  if (!apply_transport_fault(call, fault)) deliver(call, 200, json_type);
}

/// True if the fault replaces the plain delivery of `body_`.
bool Simulator::apply_transport_fault(const Call& call, Fault fault) {
  Reply& reply = call.reply;
  reply.record.fault = fault;
  if (fault == Fault::drop || fault == Fault::hang) {
    reply.delivery = fault == Fault::drop ? Reply::Delivery::drop : Reply::Delivery::hang;
    reply.close = true;
    return true;
  }
  if (fault == Fault::malformed) {
    body_ = "<html><head><title>200 OK</title></head><body>The upstream answered nonsense.</body></html>";
    deliver(call, 200, json_type);
    return true;
  }
  if (fault != Fault::truncate_body) return false;
  deliver(call, 200, json_type);
  reply.bytes.resize(reply.bytes.size() - (body_.size() + 1) / 2);
  reply.close = true;
  return true;
}

}  // namespace sluice::sim
