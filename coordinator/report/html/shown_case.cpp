#include "coordinator/report/html/shown_case.hpp"

#include "common/defaults.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/facts/status_counts.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/merge/shown_text.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

/// Of each case, however many there are: what the run itself keeps of an answer, and a question.
constexpr std::size_t least_case_bytes = 2 * defaults::max_shown_bytes;
constexpr std::size_t answers_read_at_once = 500;
/// After which those are shown whose answers are read, however few: an answer may be of a megabyte.
constexpr std::size_t gathered_bytes = 8 << 20;

struct NamedText {
  std::string_view name;
  std::string* text;
};

std::array<NamedText, 5> texts_in(CaseTexts& texts) {
  return {{{"system prompt", &texts.system},
           {"prompt", &texts.prompt},
           {"answer", &texts.answer},
           {"expected text", &texts.expected},
           {"explanation", &texts.why}}};
}

class ShownCases {
 public:
  ShownCases(const ReportInput& input, const PageRoom& room, const std::function<void(const ShownCase&)>& use)
      : input_(input), room_(room), use_(use), text_bytes_(room.text_bytes) {
    cases_left_ = std::min<std::uint64_t>(room.cases, input.aggregates.all.statuses.total());
  }

  Result<void> visit() {
    std::uint64_t taken = 0;
    const auto visited = visit_cases(input_.results, [&](const CaseResult& result) {
      if (taken >= room_.cases || (result.unit == nullptr && !room_.with_unanswered)) return;
      ++taken;
      gather(result);
      if (cases_.size() == answers_read_at_once || gathered_ >= gathered_bytes) show();
    });
    show();
    return visited;
  }

 private:
  void gather(const CaseResult& result) {
    const Case& test = result.fixture;
    ShownCase& shown = cases_.emplace_back(ShownCase{test.id,
                                                     wording::title(test),
                                                     test.name,
                                                     test.category,
                                                     arm_of(result, input_),
                                                     test.test,
                                                     shown_status(result.status, result.not_started),
                                                     result.assessment.change(),
                                                     texts_of(result, input_),
                                                     {}});
    // The texts that are compared stay as they are, to be copied; what is said of them shows the difference.
    shown.texts.why = without_unseen(shown.texts.why);
    // Where the run was asked otherwise the file of now may have other answers than were judged.
    if (test.recorded && !input_.prompts_are_lost) {
      shown.texts.answer = shown_text(test.recorded->answer.text, input_);
    } else if (result.unit != nullptr && !is_zero(result.unit->answer)) {
      wanted_.push_back({trial_of(result), result.unit->key, result.unit->answer});
      wanted_by_.push_back(cases_.size() - 1);
    }
    for (const NamedText& one : texts_in(shown.texts)) gathered_ += one.text->size();
  }

  /// The one that is shown.
  static TrialId trial_of(const CaseResult& result) {
    const auto found = std::ranges::find(result.trials, result.unit, &TrialResult::unit);
    return found == result.trials.end() ? result.trial : found->trial;
  }

  void show() {
    take_answers();
    for (ShownCase& one : cases_) {
      fit(one);
      use_(one);
    }
    cases_.clear();
    gathered_ = 0;
  }

  void take_answers() {
    std::vector<std::optional<std::string>> answers(wanted_.size());
    if (input_.whole_answers && !wanted_.empty()) answers = input_.whole_answers(wanted_);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      ShownCase& one = cases_[wanted_by_[i]];
      if (answers[i]) {
        one.texts.answer = shown_text(*answers[i], input_);
      } else if (may_go_on(one.texts.answer.size())) {
        one.notes.emplace_back(
            "Of the answer this is the beginning: no cache and no observation of this home has it whole.");
      }
    }
    wanted_.clear();
    wanted_by_.clear();
  }

  void fit(ShownCase& shown) {
    const std::size_t share =
        std::max<std::size_t>(least_case_bytes, text_bytes_ / std::max<std::uint64_t>(1, cases_left_));
    cases_left_ -= cases_left_ > 0 ? 1 : 0;
    auto texts = texts_in(shown.texts);
    std::ranges::sort(texts, {}, [](const NamedText& one) { return one.text->size(); });
    std::size_t left = share;
    std::string cut;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::string& text = *texts[i].text;
      const std::size_t most = left / (texts.size() - i);
      if (text.size() > most) {
        cut += (cut.empty() ? "" : ", ") + std::string(texts[i].name) + " of " +
               wording::counted(text.size(), "byte");
        text = excerpt(text, most);
      }
      left -= std::min(left, text.size());
    }
    text_bytes_ -= std::min(text_bytes_, share - left);
    if (cut.empty()) return;
    shown.notes.push_back("Cut: " + cut + ". Whole: sluice show " +
                          input_.facts.run_id.substr(0, defaults::run_id_digits) + ' ' +
                          shell_word(shown.id));
  }

  const ReportInput& input_;
  PageRoom room_;
  const std::function<void(const ShownCase&)>& use_;
  std::uint64_t cases_left_ = 0;
  std::size_t text_bytes_;
  std::vector<ShownCase> cases_;
  std::size_t gathered_ = 0;
  std::vector<AnswerPlace> wanted_;
  std::vector<std::size_t> wanted_by_;  ///< Positions in cases_.
};

}  // namespace

Result<void> visit_shown_cases(const ReportInput& input, const PageRoom& room,
                               const std::function<void(const ShownCase&)>& use) {
  return ShownCases(input, room, use).visit();
}

}  // namespace sluice
