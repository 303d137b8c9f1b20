#include "worker/scoring/votes.hpp"

#include "common/checks/code_fence.hpp"
#include "common/text/text.hpp"

#include <cctype>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Json = nlohmann::json;

tl::unexpected<Error> unparsable(std::string problem) {
  return fail(Reason::judge_unparsable, "the judge's answer is no vote: " + std::move(problem));
}

/// Lower-case words of letters and digits; bytes beyond ASCII belong to words.
std::set<std::string> words_of(std::string_view text) {
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

std::string_view compared_with(const JudgeExpectation& expectation, const JudgedQuestion& question) {
  if (!expectation.reference.empty()) return expectation.reference;
  if (!expectation.criteria.empty()) return expectation.criteria;
  if (expectation.metric == MetricId::faithfulness && !question.context.empty()) return question.context;
  return question.prompt;
}

}  // namespace

Result<Vote> read_vote(std::string_view text) {
  text = unfenced(text);
  if (text.empty()) return unparsable("it is empty");
  if (invalid_utf8_at(text)) return unparsable("it is not valid UTF-8");
  int scores = 0;
  const auto count_scores = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 && parsed == "score") ++scores;
    return depth <= 1 || event == Json::parse_event_t::key;  // What lies deeper is not kept.
  };
  const Json vote = Json::parse(text.begin(), text.end(), count_scores, false);
  if (!vote.is_object()) return unparsable("it is no JSON object");
  if (scores != 1) return unparsable(scores == 0 ? "it has no \"score\"" : "it has more than one \"score\"");
  const auto score = vote.find("score");
  if (score == vote.end() || !score->is_number()) return unparsable("its \"score\" is no number");
  const double value = score->get<double>();
  if (!(value >= 0.0 && value <= 1.0)) return unparsable("its \"score\" is not from 0 to 1");
  const auto rationale = vote.find("rationale");
  if (rationale == vote.end() || rationale->is_null()) return Vote{value, {}};
  if (!rationale->is_string()) return unparsable("its \"rationale\" is no text");
  return Vote{value, rationale->get<std::string>()};
}

Vote fake_vote(const JudgeExpectation& expectation, const JudgedQuestion& question, std::string_view answer) {
  const auto words = words_of(answer);
  const auto known = words_of(compared_with(expectation, question));
  std::size_t shared = 0;
  for (const auto& word : words) shared += known.contains(word) ? 1 : 0;
  const double score = words.empty() ? 0.0 : static_cast<double>(shared) / static_cast<double>(words.size());
  return {score, "The fake judge found " + std::to_string(shared) + " of the answer's " +
                     std::to_string(words.size()) + " words in what it is compared with."};
}

}  // namespace sluice
