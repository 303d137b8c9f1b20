#include "coordinator/session/harvest.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/merge/shown_text.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/output/output_lock.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "coordinator/suite/examples/solved_examples.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// What the file holds; nothing where there is none yet.
struct HarvestFile {
  std::string text;
  std::set<std::string, std::less<>> ids;
};

Result<HarvestFile> read_harvest_file(const std::string& file) {
  HarvestFile known;
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return known;
  auto text = read_file(file, defaults::max_suite_bytes);
  if (!text) return fail(text.error().reason, "the file of --harvest, " + file + ", " + text.error().message);
  std::vector<Finding> findings;
  SolvedExamplesReader reader(findings);
  reader.add_json_lines(*text, file);
  if (!findings.empty()) {
    return fail(Reason::usage_invalid, "--harvest adds to solved examples, and " + to_text(findings.front()));
  }
  for (SolvedExample& one : reader.finish()) known.ids.insert(std::move(one.id));
  known.text = std::move(*text);
  return known;
}

/// A repeat may pass since the mean of all of them is no drop.
bool is_below_limit(const AssessedMetric& metric) {
  return metric.score && metric.limit && billionths(*metric.score) < billionths(*metric.limit);
}

bool passed_with_high_confidence(const CaseResult& result) {
  return result.status == CaseStatus::pass &&
         std::ranges::all_of(result.trials, [](const TrialResult& trial) {
           return trial.error == nullptr && trial.assessment.status == CaseStatus::pass &&
                  std::ranges::none_of(trial.assessment.metrics, is_below_limit);
         });
}

constexpr std::size_t answers_read_at_once = 100;  // An answer may be of megabytes.

/// Takes the answers that are to become examples, in the order of their cases.
class ExampleGatherer {
 public:
  ExampleGatherer(HarvestFile& file, const Redactor& redactor, const ReadWholeAnswers& whole_answers)
      : file_(file), redactor_(redactor), whole_answers_(whole_answers) {}

  void add(const CaseResult& result, std::string id) {
    if (result.unit == nullptr || file_.ids.contains(id)) return;
    if (file_.ids.size() >= defaults::max_solved_examples) {
      ++harvest_.beyond;
      return;
    }
    const Case& one = result.fixture;
    Gathered& to = gathered_.emplace_back();
    to.example = {std::move(id), one.content, result.unit->shown_text, {one.category}};
    redactor_.apply(to.example.input);
    if (one.recorded) {
      to.example.answer = one.recorded->answer.text;
      redactor_.apply(to.example.answer);
    } else if (may_go_on(to.example.answer.size())) {
      to.place = wanted_.size();
      const auto trial = std::ranges::find(result.trials, result.unit, &TrialResult::unit);
      wanted_.push_back({trial->trial, result.unit->key, result.unit->answer});
    }
    if (gathered_.size() == answers_read_at_once) flush();
  }

  Harvest finish() {
    flush();
    return harvest_;
  }
  /// What is behind the file's own lines. REQUIRES: finish.
  const std::string& lines() const { return lines_; }

 private:
  struct Gathered {
    SolvedExample example;
    std::optional<std::size_t> place{};  ///< Among those wanted whole.
  };

  void flush() {
    std::vector<std::optional<std::string>> whole(wanted_.size());
    if (whole_answers_ && !wanted_.empty()) whole = whole_answers_(wanted_);
    for (Gathered& one : gathered_) {
      if (file_.ids.contains(one.example.id)) continue;  // Another arm's answer was first.
      if (one.place && !whole[*one.place]) {
        ++harvest_.lost;
        continue;
      }
      if (one.place) one.example.answer = std::move(*whole[*one.place]);
      if (!one_line(one.example.answer).empty()) write(one.example);
    }
    gathered_.clear();
    wanted_.clear();
  }

  void write(const SolvedExample& example) {
    std::string line = json_line(example);
    const bool has_room = file_.ids.size() < defaults::max_solved_examples &&
                          file_.text.size() + 1 + lines_.size() + line.size() <= defaults::max_suite_bytes;
    if (!has_room) {
      ++harvest_.beyond;
      return;
    }
    lines_ += line;
    file_.ids.insert(example.id);
    ++harvest_.added;
  }

  HarvestFile& file_;
  const Redactor& redactor_;
  const ReadWholeAnswers& whole_answers_;
  std::vector<Gathered> gathered_;
  std::vector<AnswerPlace> wanted_;
  std::string lines_;
  Harvest harvest_;
};

}  // namespace

Result<void> check_harvest(const RunOptions& options) {
  const std::string& file = *options.harvest;
  if (std::filesystem::path(file).extension() != ".jsonl") {
    return fail(Reason::usage_invalid,
                "--harvest writes JSON Lines: name a file that ends in .jsonl, not " + file);
  }
  if (options.settings.mode.value == Mode::mock)
    return fail(Reason::usage_invalid, "--harvest takes answers of models, and a mock run has none");
  if (auto known = read_harvest_file(file); !known) return fail(std::move(known.error()));
  return check_output_path("solved examples", file);
}

Result<void> check_harvest_without_help(const RunInputs& inputs) {
  if (!inputs.retrieval) return {};
  const auto shown = std::ranges::find_if(inputs.retrieval->of_cases,
                                          [](const RetrievedExample& one) { return !one.shown.empty(); });
  if (shown == inputs.retrieval->of_cases.end()) return {};
  return fail(Reason::usage_invalid,
              "--harvest: the case \"" + excerpt(shown->event.test, defaults::quoted_bytes) +
                  "\" is shown the solved example \"" +
                  excerpt(shown->event.example, defaults::quoted_bytes) +
                  "\", and answers that had help must not become examples: run the suite without its "
                  "\"examples\"");
}

Result<Harvest> harvest_examples(const RunOptions& options, const Redactor& redactor,
                                 const RunResults& results, const ReadWholeAnswers& whole_answers,
                                 const std::function<void()>& before_waiting) {
  const std::string& file = *options.harvest;
  // Another run may add to it as well: it reads what this one has written.
  const auto lock = OutputLock::take(file, defaults::harvest_patience, before_waiting);
  if (!lock) {
    return fail(lock.error().reason, "--harvest has added nothing: " + lock.error().message +
                                         ", and run this again: answers in the caches are not asked again");
  }
  auto known = read_harvest_file(file);
  if (!known) return fail(std::move(known.error()));
  ExampleGatherer gatherer(*known, redactor, whole_answers);
  const bool has_arms = !options.arms.empty();
  const auto visited = visit_cases(results, [&](const CaseResult& result) {
    const Case& one = result.fixture;
    if (one.kind != CaseKind::text || !passed_with_high_confidence(result)) return;
    gatherer.add(result, has_arms ? one.id.substr(0, one.id.rfind('@')) : one.id);
  });
  if (!visited) return fail(visited.error());
  const Harvest harvest = gatherer.finish();
  if (harvest.added == 0) return harvest;
  if (!known->text.empty() && known->text.back() != '\n') known->text += '\n';
  const auto written = write_whole_file("solved examples", file, [&](Sink& sink) -> Result<void> {
    sink.write(known->text);
    sink.write(gatherer.lines());
    return {};
  });
  if (!written) return fail(written.error());
  return harvest;
}

}  // namespace sluice
