#include "tests/provider_sim/judge.hpp"

#include "tests/provider_sim/content_hash.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace sluice::sim {

namespace {

constexpr std::string_view quality_opening = "[quality ";
constexpr std::string_view family_opening = "[by ";

struct QualityMarker {
  std::size_t at;
  double quality;
};

/// The marker that begins here, if it is one: a number from 0 to 1 and a bracket follow.
std::optional<double> read_quality(std::string_view text) {
  text.remove_prefix(quality_opening.size());
  double quality = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quality);
  const bool closed = error == std::errc() && end != text.data() + text.size() && *end == ']';
  if (!closed || !(quality >= 0 && quality <= 1)) return std::nullopt;
  return quality;
}

std::vector<QualityMarker> find_markers(std::string_view message) {
  std::vector<QualityMarker> markers;
  for (auto at = message.find(quality_opening); at != message.npos;
       at = message.find(quality_opening, at + 1)) {
    if (const auto quality = read_quality(message.substr(at))) markers.push_back({at, *quality});
  }
  return markers;
}

/// `text` begins with the answer and goes on to the next marker, or to the end of the message.
std::string_view cut_to_answer(std::string_view text) {
  const auto mark = text.find("[end]");
  text = text.substr(0, mark != text.npos ? mark : std::min(text.find("\n</"), text.find("\n-----")));
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

std::string family_of(std::string_view answer) {
  const auto begin = answer.find(family_opening);
  if (begin == answer.npos) return {};
  answer.remove_prefix(begin + family_opening.size());
  const auto end = answer.find(']');
  return end == answer.npos ? std::string() : std::string(answer.substr(0, end));
}

/// What is thrown a die for; one and the same die would tie them together.
enum class Throw : std::uint8_t { form, noise, unreadable_form };

std::uint64_t throw_die(const JudgeSettings& settings, std::uint64_t content, std::uint64_t number,
                        Throw what) {
  return mix(mix(mix(settings.seed) ^ content) ^ mix(number * 4 + static_cast<std::uint64_t>(what)));
}

double bias(const JudgeSettings& settings, const JudgedAnswer& answer) {
  const double length = static_cast<double>(std::min(answer.bytes, long_answer_bytes)) / long_answer_bytes;
  double sum = settings.length_bias * length;
  for (const auto& [family, added] : settings.family_biases) {
    if (family == answer.family) sum += added;
  }
  return sum;
}

/// What the judge takes each answer for.
std::vector<double> impressions(const JudgeSettings& settings, std::span<const JudgedAnswer> answers,
                                bool noisy) {
  const bool pair = answers.size() == 2;
  std::vector<double> taken_for;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    double quality = answers[i].quality;
    if (noisy) quality = pair ? answers[1 - i].quality : 1 - quality;
    if (pair && i == 0) quality += settings.position_bias;
    taken_for.push_back(std::clamp(quality + bias(settings, answers[i]), 0.0, 1.0));
  }
  return taken_for;
}

/// At most six digits behind the point: fine enough to keep the order of lengths, and no rounding error
/// shows.
void append_fraction(std::string& out, double number) {
  std::array<char, 32> digits;
  const double rounded = std::round(number * 1e6) / 1e6;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), rounded).ptr);
}

std::string write_reply(JudgeForm form, std::span<const JudgedAnswer> answers,
                        std::span<const double> taken_for) {
  const bool pair = answers.size() == 2;
  const bool compares = form == JudgeForm::comparison;
  std::string out = compares ? R"({"notes":")" : R"({"rationale":")";
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (pair) out += i == 0 ? "First: q" : " Second: q";
    out += pair ? "uality " : "Quality ";
    append_fraction(out, answers[i].quality);
    out += answers[i].is_marked ? ", taken for " : " by hash, taken for ";
    append_fraction(out, taken_for[i]);
    out += '.';
  }
  out += compares ? R"(","quality_score":)" : R"(","score":)";
  const double lead = pair ? (taken_for[0] - taken_for[1]) / 2 : 0;
  append_fraction(out, compares ? 0.5 - lead : pair ? 0.5 + lead : taken_for[0]);
  out += '}';
  return out;
}

}  // namespace

std::vector<JudgedAnswer> find_judged_answers(std::string_view message) {
  const auto markers = find_markers(message);
  if (markers.empty()) {
    const double hundredths = std::round(to_unit(mix(content_hash(message))) * 100);
    return {JudgedAnswer{hundredths / 100, message.size(), family_of(message), false}};
  }
  std::vector<JudgedAnswer> answers;
  for (std::size_t i = markers.size() - std::min<std::size_t>(markers.size(), 2); i < markers.size(); ++i) {
    const auto limit = i + 1 < markers.size() ? markers[i + 1].at : message.size();
    const auto text = cut_to_answer(message.substr(markers[i].at, limit - markers[i].at));
    answers.push_back({markers[i].quality, text.size(), family_of(text), true});
  }
  return answers;
}

std::vector<JudgedAnswer> find_compared_answers(std::string_view message) {
  auto answers = find_judged_answers(message);
  // A hash of the message would be another quality in the other order.
  if (answers.size() != 2) answers.assign(2, JudgedAnswer{.quality = 0.5});
  return answers;
}

JudgeReply judge(const JudgeSettings& settings, std::span<const JudgedAnswer> answers, std::uint64_t content,
                 std::uint64_t number, JudgeForm form) {
  const auto thrown = [&](Throw what) { return throw_die(settings, content, number, what); };
  const double what = to_unit(thrown(Throw::form));
  if (what < settings.refusal) return {true, {}};
  if (what < settings.refusal + settings.unreadable) {
    constexpr std::array<std::string_view, 3> unreadable_forms{
        "The answer is mostly right, but it leaves something out.",
        R"({"rationale":"The answer is mostly right."})", R"({"rationale":"Eight of ten.","score":8})"};
    return {false, std::string(unreadable_forms[thrown(Throw::unreadable_form) % unreadable_forms.size()])};
  }
  const bool noisy = to_unit(thrown(Throw::noise)) < settings.noise;
  return {false, write_reply(form, answers, impressions(settings, answers, noisy))};
}

JudgeReply Judge::reply(std::span<const JudgedAnswer> answers, std::uint64_t content, JudgeForm form) const {
  const auto given = given_.find(content);
  return judge(settings_, answers, content, given == given_.end() ? 0 : given->second, form);
}

}  // namespace sluice::sim
