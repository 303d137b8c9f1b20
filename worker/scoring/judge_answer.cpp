#include "worker/scoring/judge_answer.hpp"

#include "common/checks/code_fence.hpp"
#include "common/text/text.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Json = nlohmann::json;

std::string quoted(std::string_view name) {
  return '"' + std::string(name) + '"';
}

}  // namespace

Result<Vote> read_judge_answer(std::string_view text, const JudgeAnswerForm& form) {
  const auto unreadable = [&](std::string problem) {
    return fail(form.unreadable,
                "the judge's answer is no " + std::string(form.what) + ": " + std::move(problem));
  };
  text = unfenced(text);
  if (text.empty()) return unreadable("it is empty");
  if (invalid_utf8_at(text)) return unreadable("it is not valid UTF-8");
  int scores = 0;
  const auto count_scores = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 && parsed == form.score) ++scores;
    return depth <= 1 || event == Json::parse_event_t::key;  // What lies deeper is not kept.
  };
  const Json object = Json::parse(text.begin(), text.end(), count_scores, false);
  if (!object.is_object()) return unreadable("it is no JSON object");
  if (scores == 0) return unreadable("it has no " + quoted(form.score));
  if (scores > 1) return unreadable("it has more than one " + quoted(form.score));
  const auto score = object.find(std::string(form.score));
  if (score == object.end() || !score->is_number())
    return unreadable("its " + quoted(form.score) + " is no number");
  const double value = score->get<double>();
  if (!(value >= 0.0 && value <= 1.0)) return unreadable("its " + quoted(form.score) + " is not from 0 to 1");
  const auto words = object.find(std::string(form.words));
  if (words == object.end() || words->is_null()) return Vote{value, {}};
  if (!words->is_string()) return unreadable("its " + quoted(form.words) + " is no text");
  return Vote{value, words->get<std::string>()};
}

}  // namespace sluice
