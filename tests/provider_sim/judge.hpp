#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice::sim {

/// How the simulated judge errs; as it stands it is honest. Probabilities are from 0 to 1, those of
/// `unreadable` and `refusal` together too; biases are from -1 to 1.
struct JudgeSettings {
  std::uint64_t seed = 1;
  double noise = 0;          ///< Probability that the honest score s becomes 1 - s.
  double position_bias = 0;  ///< Added to the first answer of a pair.
  double length_bias = 0;    ///< Times a length from 0 to 1, which `long_answer_bytes` reach.
  std::vector<std::pair<std::string, double>> family_biases;  ///< Added to answers that say `[by NAME]`.
  double unreadable = 0;                                      ///< Probability of a text that is no vote.
  double refusal = 0;
};

/// The length bias sees no difference beyond it.
inline constexpr std::size_t long_answer_bytes = 1000;

/// An answer that a message shows to the judge.
struct JudgedAnswer {
  double quality = 0;      ///< 0..1
  std::size_t bytes = 0;   ///< From its marker to its end.
  std::string family{};    ///< NAME of its first `[by NAME]`; empty: it has none.
  bool is_marked = false;  ///< Its quality stood in the message.
  friend bool operator==(const JudgedAnswer&, const JudgedAnswer&) = default;
};

/// What a message asks to be judged: one answer, or a pair in the order of the message.
///
/// An answer begins at its marker `[quality S]`, S from 0 to 1. It ends at the first `[end]` behind it, else
/// at the first line that begins with `</` or `-----`, in any case before the next marker; else at the next
/// marker or with the message. White space at its end does not count. Of more than two markers the last two
/// count. Without a marker the whole message is one answer, whose quality is a hash of it in hundredths.
/// Never empty. Pure; thread-safe.
std::vector<JudgedAnswer> find_judged_answers(std::string_view message);

/// What a message asks to be compared: its pair, or two answers of equal quality where it marks fewer.
/// Pure; thread-safe.
std::vector<JudgedAnswer> find_compared_answers(std::string_view message);

/// What a reply says, and in which members.
enum class JudgeForm : std::uint8_t {
  vote,       ///< `score`: of a pair, how far the first is better.
  comparison  ///< `quality_score`: how far the second is better.
};

/// What the judge answers.
struct JudgeReply {
  bool is_refusal = false;
  std::string text;  ///< A vote, or a text that is none. Of a refusal it is not sent.
};

/// The judge's reply to its `number`-th request (from 0) about a message with this hash. Pure: equal
/// arguments, equal reply.
///
/// The score of one answer is its quality; of a pair it is how far the first is better: 0.5 + (first -
/// second) / 2, in a comparison the other way round. Noise makes 1 - s of the score s by the qualities; then
/// the biases are added to each answer, which stays within 0 and 1. REQUIRES: one answer, or two; two for a
/// comparison.
JudgeReply judge(const JudgeSettings& settings, std::span<const JudgedAnswer> answers, std::uint64_t content,
                 std::uint64_t number, JudgeForm form = JudgeForm::vote);

/// Judges by the settings, and numbers the requests about a message by the replies that it was given. What
/// limits and faults keep back is not counted: the request that is made in its place gets the same reply.
class Judge {
 public:
  explicit Judge(JudgeSettings settings) : settings_(std::move(settings)) {}

  JudgeReply reply(std::span<const JudgedAnswer> answers, std::uint64_t content, JudgeForm form) const;
  /// The reply went out.
  void count(std::uint64_t content) { ++given_[content]; }
  void reset() { given_.clear(); }

 private:
  JudgeSettings settings_;
  std::unordered_map<std::uint64_t, std::uint64_t> given_;  ///< Replies by message.
};

}  // namespace sluice::sim
