#include "tests/provider_sim/answer_book.hpp"

#include "tests/provider_sim/claim_rules.hpp"
#include "tests/provider_sim/content_hash.hpp"

namespace sluice::sim {

namespace {

/// Bounds the memory to some tens of megabytes; a suite is rarely larger.
constexpr std::size_t max_entries = 32768;

}  // namespace

const BookEntry& AnswerBook::look_up(const ChatRequest& request) {
  std::uint64_t key = 4 * request.user.size() + (request.comparison ? 2 : 0) + (request.vote ? 1 : 0);
  for (const auto& text : request.user) key = content_hash(text.raw, key);
  const auto found = entries_.find(key);
  if (found != entries_.end()) return found->second;
  if (entries_.size() >= max_entries) entries_.clear();
  return entries_.emplace(key, make(request)).first->second;
}

BookEntry AnswerBook::make(const ChatRequest& request) {
  message_.clear();
  for (const auto& text : request.user) {
    if (!message_.empty()) message_ += '\n';
    append_unescaped(message_, text);
  }
  BookEntry entry;
  entry.content = content_hash(message_);
  if (request.comparison) {
    entry.judged = find_compared_answers(message_);
    entry.form = JudgeForm::comparison;
  } else if (request.vote) {
    entry.judged = find_judged_answers(message_);
  } else {
    entry.text = extract_claims(message_);
  }
  append_escaped(entry.escaped, entry.text);
  for (std::size_t i = 0; i < scripts_.size(); ++i) {
    if (scripts_[i].vote.value_or(request.vote) != request.vote) continue;
    if (message_.find(scripts_[i].contains) != std::string::npos) {
      entry.scripts.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return entry;
}

}  // namespace sluice::sim
