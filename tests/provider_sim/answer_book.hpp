#pragma once

#include "tests/provider_sim/chat_request.hpp"
#include "tests/provider_sim/judge.hpp"
#include "tests/provider_sim/script.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice::sim {

/// What is known of one user message.
struct BookEntry {
  std::uint64_t content = 0;           ///< Hash of the unescaped message.
  std::string text;                    ///< The built-in rules' answer; empty if a vote is asked for.
  std::string escaped;                 ///< `text` with JSON escapes, as it stands in a body.
  std::vector<std::uint32_t> scripts;  ///< The script rules that fit it, in order.
  std::vector<JudgedAnswer> judged;    ///< What the vote is about; empty if none is asked for.
  JudgeForm form = JudgeForm::vote;    ///< Of the judge's reply.
};

/// Answers by content: a message that comes again is neither unescaped nor searched again.
class AnswerBook {
 public:
  explicit AnswerBook(std::span<const ScriptRule> scripts) : scripts_(scripts) {}

  /// Valid until the next call.
  const BookEntry& look_up(const ChatRequest& request);

 private:
  BookEntry make(const ChatRequest& request);

  std::span<const ScriptRule> scripts_;
  std::unordered_map<std::uint64_t, BookEntry> entries_;
  std::string message_;
};

}  // namespace sluice::sim
