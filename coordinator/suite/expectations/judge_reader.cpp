#include "coordinator/suite/expectations/judge_reader.hpp"

#include "common/defaults.hpp"
#include "common/text/joined.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/documents/document_context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

class QuestionReader {
 public:
  QuestionReader(TableReader& reader, MetricId metric, SuiteRubrics& rubrics)
      : reader_(reader), metric_(metric), rubrics_(rubrics) {}

  ReadQuestion read() {
    find_rubric();
    read_samples();
    read_shown("reference", read_.question.reference);
    read_shown("criteria", read_.question.criteria);
    read_context();
    return std::move(read_);
  }

 private:
  std::string metric_name() const { return std::string(info(metric_).name); }

  void find_rubric() {
    const bool may_name = metric_ == MetricId::rubric;
    const auto named = may_name ? reader_.word("rubric") : std::nullopt;
    if (!may_name && reader_.refused_entry("rubric") != nullptr) {
      reader_.add_wrong("rubric", "belongs to the metric rubric: " + metric_name() +
                                      " is judged by the rubric of its own name, and \"rubric_version\" "
                                      "names one of its versions");
    }
    const auto version = reader_.word("rubric_version");
    const auto is_unreadable = [&](std::string_view key, const std::optional<std::string>& value) {
      return reader_.entry(key) != nullptr && !value;
    };
    if (is_unreadable("rubric_version", version) || (may_name && is_unreadable("rubric", named))) return;
    const auto use = rubrics_.use(named.value_or(metric_name()), version);
    if (!use) {
      const std::string_view wrong = use.error().is_version ? "rubric_version" : "rubric";
      return reader_.add_wrong(wrong, use.error().message);
    }
    const KnownRubric& rubric = *use->known;
    const std::string_view goal = goal_of_reference();
    if (!goal.empty() && !rubric.shows("reference")) {
      return reader_.add_wrong("type", "is judged by " + rubric.name() + " (" + rubric.file +
                                           "), which does not show {{reference}}: " + std::string(goal));
    }
    read_.rubric = &rubric;
    read_.question.rubric = use->number;
    read_.question.rubric_hash = rubric.hash;
  }

  /// What the metric makes of the reference; empty: it may do without.
  std::string_view goal_of_reference() const {
    if (metric_ == MetricId::correctness) return "correctness is agreement with it";
    if (metric_ == MetricId::context_recall) return "context_recall is how much of it the context holds";
    return {};
  }

  void read_samples() {
    const auto samples = reader_.count("samples");
    if (!samples) return;
    if (*samples == 0 || *samples > defaults::max_judge_samples) {
      return reader_.add_wrong("samples", "must be from 1 to " + std::to_string(defaults::max_judge_samples) +
                                              ", not " + std::to_string(*samples));
    }
    read_.question.samples = static_cast<std::uint32_t>(*samples);
  }

  static std::string placeholder(std::string_view key) { return "{{" + std::string(key) + "}}"; }

  /// Whether the rubric leaves the text out. Then none may stand there.
  bool leaves_out(std::string_view key) {
    const KnownRubric* rubric = read_.rubric;
    if (rubric == nullptr || rubric->shows(key)) return false;
    if (reader_.refused_entry(key) != nullptr) {
      reader_.add_wrong(key, "has no effect: " + rubric->name() + " does not show " + placeholder(key));
    }
    return true;
  }

  /// A text that stands there exactly if the rubric shows it.
  void read_shown(std::string_view key, std::string& text) {
    if (leaves_out(key)) return;
    if (read_.rubric != nullptr) {
      reader_.entry(key, Need::required,
                    "the text that " + read_.rubric->name() + " shows as " + placeholder(key));
    }
    take(key, reader_.text(key), text);
  }

  /// Without one the judge is shown `input.context`.
  void read_context() {
    if (leaves_out("context")) return;
    const auto texts = reader_.texts("context");
    if (texts) take("context", joined(*texts, paragraph_break), read_.question.context);
  }

  void take(std::string_view key, std::optional<std::string> value, std::string& text) {
    if (!value) return;
    if (one_line(*value).empty()) return reader_.add_empty(key);
    text = std::move(*value);
  }

  TableReader& reader_;
  MetricId metric_;
  SuiteRubrics& rubrics_;
  ReadQuestion read_;
};

}  // namespace

ReadQuestion read_judge_question(TableReader& reader, MetricId metric, SuiteRubrics& rubrics) {
  return QuestionReader(reader, metric, rubrics).read();
}

}  // namespace sluice
