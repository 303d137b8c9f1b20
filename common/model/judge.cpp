#include "common/model/judge.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace sluice {

namespace {

struct Placeholder {
  std::string_view name;
  std::string_view RubricTexts::*text;
};

constexpr std::array placeholders{
    Placeholder{"prompt", &RubricTexts::prompt},     Placeholder{"answer", &RubricTexts::answer},
    Placeholder{"context", &RubricTexts::context},   Placeholder{"reference", &RubricTexts::reference},
    Placeholder{"criteria", &RubricTexts::criteria},
};

constexpr std::string_view opening = "{{";
constexpr std::string_view closing = "}}";

/// Splits a template: `on_text` gets what stands as it is, `on_name` what stands between the braces.
template <class OnText, class OnName>
void scan(std::string_view text, OnText on_text, OnName on_name) {
  while (true) {
    const auto begin = text.find(opening);
    const auto end = begin == text.npos ? text.npos : text.find(closing, begin);
    if (end == text.npos) return on_text(text);
    on_text(text.substr(0, begin));
    on_name(text.substr(begin + opening.size(), end - begin - opening.size()));
    text.remove_prefix(end + closing.size());
  }
}

}  // namespace

std::string_view to_string(Judge judge) {
  switch (judge) {
    case Judge::none:
      return "none";
    case Judge::fake:
      return "fake";
    case Judge::model:
      return "model";
  }
  std::abort();
}

std::string score_with_rubric(std::string score, MetricId metric, std::string_view rubric,
                              std::string_view version) {
  const bool is_own = rubric == info(metric).name;
  score += is_own ? " " : " (";
  if (!is_own) score.append(rubric) += ' ';
  score += version;
  return is_own ? score : score + ')';
}

Digest rubric_hash(const Rubric& rubric) {
  FieldHasher hasher;
  return hasher.field("rubric-1")
      .field(rubric.id)
      .field(rubric.version)
      .field(rubric.system)
      .field(rubric.user)
      .finish();
}

RubricTexts texts_for_judge(const JudgeExpectation& expectation, const JudgedQuestion& question,
                            std::string_view answer) {
  const std::string& context = expectation.context.empty() ? question.context : expectation.context;
  return {question.prompt, answer, context, expectation.reference, expectation.criteria};
}

std::string render_rubric(const Rubric& rubric, const RubricTexts& texts) {
  std::string out;
  scan(
      rubric.user, [&](std::string_view text) { out += text; },
      [&](std::string_view name) {
        const auto found = std::ranges::find(placeholders, name, &Placeholder::name);
        if (found != placeholders.end()) out += texts.*found->text;
      });
  return out;
}

std::vector<std::string> placeholders_of(const Rubric& rubric) {
  std::vector<std::string> names;
  scan(
      rubric.user, [](std::string_view) {},
      [&](std::string_view name) {
        if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
      });
  return names;
}

std::vector<std::string_view> known_placeholders() {
  std::vector<std::string_view> names;
  for (const Placeholder& one : placeholders) names.push_back(one.name);
  return names;
}

}  // namespace sluice
