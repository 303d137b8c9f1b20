#include "tests/provider_sim/simulator.hpp"

#include "tests/provider_sim/content_hash.hpp"
#include "tests/provider_sim/embeddings.hpp"
#include "tests/provider_sim/http_response.hpp"

#include <algorithm>
#include <utility>

namespace sluice::sim {

namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view gemini_prefix = "/v1beta/models/";
constexpr std::string_view gemini_suffix = ":generateContent";
constexpr std::string_view gemini_embeddings = ":batchEmbedContents";
constexpr std::string_view gemini_embedding = ":embedContent";

}  // namespace

Simulator::Simulator(SimSettings settings, EventLog& log)
    : settings_(std::move(settings)),
      log_(log),
      book_(settings_.script),
      limiter_(settings_.limits),
      faults_(settings_.faults),
      judge_(settings_.judge),
      outages_(settings_.outages),
      places_(settings_.places),
      script_uses_(settings_.script.size(), 0) {}

void Simulator::respond(const HttpRequest& request, std::uint64_t connection, bool last, std::int64_t now_us,
                        Reply& reply) {
  last_ = last || !request.keep_alive;
  reply.close = last_;
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  if (serve_house(request, path, reply)) return;
  const bool embeddings =
      path.ends_with("/embeddings") || path.ends_with(gemini_embeddings) || path.ends_with(gemini_embedding);
  const auto provider = route(path);
  const Call call{provider.value_or(Provider::openai), request, now_us, reply};
  headers_.clear();
  // Clients open connections ahead of a call with it; it is no call.
  if (request.method == "HEAD") return append_response(reply.bytes, 404, {}, {}, last_, {});
  if (!provider || request.method != "POST") {
    return error(call, provider ? 405 : 404,
                 provider ? "Only POST is allowed here." : "Unknown request URL: " + std::string(path));
  }
  log_.write_request(request);
  reply.record.connection = connection;
  reply.record.provider = to_string(*provider);
  ++sequence_;
  outages_.request_at(now_us);
  embeddings ? serve_embeddings(call) : serve_chat(call);
}

std::optional<Provider> Simulator::route(std::string_view path) {
  // Gateways have folders of their own before these.
  if (path.ends_with("/chat/completions") || path.ends_with("/embeddings")) return Provider::openai;
  if (path.ends_with("/responses")) return Provider::openai_responses;
  if (path.ends_with("/v1/messages")) return Provider::anthropic;
  const auto suffix = path.ends_with(gemini_embeddings)  ? gemini_embeddings
                      : path.ends_with(gemini_embedding) ? gemini_embedding
                                                         : gemini_suffix;
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
  if (request.method == "GET" && path == "/stats") {
    log_.flush();  // For who asks how far it is before it reads the log.
    return answer(counters_.to_json());
  }
  if (request.method != "POST" || path != "/reset") return false;
  reset();
  return answer(R"({"status":"reset"})");
}

void Simulator::reset() {
  counters_.reset();
  limiter_.reset();
  faults_.reset();
  judge_.reset();
  outages_.reset();
  places_.reset();
  sequence_ = 0;
  std::fill(script_uses_.begin(), script_uses_.end(), 0);
}

void Simulator::start(const Call& call, std::uint64_t connection, std::uint64_t content) {
  Record& record = call.reply.record;
  record.id = next_id_++;
  record.connection = connection;
  record.content = content;
  counters_.started(record);
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
  call.reply.record.vote = !entry.judged.empty();
  start(call, call.reply.record.connection, entry.content);
  if (call.provider == Provider::gemini) chat_.model = {gemini_model_, gemini_model_.size()};
  if (!bad_request && call.provider == Provider::anthropic &&
      call.request.header("anthropic-version").empty()) {
    bad_request = "anthropic-version: header is required";
  }
  Plan plan;
  if (!bad_request) plan = plan_answer(entry);
  if (turned_away(call, bad_request, {tokens_of(chat_.prompt_bytes), tokens_of(plan.text_bytes)})) return;
  answer(call, entry, plan);
}

void Simulator::serve_embeddings(const Call& call) {
  EmbeddingsRequest wanted;
  const std::string_view path = call.request.target.substr(0, call.request.target.find('?'));
  wanted.is_alone = path.ends_with(gemini_embedding);
  const auto bad_request = read_embeddings_request(call.provider, call.request.body, wanted);
  std::uint64_t content = 0;
  TokenCost cost;
  for (const auto& input : wanted.inputs) {
    content = content_hash(input.raw, content);
    cost.input += tokens_of(input.size);
  }
  start(call, call.reply.record.connection, content);
  if (turned_away(call, bad_request, cost)) return;
  if (settings_.no_batch_embeddings && path.ends_with(gemini_embeddings))
    return error(call, 404, "This model is not supported for batchEmbedContents.");
  delay(call, latency_us(settings_.latency, sequence_));
  const auto fault = faults_.choose(content, sequence_);
  if (fault.fault == Fault::error) {
    return error(call, fault.status, "The simulated server failed.", injected_retry_after(fault.status));
  }
  body_.clear();
  call.reply.record.tokens = append_embeddings(call.provider, wanted, body_);
  call.reply.record.fault = fault.fault;
  if (!apply_transport_fault(call, fault.fault)) deliver(call, 200);
}

bool Simulator::authorized(const Call& call) const {
  const HttpRequest& request = call.request;
  for (const auto& [name, value] : settings_.required_headers) {
    if (request.header(name) != value) return false;
  }
  const std::string& key = settings_.required_key;
  if (key.empty()) return true;
  switch (call.provider) {
    case Provider::openai:
    case Provider::openai_responses:
      return request.header("authorization") == "Bearer " + key;
    case Provider::anthropic:
      return request.header("x-api-key") == key;
    case Provider::gemini:
      return request.header("x-goog-api-key") == key ||
             request.target.find("key=" + key) != std::string_view::npos;
  }
  return false;
}

std::optional<std::string> Simulator::missing_in_query(std::string_view target) const {
  const std::string_view query = target.substr(std::min(target.find('?'), target.size()));
  for (const auto& [name, value] : settings_.required_query) {
    const std::string field = name + "=" + value;
    const auto at = query.find(field);
    const bool is_whole = at != std::string_view::npos && (query[at - 1] == '?' || query[at - 1] == '&') &&
                          (at + field.size() == query.size() || query[at + field.size()] == '&');
    if (!is_whole) return "Missing required query parameter: " + name;
  }
  return std::nullopt;
}

/// Key, form, burst of failures and limits, in this order: what a provider's front checks before any model
/// runs. Such answers come at once.
bool Simulator::turned_away(const Call& call, const std::optional<std::string>& bad_request,
                            const TokenCost& cost) {
  if (struck_by_outage(call)) return true;
  if (!authorized(call)) {
    error(call, 401, "Incorrect API key provided.");
  } else if (const auto missing = missing_in_query(call.request.target)) {
    error(call, 400, *missing);
  } else if (bad_request) {
    error(call, 400, *bad_request);
  } else if (sequence_ <= settings_.fail_first.count) {
    const auto& first = settings_.fail_first;
    auto retry_after = injected_retry_after(first.status);
    if (first.retry_after_s) retry_after = NamedDelay{to_ms(*first.retry_after_s)};
    error(call, first.status, "The simulated server fails its first requests.", retry_after);
  } else if (const auto denial = limiter_.admit(cost, call.now_us)) {
    std::optional<NamedDelay> retry_after = NamedDelay{denial->wait, true};
    if (settings_.retry_after_s) retry_after = NamedDelay{to_ms(*settings_.retry_after_s)};
    if (!settings_.name_retry_after) retry_after.reset();
    error(call, 429, denial->message, retry_after);
  } else {
    return false;
  }
  return true;
}

std::optional<NamedDelay> Simulator::injected_retry_after(int status) const {
  const bool delays = status == 429 || status == 503 || status == 529;
  if (!delays || !settings_.retry_after_s || !settings_.name_retry_after) return std::nullopt;
  return NamedDelay{to_ms(*settings_.retry_after_s)};
}

/// True if there is an outage: what is down does not even look at keys.
bool Simulator::struck_by_outage(const Call& call) {
  const auto* outage = outages_.at(call.now_us);
  if (outage == nullptr) return false;
  switch (outage->kind) {
    case Outage::Kind::status:
      error(call, outage->status, "The simulated server is down.", injected_retry_after(outage->status));
      break;
    case Outage::Kind::hang:
      apply_transport_fault(call, Fault::hang);
      break;
    case Outage::Kind::drop:
    case Outage::Kind::refuse:  // The listener closes within a tick; until then, and for what stands, this.
      apply_transport_fault(call, Fault::drop);
      break;
  }
  return true;
}

bool Simulator::is_unreachable(std::int64_t now_us) const {
  const auto* outage = outages_.at(now_us);
  return outage != nullptr && outage->kind == Outage::Kind::refuse;
}

void Simulator::error(const Call& call, int status, std::string_view message,
                      std::optional<NamedDelay> retry_after) {
  using std::chrono::system_clock;
  Record& record = call.reply.record;
  std::optional<std::chrono::milliseconds> named;
  if (retry_after) {
    const auto unix_time =
        std::chrono::duration_cast<std::chrono::microseconds>(system_clock::now().time_since_epoch());
    named =
        append_delay_headers(call.provider, settings_.delay_form, *retry_after, unix_time.count(), headers_);
    record.retry_after_ms = named->count();
  }
  body_.clear();
  append_error(call.provider, status, message, named, record.id, body_);
  deliver(call, status);
}

/// Sends `headers_` and `body_`.
void Simulator::deliver(const Call& call, int status) {
  Record& record = call.reply.record;
  record.status = status;
  append_id_header(call.provider, record.id, headers_);
  if (record.id != 0) limiter_.append_headers(call.provider, call.now_us, headers_);
  append_response(call.reply.bytes, status, json_type, headers_, last_, body_);
}

void Simulator::delay(const Call& call, std::int64_t takes_us) {
  const std::int64_t done_us = places_.done_at(call.now_us, takes_us);
  call.reply.due_us = done_us > call.now_us ? done_us : 0;
}

}  // namespace sluice::sim
