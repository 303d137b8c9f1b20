// The answers of simulated models: by rules, as a judge, by script, and with what goes wrong on the way.

#include "tests/provider_sim/content_hash.hpp"
#include "tests/provider_sim/simulator.hpp"

#include <charconv>
#include <utility>

namespace sluice::sim {

namespace {

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

Simulator::Plan Simulator::plan_answer(const BookEntry& entry) {
  Plan plan;
  plan.built_in = entry.text;
  plan.escaped = entry.escaped;
  plan.text_bytes = entry.text.size();
  if (!entry.judged.empty()) {
    vote_ = judge_.reply(entry.judged, entry.content, entry.form);
    plan.built_in = vote_.text;
    use_text(plan, vote_.text);
  }
  std::string_view text = plan.built_in;
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
  const bool own_latency = rule != nullptr && rule->latency_ms.has_value();
  delay(call, own_latency ? *rule->latency_ms * 1000 : latency_us(settings_.latency, sequence_));
  FaultChoice fault;
  if (rule != nullptr && rule->answers()) {
    fault.fault = rule->fault;
    if (answer_from_script(call, *rule)) return;
  } else {
    fault = faults_.choose(entry.content, sequence_);
    if (fault.fault == Fault::none && !entry.judged.empty()) {
      judge_.count(entry.content);
      if (vote_.is_refusal) fault.fault = Fault::refusal;
    }
  }
  call.reply.record.fault = fault.fault;
  if (fault.fault == Fault::error) {
    return error(call, fault.status, "The simulated server failed.", injected_retry_after(fault.status));
  }
  if (fault.fault == Fault::length) cut_text(plan, plan.built_in, plan.built_in.size() / 2);
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
    if (!apply_transport_fault(call, rule.fault)) deliver(call, status);
    return true;
  }
  if (status < 400) return false;
  std::optional<NamedDelay> retry_after;
  if (rule.retry_after) retry_after = NamedDelay{to_ms(*rule.retry_after)};
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
  if (!apply_transport_fault(call, fault)) deliver(call, 200);
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
    deliver(call, 200);
    return true;
  }
  if (fault != Fault::truncate_body) return false;
  deliver(call, 200);
  reply.bytes.erase(reply.bytes.size() - (body_.size() + 1) / 2);
  reply.close = true;
  return true;
}

}  // namespace sluice::sim
