#include "worker/units/embedding_queue.hpp"

#include "worker/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

SharedVector EmbeddingQueue::known(const std::string& text) const {
  const auto found = recent_.find(text);
  return found == recent_.end() ? nullptr : found->second;
}

void EmbeddingQueue::remember(const std::string& text, SharedVector vector) {
  const auto bytes = text.size() + vector->size() * sizeof(float);
  if (bytes > defaults::max_recent_vector_bytes || recent_.contains(text)) return;
  if (recent_bytes_ + bytes > defaults::max_recent_vector_bytes) {
    recent_.clear();
    recent_bytes_ = 0;
  }
  recent_.emplace(text, std::move(vector));
  recent_bytes_ += bytes;
}

void EmbeddingQueue::add(std::uint64_t waiter, EmbeddedTexts found, const std::vector<std::string>& missing,
                         TimePoint deadline) {
  for (const auto& text : add_held(waiter, std::move(found), missing, deadline)) enqueue(text);
}

std::vector<std::string> EmbeddingQueue::add_held(std::uint64_t waiter, EmbeddedTexts found,
                                                  const std::vector<std::string>& missing,
                                                  TimePoint deadline) {
  std::vector<std::string> held;
  waiters_[waiter] = Waiter{std::move(found), missing.size(), deadline, {}};
  for (const auto& text : missing) {
    auto& list = wanted_[text];
    if (list.empty()) held.push_back(text);
    list.push_back(waiter);
  }
  return held;
}

void EmbeddingQueue::enqueue(const std::string& text) {
  queued_.push_back(text);
  queued_bytes_ += text.size();
}

void EmbeddingQueue::release(const std::string& text) {
  is_wanted(text) ? enqueue(text) : drop(text);
}

void EmbeddingQueue::drop(const std::string& text) {
  wanted_.erase(text);
  dropped_.push_back(text);
}

bool EmbeddingQueue::is_wanted(const std::string& text) const {
  const auto found = wanted_.find(text);
  return found != wanted_.end() &&
         std::ranges::any_of(found->second, [&](auto waiter) { return waiters_.contains(waiter); });
}

std::optional<EmbeddingBatch> EmbeddingQueue::next() {
  EmbeddingBatch batch;
  const auto take = [&](std::string text) {
    if (is_wanted(text)) {
      batch.texts.push_back(std::move(text));
    } else {
      drop(text);
    }
  };
  while (batch.texts.empty() && !halves_.empty()) {
    for (auto& text : halves_.front()) take(std::move(text));
    halves_.pop_front();
  }
  const bool full =
      queued_.size() >= defaults::max_embedded_texts || queued_bytes_ >= defaults::max_embedded_bytes;
  if (batch.texts.empty() && (under_way_ == 0 || full)) {
    std::size_t bytes = 0;
    while (!queued_.empty() && batch.texts.size() < defaults::max_embedded_texts) {
      const auto size = queued_.front().size();
      if (!batch.texts.empty() && bytes + size > defaults::max_embedded_bytes) break;
      const auto before = batch.texts.size();
      take(std::move(queued_.front()));
      queued_.pop_front();
      queued_bytes_ -= size;
      if (batch.texts.size() > before) bytes += size;
    }
  }
  if (batch.texts.empty()) return std::nullopt;
  batch.id = next_id_++;
  batch.deadline = TimePoint::max();
  for (const auto& text : batch.texts) {
    for (const auto waiter : wanted_.at(text)) {
      const auto found = waiters_.find(waiter);
      if (found != waiters_.end()) batch.deadline = std::min(batch.deadline, found->second.deadline);
    }
  }
  ++under_way_;
  return batch;
}

/// Tokens go to whoever asked for a text first, in proportion to its bytes, and where nobody knows how many
/// there were, nobody knows it of any of them; the calls go to the first of all. What nobody waits for any
/// more is paid all the same, and goes to the next one.
void EmbeddingQueue::charge(const EmbeddingBatch& batch, const Spend& spend) {
  std::uint64_t all_bytes = 0;
  for (const auto& text : batch.texts) all_bytes += text.size();
  std::uint64_t bytes = 0;
  Spend owed = spend;
  owed.paid = {};
  add_costs(owed, std::exchange(unclaimed_, {}));
  for (const auto& text : batch.texts) {
    const auto share_of = [&](std::uint64_t tokens) {
      const auto up_to = [&](std::uint64_t part) { return all_bytes == 0 ? 0 : tokens * part / all_bytes; };
      return up_to(bytes + text.size()) - up_to(bytes);
    };
    auto& tokens = owed.paid.of(CallKind::embedding).input_tokens;
    tokens += share_of(spend.paid.of(CallKind::embedding).input_tokens);
    owed.unmetered |= spend.unmetered;
    const auto& list = wanted_.at(text);
    const auto first = std::ranges::find_if(list, [&](auto waiter) { return waiters_.contains(waiter); });
    if (first != list.end()) add_costs(waiters_.at(*first).spend, std::exchange(owed, {}));
    bytes += text.size();
  }
  unclaimed_ = owed;
}

std::vector<EmbeddingOutcome> EmbeddingQueue::served(const EmbeddingBatch& batch,
                                                     std::vector<std::vector<float>> vectors,
                                                     const Spend& spend) {
  --under_way_;
  charge(batch, spend);
  std::vector<EmbeddingOutcome> outcomes;
  for (std::size_t i = 0; i < batch.texts.size(); ++i) {
    const auto vector = std::make_shared<const std::vector<float>>(std::move(vectors[i]));
    hand_out(batch.texts[i], vector, outcomes);
  }
  return outcomes;
}

std::vector<EmbeddingOutcome> EmbeddingQueue::arrived(const std::string& text, SharedVector vector) {
  std::vector<EmbeddingOutcome> outcomes;
  hand_out(text, vector, outcomes);
  return outcomes;
}

void EmbeddingQueue::hand_out(const std::string& text, const SharedVector& vector,
                              std::vector<EmbeddingOutcome>& outcomes) {
  remember(text, vector);
  const auto node = wanted_.extract(text);
  if (node.empty()) return;
  for (const auto id : node.mapped()) {
    const auto found = waiters_.find(id);
    if (found == waiters_.end()) continue;
    auto& waiter = found->second;
    waiter.found.insert_or_assign(text, vector);
    if (--waiter.missing > 0) continue;
    outcomes.push_back({id, std::move(waiter.found), waiter.spend});
    waiters_.erase(found);
  }
}

void EmbeddingQueue::enqueue_first(const std::vector<std::string>& texts) {
  for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
    if (!is_wanted(*text)) {
      drop(*text);
      continue;
    }
    queued_.push_front(*text);
    queued_bytes_ += text->size();
  }
}

/// Ends those waiters of the batch for which `fails` is true.
template <class Fails>
std::vector<EmbeddingOutcome> EmbeddingQueue::give_up(const EmbeddingBatch& batch, const Error& error,
                                                      Fails fails) {
  std::vector<EmbeddingOutcome> outcomes;
  for (const auto& text : batch.texts) {
    for (const auto id : wanted_.at(text)) {
      const auto found = waiters_.find(id);
      if (found == waiters_.end() || !fails(found->second)) continue;
      outcomes.push_back({id, error, found->second.spend});
      waiters_.erase(found);
    }
  }
  return outcomes;
}

std::vector<EmbeddingOutcome> EmbeddingQueue::failed(const EmbeddingBatch& batch, const Error& error,
                                                     const Spend& spend) {
  --under_way_;
  charge(batch, spend);
  const bool for_one_text =
      error.reason == Reason::request_refused || error.reason == Reason::answer_too_large;
  if (for_one_text && batch.texts.size() > 1) {
    const auto middle = batch.texts.begin() + static_cast<std::ptrdiff_t>(batch.texts.size() / 2);
    halves_.emplace_back(batch.texts.begin(), middle);
    halves_.emplace_back(middle, batch.texts.end());
    return {};
  }
  auto outcomes = give_up(batch, error, [](const Waiter&) { return true; });
  for (const auto& text : batch.texts) drop(text);
  return outcomes;
}

std::vector<EmbeddingOutcome> EmbeddingQueue::expired(const EmbeddingBatch& batch, const Error& error,
                                                      const Spend& spend) {
  --under_way_;
  charge(batch, spend);
  auto outcomes =
      give_up(batch, error, [&](const Waiter& waiter) { return waiter.deadline <= batch.deadline; });
  enqueue_first(batch.texts);
  return outcomes;
}

void EmbeddingQueue::extend(Duration time) {
  for (auto& [id, waiter] : waiters_) waiter.deadline += time;
}

std::optional<TimePoint> EmbeddingQueue::deadline(std::uint64_t waiter) const {
  const auto found = waiters_.find(waiter);
  return found == waiters_.end() ? std::nullopt : std::optional(found->second.deadline);
}

Spend EmbeddingQueue::leave(std::uint64_t waiter) {
  const auto node = waiters_.extract(waiter);
  return node.empty() ? Spend{} : node.mapped().spend;
}

}  // namespace sluice
