#include "coordinator/report/report_document.hpp"

#include "common/text/joined.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/budget_wording.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/pass_rate_wording.hpp"
#include "coordinator/report/wording/tones.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/report/writers/markdown_writer.hpp"
#include "coordinator/report/writers/table_writer.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

using namespace document;

std::string symbol(GateNotice::Severity severity) {
  if (severity == GateNotice::Severity::info) return "";
  return severity == GateNotice::Severity::warning ? "⚠ " : "✗ ";
}

/// The aggregates fell, by however little: then they are no background.
bool aggregates_dropped(const ReportInput& input) {
  return input.gate.aggregates && (input.gate.aggregates->outcome == AggregateOutcome::within_limit ||
                                   input.gate.aggregates->outcome == AggregateOutcome::beyond_limit);
}

/// `arms_are`: where the arms stand, `above` or `below`.
std::string model_words(const ReportInput& input, const std::string& arms_are) {
  const RunIdentity& identity = input.identity;
  if (!identity.arms.empty()) {
    return wording::counted(identity.arms.size(), "arm") + ", see " + arms_are + " (" + input.mode + ")";
  }
  // The provider of the settings had no part in it.
  if (identity.model == defaults::recorded_model) return identity.model + " (" + input.mode + ")";
  const std::string_view kind = to_string(identity.provider);
  std::string provider = identity.provider_name;
  if (provider != kind) provider.append(" of kind ").append(kind);
  return identity.model + " (" + provider + ", " + input.mode + ")";
}

/// `3 of 4 recorded`; empty for a run that asked for them all.
std::string recorded_words(const ReportInput& input) {
  const CaseList& cases = input.results.suite.cases;
  std::size_t recorded = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) recorded += cases.has_answer(i) ? 1 : 0;
  if (recorded == 0) return "";
  return wording::grouped(recorded) + " of " + wording::grouped(cases.size()) + " recorded";
}

class ReportBuilder {
 public:
  ReportBuilder(const ReportInput& input, Room room)
      : input_(input), all_(input.aggregates.all), is_comment_(room == Room::comment) {}

  void add_head() {
    document_.title = "LLM Prompt Evaluation Report";
    document_.verdict = {wording::verdict_word(input_.verdict),
                         sentence(wording::reason_for(input_), defaults::max_reason_bytes),
                         tone_of(input_.verdict)};
    const RunIdentity& identity = input_.identity;
    const auto fact = [&](const char* label, std::string words) {
      document_.facts.push_back({.text = std::move(words), .label = label});
    };
    fact("Run ID", input_.facts.run_id);
    fact("Date", wording::date(input_.facts.completed_at_ms));
    fact("Suite", input_.results.suite.name);
    std::string prompt = "v" + identity.prompt_version;
    if (!is_zero(identity.prompt_hash))
      prompt += " (" + to_prefixed_hex(identity.prompt_hash).substr(0, 19) + "…)";
    // Texts bring prompts of their own.
    if (wording::has_claims_cases(input_)) fact("Prompt", prompt);
    fact("Model", model_words(input_, "below"));
    if (auto answers = recorded_words(input_); !answers.empty()) fact("Answers", std::move(answers));
    if (!identity.judge.provider.empty()) fact("Judge", identity.judge.in_words());
    if (input_.gate.kind != BaselineKind::none) fact("Baseline", input_.gate.baseline_file);
    if (auto origin = wording::baseline_origin(input_); !origin.empty()) fact("", std::move(origin));
  }

  void add_summary() {
    if (is_comment_) {
      add_tally();
      if (!aggregates_dropped(input_) && !wording::has_claims_cases(input_)) return;
      Section scores{.heading = "Scores", .rank = Rank::background};
      if (aggregates_dropped(input_)) scores = {.rank = Rank::scores};
      // One blank line more than elsewhere, as it has always been in comments.
      else if (input_.gate.aggregates)
        scores.blocks.emplace_back(Paragraph{});
      scores.blocks.emplace_back(score_table());
      if (input_.gate.aggregates) scores.blocks.emplace_back(Paragraph{limit_words() + "."});
      return add(std::move(scores));
    }
    Section summary{.heading = "Summary", .rank = Rank::scores, .before_verdict = true};
    Notes notes;
    if (wording::has_claims_cases(input_)) {
      summary.blocks.emplace_back(score_table());
      notes.items.push_back({"True positives " + wording::grouped(all_.counts.true_positives) +
                             ", false positives " + wording::grouped(all_.counts.false_positives) +
                             ", false negatives " + wording::grouped(all_.counts.false_negatives)});
    }
    notes.items.push_back({counted_cases(all_.statuses.total()) + ": " + wording::tally(all_)});
    if (auto changes = wording::changes(input_); !changes.empty())
      notes.items.push_back({"Beside the baseline: " + changes});
    for (std::string& rate : wording::pass_rates(input_)) notes.items.push_back({std::move(rate)});
    if (all_.errors() > 0) {
      notes.items.push_back(
          {counted_cases(all_.errors()) + " with an error left out of the scores", Tone::warning});
    }
    if (input_.gate.aggregates) notes.items.push_back({limit_words() + " (1 point is 0.01)", Tone::quiet});
    summary.blocks.emplace_back(std::move(notes));
    add(std::move(summary));
  }

  void add_categories() {
    const bool claims = wording::has_claims_cases(input_);
    const auto& by_category = input_.aggregates.by_category;
    if (by_category.empty() && !is_comment_) return;
    Table table{.share = {.most_bytes = defaults::max_category_bytes, .rest = more_in_json()}};
    const auto columns = category_columns();
    table.columns.push_back(column("Category"));
    for (const auto& [heading, count] : columns) table.columns.push_back(number(heading));
    if (claims) {
      for (const char* name : {"Precision", "Recall", "F1"}) table.columns.push_back(spare_number(name));
    }
    table.columns.push_back(spare_number("Pass rate"));
    for (const auto& [category, totals] : by_category) {
      Row row{{words(category.empty() && !is_comment_ ? "(none)" : category, 200)}};
      for (const auto& [heading, count] : columns) row.cells.emplace_back(wording::grouped(count(totals)));
      const Scores scores = scores_of(totals.counts);
      for (const auto& score : {scores.precision, scores.recall, scores.f1}) {
        if (claims) row.cells.emplace_back(wording::score(score));
      }
      row.cells.emplace_back(wording::rate_of(totals));
      table.rows.push_back(std::move(row));
    }
    add({.heading = is_comment_ ? "Categories" : "Category Breakdown", .blocks = {std::move(table)}});
  }

  void add_notices() {
    using Severity = GateNotice::Severity;
    const auto& notices = input_.gate.notices;
    if (!is_comment_) {
      if (notices.empty()) return;
      Entries entries;
      for (const GateNotice& notice : notices) {
        entries.items.push_back({symbol(notice.severity) +
                                     std::string(wording::severity_word(notice.severity)) + ": " +
                                     notice.code,
                                 {{notice.message, tone_of(notice.severity)}}});
      }
      return add({.heading = "Notices",
                  .count = notices.size(),
                  .rank = Rank::further,
                  .blocks = {std::move(entries)}});
    }
    const auto entries_of = [&](std::initializer_list<Severity> severities, std::size_t most_bytes) {
      Entries entries;
      entries.share = {.most_bytes = most_bytes, .rest = more_in_json()};
      for (const Severity severity : severities) {
        for (const GateNotice& notice : notices) {
          if (notice.severity != severity) continue;
          entries.items.push_back({{strong(std::string(wording::severity_word(severity))), words(" "),
                                    code(notice.code, 80), words(": "), sentence(notice.message, 600)}});
        }
      }
      return entries;
    };
    Entries failures = entries_of({Severity::failure}, defaults::max_failure_notice_bytes);
    if (!failures.items.empty()) add({.rank = Rank::outcome, .blocks = {std::move(failures)}});
    Entries others = entries_of({Severity::warning, Severity::info}, defaults::max_notice_bytes);
    if (others.items.empty()) return;
    const std::uint64_t count = others.items.size();
    const std::string_view topic = wording::topic_of(notices.front());
    const bool is_one_topic =
        std::ranges::all_of(notices, [&](const GateNotice& one) { return wording::topic_of(one) == topic; });
    add({.heading = is_one_topic ? "Notices about " + std::string(topic) : "Notices",
         .count = count,
         .rank = Rank::further,
         .blocks = {std::move(others)}});
  }

  void add_run() {
    Notes notes;
    const auto fact = [&](const char* label, std::string words) {
      notes.items.push_back({.text = std::move(words), .label = label});
    };
    if (is_comment_) {
      fact("Run", input_.facts.run_id + ", " + wording::date(input_.facts.completed_at_ms));
      fact("Suite", input_.results.suite.name);
      if (wording::has_claims_cases(input_)) {
        fact("Prompt",
             "v" + input_.identity.prompt_version + ", ontology v" + input_.identity.ontology_version);
      }
      fact("Model", model_words(input_, "above"));
      if (auto answers = recorded_words(input_); !answers.empty()) fact("Answers", std::move(answers));
      if (!input_.identity.judge.provider.empty()) fact("Judge", input_.identity.judge.in_words());
    }
    fact("Cost", wording::cost(input_));
    fact(is_comment_ ? "Effort" : "Run", wording::run_facts(input_));
    if (auto waits = wording::waits(input_); !waits.empty()) fact("Waited", std::move(waits));
    // The budgets are those of the run's last part.
    const bool is_only_one = input_.facts.budgets.size() == 1 && !input_.facts.is_resumed;
    for (const BudgetFacts& budget : input_.facts.budgets) {
      const std::string summary =
          wording::budget_summary(budget, is_only_one ? std::optional(input_.facts.requests) : std::nullopt);
      if (!summary.empty()) fact("Budget", budget.provider + ": " + summary);
      const auto lines = wording::settings_lines(budget.learned);
      if (budget.has_learned() && !lines.empty())
        fact("Learnt", "[providers." + budget.provider + "] " + joined(lines));
    }
    if (!is_comment_) {
      if (is_tolerated()) {
        notes.items.push_back(
            {"Exit code 0: a regression of the aggregates fails with --fail-on-regression or --strict"});
      }
      // Once more where the eye is after a long list.
      notes.items.push_back({.text = last_words(), .tone = tone_of(input_.verdict), .is_outcome = true});
    }
    add({.heading = is_comment_ ? "Run" : "", .blocks = {std::move(notes)}});
  }

  void add(Section section) { document_.sections.push_back(std::move(section)); }

  Result<void> add(Result<std::vector<Section>> sections) {
    if (!sections) return fail(sections.error());
    std::ranges::move(*sections, std::back_inserter(document_.sections));
    return {};
  }

  Document finish() { return std::move(document_); }

 private:
  using CountOf = std::uint64_t (*)(const Totals&);

  std::string counted_cases(std::uint64_t count) const {
    return wording::counted(count, wording::case_noun(input_));
  }

  void add_tally() {
    Text tally{words(counted_cases(all_.statuses.total()) + ": "), words(wording::tally(all_))};
    if (all_.errors() > 0) tally.spans.push_back(words(" (errors are left out of the scores)"));
    std::vector<std::string> further = wording::pass_rates(input_);
    if (auto changes = wording::changes(input_); !changes.empty()) further.insert(further.begin(), changes);
    for (const std::string& more : further) tally.spans.push_back(words("; " + more));
    Section section{.rank = Rank::outcome, .blocks = {Paragraph{std::move(tally)}}};
    if (input_.gate.kind != BaselineKind::none) {
      Text compared{words("Compared with "), code(input_.gate.baseline_file)};
      if (const auto origin = wording::baseline_origin(input_); !origin.empty()) {
        for (const std::string& part : {std::string(" ("), origin, std::string(")")})
          compared.spans.push_back(words(part));
      }
      section.blocks.emplace_back(Paragraph{std::move(compared)});
    }
    add(std::move(section));
  }

  std::string limit_words() const {
    return "A drop of " + wording::points(input_.gate.aggregates->threshold) + " is within the limit";
  }

  /// Precision, recall and F1, beside those of a manifest where they are compared. Comments then have no room
  /// for the weighted ones.
  Table score_table() const {
    const Scores plain = scores_of(all_.counts);
    const Scores weighted = scores_of(all_.weighted);
    const bool compared = input_.gate.aggregates.has_value();
    const bool with_weighted = !compared || !is_comment_;
    Table table{.columns = {column("Metric"), number("Current")}};
    if (compared) {
      table.columns.push_back(number("Baseline"));
      table.columns.push_back(number("Delta"));
      table.columns.push_back(column("Status"));
    }
    if (with_weighted)
      table.columns.push_back({.heading = "Weighted", .numeric = true, .droppable = compared});
    constexpr std::array<std::pair<const char*, std::optional<double> Scores::*>, 3> rows{
        {{"Precision", &Scores::precision}, {"Recall", &Scores::recall}, {"F1", &Scores::f1}}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& [name, score] = rows[i];
      Row row{{name, wording::score(plain.*score)}};
      if (compared) {
        const AggregateComparison& comparison = input_.gate.aggregates->metrics.at(i);
        const auto words = wording::words_for(comparison);
        row.cells = {name, words.score, words.baseline, words.delta,
                     wording::aggregate_status(comparison.outcome)};
      }
      if (with_weighted) row.cells.emplace_back(wording::score(weighted.*score));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  std::vector<std::pair<std::string, CountOf>> category_columns() const {
    std::vector<std::pair<std::string, CountOf>> columns;
    const auto add = [&](std::string heading, CountOf count) {
      columns.emplace_back(std::move(heading), count);
    };
    std::string noun(is_comment_ ? "case" : wording::case_noun(input_));
    noun[0] = static_cast<char>(noun[0] - 'a' + 'A');
    add(noun + "s", [](const Totals& totals) { return totals.statuses.total(); });
    add("Passed", [](const Totals& totals) { return totals.statuses.passed; });
    if (is_comment_)
      add("Warned", [](const Totals& totals) { return totals.warned() + totals.statuses.flaky; });
    add("Failed", [](const Totals& totals) { return totals.statuses.failed; });
    if (!is_comment_ && all_.warned() > 0)
      add("Warned", [](const Totals& totals) { return totals.warned(); });
    if (!is_comment_ && all_.statuses.flaky > 0)
      add("Flaky", [](const Totals& totals) { return totals.statuses.flaky; });
    if (all_.known_failures > 0)
      add("Known failures", [](const Totals& totals) { return totals.known_failures; });
    add("Errors", [](const Totals& totals) { return totals.errors(); });
    if (all_.not_started > 0) add("Not started", [](const Totals& totals) { return totals.not_started; });
    return columns;
  }

  std::string last_words() const {
    std::string words = wording::verdict_word(input_.verdict) + ": ";
    // Where no count says why.
    const bool is_counted =
        input_.verdict == RunVerdict::pass || all_.statuses.failed > 0 || all_.statuses.errors > 0;
    std::string why = is_counted ? wording::missed_pass_rates(input_) : wording::reason_for(input_);
    if (is_counted && why.empty()) why = wording::by_strict(input_);
    if (why.empty() && passes_beside_failures()) why = "within min_pass_rate";
    if (!why.empty()) words += why + "; ";
    return words + wording::tally(all_);
  }

  bool passes_beside_failures() const {
    const bool passes = input_.verdict == RunVerdict::pass || input_.verdict == RunVerdict::review;
    return passes && wording::failures_beyond_pass_rate(input_) < all_.statuses.failed;
  }

  bool is_tolerated() const {
    return input_.verdict == RunVerdict::regression && input_.gate.aggregates && !input_.gate.strict &&
           !input_.gate.fail_on_regression;
  }

  const ReportInput& input_;
  const Totals& all_;
  bool is_comment_;
  Document document_;
};

}  // namespace

// A new section goes in here: every writer for people then shows it, comments by its rank.
Result<document::Document> build_document(const ReportInput& input, Room room, CaseLists cases) {
  ReportBuilder builder(input, room);
  builder.add_head();
  builder.add_summary();
  const auto add_comparisons = [&] {
    builder.add(Result<std::vector<document::Section>>(arm_comparison_sections(input)));
  };
  const bool is_gated = input.gate.kind != BaselineKind::none;
  builder.add(Result<std::vector<document::Section>>(arm_sections(input)));
  if (!is_gated) add_comparisons();
  builder.add(Result<std::vector<document::Section>>(label_sections(input, cases)));
  builder.add_categories();
  if (auto added = builder.add(stability_sections(input, room)); !added) return fail(added.error());
  if (cases == CaseLists::shown) {
    if (auto added = builder.add(case_sections(input, room)); !added) return fail(added.error());
  }
  if (is_gated) add_comparisons();
  builder.add(Result<std::vector<document::Section>>(retrieval_sections(input)));
  builder.add(Result<std::vector<document::Section>>(judge_sections(input)));
  builder.add_notices();
  builder.add_run();
  return builder.finish();
}

Result<void> write_table_report(const ReportInput& input, const TableStyle& style, Sink& sink) {
  const auto document = build_document(input, Room::page);
  if (!document) return fail(document.error());
  write_table(*document, style, sink);
  return {};
}

Result<void> write_markdown_report(const ReportInput& input, Sink& sink) {
  const auto document = build_document(input, Room::comment);
  if (!document) return fail(document.error());
  write_markdown(*document, {}, sink);
  return {};
}

}  // namespace sluice
