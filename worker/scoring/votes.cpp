#include "worker/scoring/votes.hpp"

#include "worker/scoring/judge_answer.hpp"

#include <cctype>
#include <set>
#include <string>
#include <utility>

namespace sluice {
namespace {

/// Lower-case words of letters and digits; bytes beyond ASCII belong to words.
std::set<std::string> distinct_words(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.insert(std::exchange(word, {}));
  };
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x80 || std::isalnum(byte) != 0) {
      word += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

/// The text whose words count, and whose it is.
std::pair<std::string_view, const char*> judged_text(const JudgeExpectation& expectation,
                                                     const JudgedQuestion& question,
                                                     std::string_view answer) {
  if (expectation.metric == MetricId::context_recall) return {expectation.reference, "reference"};
  if (expectation.metric == MetricId::context_relevance)
    return {texts_for_judge(expectation, question).context, "context"};
  return {answer, "answer"};
}

std::string_view compared_with(const JudgeExpectation& expectation, const JudgedQuestion& question) {
  const std::string_view context = texts_for_judge(expectation, question).context;
  if (expectation.metric == MetricId::context_recall) return context;
  if (expectation.metric == MetricId::context_relevance) return question.prompt;
  if (!expectation.reference.empty()) return expectation.reference;
  if (!expectation.criteria.empty()) return expectation.criteria;
  return expectation.metric == MetricId::faithfulness && !context.empty() ? context : question.prompt;
}

}  // namespace

Result<Vote> read_vote(std::string_view text) {
  return read_judge_answer(text, {"vote", "score", "rationale", Reason::judge_unparsable});
}

Vote fake_vote(const JudgeExpectation& expectation, const JudgedQuestion& question, std::string_view answer) {
  const auto [judged, whose] = judged_text(expectation, question, answer);
  const auto words = distinct_words(judged);
  const auto known = distinct_words(compared_with(expectation, question));
  std::size_t shared = 0;
  for (const auto& word : words) shared += known.contains(word) ? 1 : 0;
  const double score = words.empty() ? 0.0 : static_cast<double>(shared) / static_cast<double>(words.size());
  return {score, "The fake judge found " + std::to_string(shared) + " of the " + whose + "'s " +
                     std::to_string(words.size()) + " words in what it is compared with."};
}

}  // namespace sluice
