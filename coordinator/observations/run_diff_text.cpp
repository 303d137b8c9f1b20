#include "coordinator/observations/run_diff_text.hpp"

#include "common/documents/json_depth.hpp"
#include "common/text/printable.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/observations/observation_page.hpp"
#include "coordinator/observations/side_by_side.hpp"
#include "coordinator/output/json_writer.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Ordered = nlohmann::ordered_json;

std::string run_name(const PastRun& past) {
  constexpr std::size_t shown_digits = 8;
  return "run " + printable(past.run.run_id.substr(0, shown_digits));
}

std::string or_words(std::string text, std::string_view if_empty) {
  return text.empty() ? std::string(if_empty) : text;
}

std::string run_line(std::string_view side, const PastRun& past, const std::string& verdict) {
  return std::string(side) + run_name(past) + ", " + wording::date(past.run.started_at_ms) + ", " +
         printable(past.run.mode) + ", " + printable(past.run.model) +
         (past.run.model == defaults::recorded_model ? "" : " of " + printable(past.run.provider)) + ": " +
         printable(verdict);
}

/// With as many digits as tell the two apart.
BeforeAndAfter<std::string> score_words(const BeforeAndAfter<double>& scores) {
  for (int decimals = 2; decimals < 6; ++decimals) {
    BeforeAndAfter<std::string> words{wording::fixed(scores.before, decimals),
                                      wording::fixed(scores.after, decimals)};
    if (words.differ()) return words;
  }
  return {shortest(scores.before), shortest(scores.after)};
}

std::string value_words(const std::optional<MetricValue>& value, const std::string& score) {
  if (!value) return "not there";
  std::string words = value->passed ? (*value->passed ? "passed" : "failed") : "";
  if (value->score) words += (words.empty() ? "" : " ") + score;
  return words.empty() ? std::string("undefined") : words;
}

/// `claims_recall 0.50 → 1.00`, `label "true" at /urgent passed → failed`
std::string metric_line(const MetricDiff& one) {
  const auto& [before, after] = one.value;
  const auto score = [](const std::optional<MetricValue>& value) {
    return value && value->score ? wording::fixed(*value->score, 2) : std::string();
  };
  BeforeAndAfter<std::string> scores{score(before), score(after)};
  if (before && after && before->score && after->score && before->score != after->score)
    scores = score_words({*before->score, *after->score});
  const std::string name =
      one.expected.empty() ? one.name : excerpt(one.expected, defaults::compared_check_bytes);
  const std::string words = printable(name) + " " + value_words(before, scores.before);
  return one.value.differ() ? words + " → " + value_words(after, scores.after) : words;
}

std::string status_words(const std::string& status, const Observation& one) {
  return status + (one.reason_code ? " (" + *one.reason_code + ")" : "");
}

/// A JSON document of one line in lines that can be compared; nothing for any other text, and for one so long
/// that the library, which looks for each key among all, would take seconds.
std::optional<std::string> laid_out(const std::string& answer) {
  if (answer.size() > defaults::max_laid_out_bytes) return std::nullopt;
  const auto value = parse_tree<Ordered>(answer, defaults::max_json_depth);
  if (!value.is_structured()) return std::nullopt;
  return value.dump(2, ' ', false, Ordered::error_handler_t::replace);
}

std::string listed_words(StatusChange change) {
  const std::string only = "Only cases whose status ";
  if (change == StatusChange::any) return only + "changed are listed.";
  return only + (change == StatusChange::worse ? "got worse" : "got better") + " are listed.";
}

class Page {
 public:
  Page(const RunDiffReport& report, std::size_t columns) : report_(report), columns_(columns) {}

  std::string text() {
    add_head();
    for (const CaseDiff& one : report_.diff.cases) {
      if (report_.lists(one)) add_case(one);
    }
    const auto& [before, after] = report_.runs;
    add_alone(before, after, report_.diff.only_before);
    add_alone(after, before, report_.diff.only_after);
    return std::move(page_);
  }

 private:
  void add_head() {
    const RunDiff& diff = report_.diff;
    page_ += paragraph(run_line("Before: ", report_.runs.before, report_.verdicts.before), columns_);
    page_ += paragraph(run_line("After:  ", report_.runs.after, report_.verdicts.after), columns_);
    std::string counts = "No case is in both";
    if (!diff.cases.empty()) {
      counts = wording::grouped(diff.changed()) + " of " + wording::counted(diff.cases.size(), "case") +
               " changed";
      std::string parts;
      for (const auto& [count, words] :
           {std::pair(diff.count(StatusChange::worse), "worse"),
            std::pair(diff.count(StatusChange::better), "better"),
            std::pair(diff.changed_and_judged_otherwise(), "judged otherwise")}) {
        if (count > 0) parts += (parts.empty() ? "" : ", ") + wording::grouped(count) + " " + words;
      }
      if (!parts.empty()) counts += " (" + parts + ")";
    }
    for (const auto& [count, side] :
         {std::pair(diff.only_before.size(), "before"), std::pair(diff.only_after.size(), "after")}) {
      if (count > 0) counts += ", " + wording::grouped(count) + " only " + side;
    }
    page_ += paragraph(counts + ".", columns_);
    if (report_.status) page_ += paragraph(listed_words(*report_.status), columns_);
    for (const std::string& note : report_.notes) page_ += paragraph("Note: " + printable(note), columns_);
  }

  void add_case(const CaseDiff& one) {
    page_ += "\n";
    std::string title = printable(one.id) + ": " + one.status.before;
    if (one.status.differ()) title += " → " + one.status.after;
    if (!one.is_changed()) title += one.by_baseline_alone ? ", by the baselines alone" : ", as it was";
    page_ += paragraph(title, columns_);
    for (const TrialDiff& trial : one.trials) {
      if (trial.is_changed() || report_.with_unchanged) add_trial(trial, one);
    }
  }

  void add_trial(const TrialDiff& trial, const CaseDiff& of) {
    const BeforeAndAfter<std::string> status{status_words(trial.status.before, *trial.before),
                                             status_words(trial.status.after, *trial.after)};
    const std::string form = form_of(*trial.after);
    const bool says_case =
        form.empty() && of.status.before == status.before && of.status.after == status.after;
    if (!says_case) {
      std::string title = form.empty() ? std::string("as it is") : printable(form);
      title += ": " + status.before;
      add_line(status.differ() ? title + " → " + status.after : title);
    }
    for (const MetricDiff& metric : trial.metrics) {
      if (!metric.value.differ() && !report_.with_unchanged) continue;
      const bool is_otherwise = of.judged_otherwise && std::ranges::find(*of.judged_otherwise, metric.name) !=
                                                           of.judged_otherwise->end();
      const bool is_gone = !metric.value.after && !trial.after->reason_code;
      const char* how = is_gone ? "; not judged any more" : "; judged otherwise now";
      add_line(metric_line(metric) + (is_otherwise ? how : ""));
      if (metric.value.differ()) add_rationale(metric.rationale.after);
    }
    if (trial.prompt == true) add_line("The prompt was another one.");
    if (trial.answer == AnswerChange::unknown) {
      add_line("An answer is in no cache any more: whether it changed is not known.");
    } else if (trial.answer == AnswerChange::changed) {
      add_answers(*trial.before, *trial.after);
    }
    if (trial.claims && trial.answer != AnswerChange::changed) {
      add_line("The claims that were made of the answer:");
      add_texts(or_words(claim_lines(trial.before->final_claims, "concept_path"), "(none)"),
                or_words(claim_lines(trial.after->final_claims, "concept_path"), "(none)"));
    }
  }

  void add_answers(const Observation& before, const Observation& after) {
    const auto left = laid_out(before.raw_response);
    const auto right = laid_out(after.raw_response);
    if (left && right && *left != *right) return add_texts(*left, *right);
    add_texts(or_words(before.raw_response, words_for_empty(before)),
              or_words(after.raw_response, words_for_empty(after)));
  }

  void add_texts(std::string_view left, std::string_view right) {
    page_ += side_by_side(run_name(report_.runs.before), left, run_name(report_.runs.after), right, columns_);
  }

  /// Why a judge gave what it gives now.
  void add_rationale(const std::string& rationale) {
    if (rationale.empty()) return;
    add_line("Judge now: " + printable(excerpt(one_line(rationale), defaults::span_bytes)), 4);
  }

  void add_line(const std::string& text, std::size_t indent = 2) {
    for (const std::string& line : wrapped(text, std::max(columns_, 2 * indent) - indent))
      page_ += std::string(indent, ' ') + line + "\n";
  }

  /// What a part of the suite left out is no news.
  void add_alone(const PastRun& run, const PastRun& other, const std::vector<std::string>& cases) {
    const bool is_left_out = other.run.selection && !report_.with_unchanged;
    if (cases.empty() || is_left_out || report_.status) return;
    page_ += "\nOnly in " + run_name(run) + "\n";
    for (const std::string& one : cases) add_line(printable(one));
  }

  const RunDiffReport& report_;
  std::size_t columns_;
  std::string page_;
};

void write_run(Json& json, const PastRun& past, const std::string& verdict) {
  json.open('{');
  json.member("run_id", past.run.run_id);
  json.member("started_at", wording::rfc3339(past.run.started_at_ms));
  json.member("suite", past.run.suite);
  json.member("mode", past.run.mode);
  json.member("provider", past.run.provider);
  json.member("model", past.run.model);
  json.member("verdict", verdict);
  json.close('}');
}

template <class T, class Write>
void write_both(Json& json, std::string_view name, const BeforeAndAfter<T>& both, Write&& write) {
  json.key(name).open('{');
  json.key("before");
  write(both.before);
  json.key("after");
  write(both.after);
  json.close('}');
}

void write_metric(Json& json, const MetricDiff& metric) {
  json.open('{');
  json.member("name", metric.name);
  json.member("changed", metric.value.differ());
  const auto& [before, after] = metric.value;
  for (const auto& [side, value, rationale] : {std::tuple("before", &before, &metric.rationale.before),
                                               std::tuple("after", &after, &metric.rationale.after)}) {
    json.key(side);
    if (!*value) {
      json.null();
      continue;
    }
    json.open('{');
    json.member("score", (*value)->score);
    json.member("passed", (*value)->passed);
    if (!rationale->empty()) json.member("rationale", *rationale);
    json.close('}');
  }
  json.close('}');
}

void write_trial(Json& json, const TrialDiff& trial, bool is_changed) {
  const auto text = [&](const auto& value) { json.value(value); };
  json.open('{');
  json.member("perturbation", trial.after->perturbation);
  json.member("repeat", trial.after->repeat);
  json.member("changed", is_changed);
  write_both(json, "status", trial.status, text);
  write_both(json, "reason_code",
             BeforeAndAfter<std::optional<std::string>>{trial.before->reason_code, trial.after->reason_code},
             text);
  json.key("metrics").open('[');
  for (const MetricDiff& metric : trial.metrics) write_metric(json, metric);
  json.close(']');
  json.member("prompt_changed", trial.prompt);
  json.key("answer_changed");
  trial.answer == AnswerChange::unknown ? json.null() : json.value(trial.answer == AnswerChange::changed);
  write_both(json, "answer",
             BeforeAndAfter<std::string_view>{trial.before->raw_response, trial.after->raw_response}, text);
  json.member("claims_changed", trial.claims);
  write_both(
      json, "claims",
      BeforeAndAfter<std::string_view>{trial.before->final_claims.text, trial.after->final_claims.text},
      [&](std::string_view claims) { json.raw_json(claims); });
  json.close('}');
}

void write_names(Json& json, std::string_view name, const std::vector<std::string>& names) {
  json.key(name).open('[');
  for (const std::string& one : names) json.value(one);
  json.close(']');
}

}  // namespace

bool RunDiffReport::lists(const CaseDiff& one) const {
  return status ? one.has(*status) : one.is_changed() || with_unchanged;
}

std::string run_diff_page(const RunDiffReport& report, std::size_t columns) {
  return Page(report, columns).text();
}

std::string run_diff_as_json(const RunDiffReport& report) {
  std::string text;
  Json json(text);
  json.open('{');
  json.key("before");
  write_run(json, report.runs.before, report.verdicts.before);
  json.key("after");
  write_run(json, report.runs.after, report.verdicts.after);
  write_names(json, "notes", report.notes);
  json.member("in_both", report.diff.cases.size());
  json.member("changed", report.diff.changed());
  json.member("worse", report.diff.count(StatusChange::worse));
  json.member("better", report.diff.count(StatusChange::better));
  json.member("by_baseline_alone", report.diff.by_baseline_alone());
  json.key("cases").open('[');
  bool is_any = false;
  for (const CaseDiff& one : report.diff.cases) {
    if (!report.lists(one)) continue;
    is_any = true;
    json.line(1);
    json.open('{');
    json.member("id", one.id);
    json.member("changed", one.is_changed());
    write_both(json, "status", one.status, [&](const std::string& status) { json.value(status); });
    if (one.judged_otherwise) {
      write_names(json, "judged_otherwise", *one.judged_otherwise);
    } else {
      json.key("judged_otherwise").null();
    }
    json.key("trials").open('[');
    for (const TrialDiff& trial : one.trials) {
      const bool is_changed = trial.is_changed() && !one.by_baseline_alone;
      if (is_changed || report.with_unchanged) write_trial(json, trial, is_changed);
    }
    json.close(']');
    json.close('}');
  }
  if (is_any) text += '\n';
  json.close(']');
  write_names(json, "only_before", report.diff.only_before);
  write_names(json, "only_after", report.diff.only_after);
  json.close('}');
  return text + "\n";
}

}  // namespace sluice
