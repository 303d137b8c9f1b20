#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/case_explanation.hpp"
#include "coordinator/report/wording/pass_rate_wording.hpp"
#include "coordinator/report/wording/statistics_wording.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

// The runner reads each line of a step's output: a line end inside would begin another command.
std::string escaped(std::string_view text, bool is_property) {
  std::string out;
  // A property may be the name of a file, which has to be found.
  const std::string valid =
      is_property ? without_direction_controls(to_valid_utf8(text)) : without_unseen(to_valid_utf8(text));
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    // U+0080 to U+009F: a terminal may follow them.
    if (c == '\xc2' && i + 1 < valid.size() && static_cast<unsigned char>(valid[i + 1]) < 0xa0) {
      out += ' ';
      ++i;
      continue;
    }
    switch (c) {
      case '%':
        out += "%25";
        break;
      case '\r':
        out += "%0D";
        break;
      case '\n':
        out += "%0A";
        break;
      case ':':
        out += is_property ? "%3A" : ":";
        break;
      case ',':
        out += is_property ? "%2C" : ",";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

struct Annotation {
  std::string file;  ///< Empty: about the run.
  std::string title;
  std::string message;
  std::uint32_t line = 0;  ///< 0: about the whole file.
};

/// The annotations of one kind, by importance: what comes first in `ranks` is shown first.
template <std::size_t Ranks>
class RankedAnnotations {
 public:
  template <class Make>
  void add(std::size_t rank, const Make& make) {
    ++count_;
    if (ranks_[rank].size() < defaults::max_annotations_of_a_kind) ranks_[rank].push_back(make());
  }

  void write(std::string_view command, const std::string& where_all_are, std::string& out) const {
    const std::size_t shown =
        count_ > defaults::max_annotations_of_a_kind ? defaults::max_annotations_of_a_kind - 1 : count_;
    std::size_t written = 0;
    for (const auto& rank : ranks_) {
      for (const Annotation& annotation : rank) {
        if (written++ < shown) write_one(command, annotation, out);
      }
    }
    if (count_ > shown) {
      write_one(command, {"", wording::grouped(count_ - shown) + " more", where_all_are, 0}, out);
    }
  }

 private:
  static void write_one(std::string_view command, const Annotation& annotation, std::string& out) {
    std::string_view message = annotation.message;
    while (message.ends_with('\n')) message.remove_suffix(1);
    out.append("::").append(command).append(" ");
    if (!annotation.file.empty()) {
      const auto line = std::to_string(std::max(annotation.line, 1u));
      out += "file=" + escaped(annotation.file, true) + ",line=" + line + ",";
    }
    out +=
        "title=" + escaped(excerpt(printable(annotation.title), defaults::max_annotation_title_bytes), true) +
        "::" + escaped(excerpt(message, defaults::max_annotation_bytes), false) + "\n";
  }

  std::uint64_t count_ = 0;
  std::array<std::vector<Annotation>, Ranks> ranks_;
};

class GithubReport {
 public:
  GithubReport(const ReportInput& input, Sink& sink) : input_(input), writer_(sink) {}

  Result<void> write() {
    add_run();
    if (auto visited = visit_cases(input_.results, [&](const CaseResult& result) { add_case(result); });
        !visited)
      return visited;
    add_missing();
    const std::string where_all_are = where_all_annotations_are();
    errors_.write("error", where_all_are, writer_.text());
    warnings_.write("warning", where_all_are, writer_.text());
    notices_.write("notice", where_all_are, writer_.text());
    writer_.text() += closing_line();
    return {};
  }

 private:
  enum ErrorRank : std::size_t { about_the_run, regressed, failed, errored, error_ranks };
  enum WarningRank : std::size_t { about_the_comparison, about_a_case, warning_ranks };

  void add_run() {
    if (input_.facts.cut_short) {
      errors_.add(about_the_run, [&] {
        const std::uint64_t not_started = input_.aggregates.all.not_started;
        const std::string left =
            not_started == 0
                ? ""
                : "\n" + wording::counted(not_started, wording::case_noun(input_)) + " not started";
        return Annotation{"",
                          "The run ended early: " + std::string(to_string(input_.facts.cut_short->reason)),
                          input_.facts.cut_short->message + left, 0};
      });
    }
    if (input_.gate.aggregates) {
      for (const AggregateComparison& comparison : input_.gate.aggregates->metrics) add_aggregate(comparison);
    }
    if (!wording::by_strict(input_).empty()) {
      errors_.add(about_the_run, [&] {
        return Annotation{"", "The run as a whole", wording::reason_for(input_), 0};
      });
    }
    if (std::string missed = wording::missed_pass_rates(input_); !missed.empty()) {
      errors_.add(about_the_run, [&] { return Annotation{"", "The run as a whole", missed, 0}; });
    }
    for (const std::string& words : wording::run_failures(input_.gate)) {
      errors_.add(about_the_run, [&] { return Annotation{"", "The run as a whole", words, 0}; });
    }
    for (const std::string& words : wording::run_warnings(input_.gate)) {
      warnings_.add(about_the_comparison, [&] { return Annotation{"", "The run as a whole", words, 0}; });
    }
    for (const GateNotice& notice : input_.gate.notices) {
      const auto make = [&] {
        return Annotation{"", std::string(notice.subject) + ": " + notice.code, notice.message, 0};
      };
      switch (notice.severity) {
        case GateNotice::Severity::failure:
          errors_.add(about_the_run, make);
          break;
        case GateNotice::Severity::warning:
          warnings_.add(about_the_comparison, make);
          break;
        case GateNotice::Severity::info:
          notices_.add(0, make);
          break;
      }
    }
  }

  void add_aggregate(const AggregateComparison& comparison) {
    const std::string limit = " of " + wording::points(input_.gate.aggregates->threshold) + ".";
    const std::string title = wording::aggregate_title(comparison) + " against the baseline";
    if (comparison.outcome == AggregateOutcome::beyond_limit) {
      errors_.add(about_the_run, [&] {
        return Annotation{"", title, wording::dropped(comparison) + ", beyond the limit" + limit, 0};
      });
    }
    if (comparison.outcome == AggregateOutcome::within_limit) {
      warnings_.add(about_the_comparison, [&] {
        return Annotation{"", title, wording::dropped(comparison) + ", within the limit" + limit, 0};
      });
    }
  }

  void add_case(const CaseResult& result) {
    const auto annotation = [&](std::string_view what, std::string message) {
      return Annotation{wording::file_of(result.fixture, input_),
                        std::string(what) + ": " + wording::title(result.fixture), std::move(message),
                        result.fixture.line};
    };
    const auto explanation = [&] {
      return wording::plain_text(wording::explanation(result, input_.results.suite.rubrics, details_));
    };
    switch (result.status) {
      case CaseStatus::error:
        if (result.not_started) break;  // They are counted beside the reason why the run ended.
        errors_.add(errored, [&] {
          return annotation("Error",
                            std::string(to_string(result.error->reason)) + ": " + result.error->message);
        });
        break;
      case CaseStatus::fail:
        if (result.assessment.regressed) {
          errors_.add(regressed, [&] { return annotation("Regressed", explanation()); });
        } else if (wording::is_within_pass_rate(input_, result)) {
          warnings_.add(about_a_case,
                        [&] { return annotation("Failed, within min_pass_rate", explanation()); });
        } else {
          errors_.add(failed, [&] { return annotation("Failed", explanation()); });
        }
        break;
      case CaseStatus::warn:
      case CaseStatus::flaky:
        if (result.assessment.only_known_failures()) {
          notices_.add(0, [&] { return annotation("Known failure", explanation()); });
          break;
        }
        // Missing entries are one warning for all of them: they have one remedy.
        if (wording::missing_entries(result).empty() || wording::judge_warns(result)) {
          warnings_.add(about_a_case, [&] { return annotation("Warning", explanation()); });
        }
        break;
      case CaseStatus::pass:
        break;
    }
    if (result.assessment.improved) add_improvement(result);
  }

  void add_improvement(const CaseResult& result) {
    if (improvements_.size() > defaults::max_improvement_bytes) return;
    improvements_ += result.fixture.id + ": " + wording::improvements(result) + "\n";
    ++improvements_shown_;
  }

  void add_missing() {
    const std::uint64_t missing = input_.aggregates.all.missing_entries;
    if (missing > 0) {
      warnings_.add(about_the_comparison, [&] {
        return Annotation{
            "", wording::counted(missing, "score") + " without an entry in the baseline",
            "To pin them, where the results are known to be good: " + wording::how_to_pin(input_), 0};
      });
    }
    const std::uint64_t improved = input_.aggregates.all.improved;
    if (improved == 0) return;
    notices_.add(0, [&] {
      std::string words = improvements_;
      if (improved > improvements_shown_)
        words += "and " + wording::grouped(improved - improvements_shown_) + " more\n";
      return Annotation{"", wording::counted(improved, wording::case_noun(input_)) + " improved", words, 0};
    });
  }

  // A plain line for the log. The runner also looks for "##[" anywhere in a line.
  /// The run may have written no JSON report.
  std::string where_all_annotations_are() const {
    if (!input_.home_flag) return "`--format json` has them all.";
    return "`sluice report " + input_.facts.run_id.substr(0, defaults::run_id_digits) + " --format json" +
           *input_.home_flag + "` has them all.";
  }

  std::string closing_line() const {
    std::string line =
        "sluice: " + wording::verdict_word(input_.verdict) + " - " + printable(wording::reason_for(input_));
    for (auto at = line.find("##["); at != std::string::npos; at = line.find("##[")) line.insert(at + 2, " ");
    return line + '\n';
  }

  const ReportInput& input_;
  BufferedWriter writer_;
  CaseDetails details_;
  RankedAnnotations<error_ranks> errors_;
  RankedAnnotations<warning_ranks> warnings_;
  RankedAnnotations<1> notices_;
  std::string improvements_;
  std::uint64_t improvements_shown_ = 0;
};

}  // namespace

Result<void> write_github_report(const ReportInput& input, Sink& sink) {
  return GithubReport(input, sink).write();
}

}  // namespace sluice
