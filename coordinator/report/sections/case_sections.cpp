#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/report/report_document.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/case_explanation.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

using namespace document;
using wording::CaseLine;
using wording::CaseLineKind;

Tone tone_of(CaseLineKind kind) {
  switch (kind) {
    case CaseLineKind::expected:
      return Tone::good;
    case CaseLineKind::rationale:
    case CaseLineKind::judgement:
      return Tone::quiet;
    case CaseLineKind::unexpected:
      return Tone::warning;
    case CaseLineKind::change:
    case CaseLineKind::repeats:
    case CaseLineKind::detail:
      return Tone::plain;
    case CaseLineKind::score:
    case CaseLineKind::got:
    case CaseLineKind::nothing_got:
    case CaseLineKind::forbidden:
      return Tone::bad;
  }
  return Tone::plain;
}

bool is_code(CaseLineKind kind) {
  return kind == CaseLineKind::expected || kind == CaseLineKind::got || kind == CaseLineKind::forbidden ||
         kind == CaseLineKind::unexpected;
}

// Rationale, detail and what came belong to the expectation above them.
bool belongs_to_the_line_above(CaseLineKind kind) {
  return kind == CaseLineKind::rationale || kind == CaseLineKind::judgement || kind == CaseLineKind::got ||
         kind == CaseLineKind::nothing_got || kind == CaseLineKind::detail;
}

Text title_of(const Case& fixture) {
  Text title{strong(fixture.id, defaults::case_title_bytes)};
  if (wording::has_name_of_its_own(fixture)) {
    title.spans.push_back(words(": "));
    title.spans.push_back(words(fixture.name, defaults::case_title_bytes));
  }
  if (fixture.recorded) title.spans.push_back(words(" (recorded answer)"));
  return title;
}

/// `id: ` and the words.
Text id_with(const CaseResult& result, const std::string& more) {
  return {words(result.fixture.id, defaults::case_title_bytes), words(": "), words(more)};
}

Entry explanation_of(const CaseResult& result, std::span<const Rubric> rubrics, CaseDetails& details,
                     Room room) {
  Entry entry{title_of(result.fixture)};
  const std::vector<CaseLine> lines = wording::explanation(result, rubrics, details);
  bool has_line_above = false;
  for (const CaseLine& line : lines) {
    if (room == Room::comment && entry.notes.size() == defaults::max_explanation_lines) {
      entry.notes.push_back(
          {"and " + wording::counted(lines.size() - defaults::max_explanation_lines, "line") + " more"});
      break;
    }
    const bool is_inner = room == Room::comment && has_line_above && belongs_to_the_line_above(line.kind);
    entry.notes.push_back({.text = is_code(line.kind) ? code(line.text) : words(line.text),
                           .tone = tone_of(line.kind),
                           .label = wording::label_of(line),
                           .level = is_inner ? 1u : 0u});
    has_line_above = has_line_above || !belongs_to_the_line_above(line.kind);
  }
  return entry;
}

/// At most as much as a comment will take of the text, whatever the markup around it.
std::size_t least_bytes(const Text& text) {
  constexpr std::size_t surely_kept = 64;
  std::size_t bytes = 0;
  for (const Span& span : text.spans) bytes += std::min(span.text.size(), surely_kept);
  return bytes;
}

std::size_t least_bytes(const Entry& entry) {
  std::size_t bytes = least_bytes(entry.title);
  for (const Note& note : entry.notes) bytes += least_bytes(note.text);
  return bytes;
}

std::size_t least_bytes(const std::vector<Row>& rows) {
  std::size_t bytes = 0;
  for (const Row& row : rows) {
    for (const Cell& cell : row.cells) bytes += least_bytes(cell.text);
  }
  return bytes;
}

/// The first items of a list, in memory that does not grow with their number: as many as a page lists, or
/// more than a comment has room for.
template <class Block, class Items>
class BoundedList {
 public:
  BoundedList(Room room, std::size_t comment_bytes, std::string_view comment_rest, std::string_view page_rest)
      : room_(room) {
    if (room == Room::comment) block_.share.most_bytes = comment_bytes;
    const std::string words(room == Room::comment ? comment_rest : page_rest);
    block_.share.rest = [words](std::uint64_t count) { return wording::grouped(count) + ' ' + words; };
  }

  /// Makes what is one item of the list only if it may be shown.
  template <class Make>
  void add(const Make& make) {
    ++count_;
    const bool has_room =
        room_ == Room::page ? count_ <= defaults::max_listed_cases : bytes_ <= block_.share.most_bytes;
    if (!has_room) {
      ++block_.share.left_out;
      return;
    }
    Items items = make();
    bytes_ += least_bytes(items);
    take(std::move(items));
  }

  std::uint64_t count() const { return count_; }
  Block take_block() { return std::move(block_); }

 private:
  void take(Entry entry) { block_.items.push_back(std::move(entry)); }
  void take(std::vector<Row> rows) { std::ranges::move(rows, std::back_inserter(block_.rows)); }

  Room room_;
  Block block_;
  std::uint64_t count_ = 0;
  std::size_t bytes_ = 0;
};
using EntryList = BoundedList<Entries, Entry>;

/// `label`, or `label "true" at /urgent` where the case has several checks by it.
Text name_of(const CaseResult& result, std::size_t metric, std::span<const Rubric> rubrics) {
  const auto metrics = result.metrics();
  const MetricId id = metrics[metric].id;
  const bool is_check = metrics[metric].is_check();
  const std::string asked = is_check && std::ranges::count(metrics, id, &AssessedMetric::id) > 1
                                ? wording::expectation_in_words(result, metric, rubrics)
                                : "";
  if (asked.empty()) return metrics[metric].shown_name();
  return words(excerpt(asked, defaults::compared_check_bytes));
}

/// Of a comment: a row for each metric of the case with this status.
std::vector<Row> rows_of(const CaseResult& result, MetricStatus status, std::span<const Rubric> rubrics) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < result.metrics().size(); ++i) {
    const AssessedMetric& metric = result.metrics()[i];
    if (metric.status != status) continue;
    auto numbers = wording::words_for(metric);
    // It passed in most repeats, which is not what the row is of.
    if (status == MetricStatus::flaky && !metric.score) numbers.score = to_string(status);
    const bool is_first = rows.empty();
    rows.push_back({.cells = {title_of(result.fixture), name_of(result, i, rubrics), numbers.baseline,
                              numbers.score, numbers.delta, numbers.limit},
                    .counts = is_first ? 1u : 0u,
                    .with_previous = !is_first});
  }
  return rows;
}

/// Those that fell; those that fell in some repeats where a case fell by another metric in each of them.
std::vector<Row> fallen_rows(const CaseResult& result, std::span<const Rubric> rubrics) {
  std::vector<Row> rows = rows_of(result, MetricStatus::fail, rubrics);
  return rows.empty() ? rows_of(result, MetricStatus::flaky, rubrics) : rows;
}

Entry error_entry(Reason reason, const wording::ErrorGroup& group) {
  Entry entry{{code(std::string(to_string(reason))), words(" (" + wording::grouped(group.count) + "): "),
               words(wording::ids(group))}};
  if (group.is_further) entry.notes.push_back({sentence("with further messages; `--format json` has all")});
  entry.notes.push_back({.text = sentence(group.message, defaults::max_message_bytes),
                         .tone = Tone::bad,
                         .label = group.is_further ? "Among them" : "Why"});
  if (group.is_further) return entry;
  // That of the first case.
  if (!group.first_answer.empty())
    entry.notes.push_back({.text = code(group.first_answer), .label = "Answer"});
  return entry;
}

class CaseSections {
 public:
  CaseSections(const ReportInput& input, Room room)
      : input_(input), all_(input.aggregates.all), room_(room), is_comment_(room == Room::comment) {}

  Result<std::vector<Section>> build() {
    const bool any_listed = all_.regressed + all_.improved + all_.missing_entries + all_.statuses.failed +
                                    all_.statuses.warned + all_.statuses.flaky + all_.statuses.errors >
                                0 ||
                            has_named_scores();
    if (any_listed || is_comment_) {
      const auto visited = visit_cases(input_.results, [this](const CaseResult& result) { take(result); });
      if (!visited) return fail(visited.error());
    }
    add_regressions();
    add_failures();
    add_list("Improvements", all_.improved, improvements_);
    add_list("Known failures", all_.known_failures, known_);
    add_list("Warnings", all_.warned() + all_.statuses.flaky, warnings_);
    add_missing();
    add_errors();
    add_scores();
    return std::move(sections_);
  }

 private:
  void take(const CaseResult& result) {
    errors_.add(result);
    if (!is_comment_) take_scores(result);
    const auto explanation = [&] {
      return explanation_of(result, input_.results.suite.rubrics, details_, room_);
    };
    const std::string missing = wording::missing_entries(result);
    if (!missing.empty()) {
      missing_.add([&] { return Entry{id_with(result, missing)}; });
    }
    if (result.assessment.improved) {
      improvements_.add([&]() -> Entry {
        if (is_comment_) return {id_with(result, wording::improvements(result))};
        Text title = title_of(result.fixture);
        title.spans.push_back(words(": " + wording::improvements(result)));
        return {std::move(title)};
      });
    }
    const bool warns = result.status == CaseStatus::warn || result.status == CaseStatus::flaky;
    if (result.assessment.regressed) {
      if (is_comment_)
        regression_rows_.add([&] { return fallen_rows(result, input_.results.suite.rubrics); });
      regressions_.add(explanation);
    } else if (result.status == CaseStatus::fail) {
      failures_.add(explanation);
    }
    if (result.assessment.only_known_failures()) {
      known_.add(explanation);
    } else if (warns && (missing.empty() || wording::judge_warns(result))) {
      warnings_.add(explanation);
    }
  }

  /// Claims have their own table, precision, recall and F1 over all cases.
  static bool has_score_of_its_own(MetricId metric) {
    return info(metric).kind == MetricKind::scored && !is_claims_metric(metric);
  }

  bool has_named_scores() const {
    return std::ranges::any_of(input_.results.suite.metrics, has_score_of_its_own);
  }

  void take_scores(const CaseResult& result) {
    for (const AssessedMetric& metric : result.metrics()) {
      if (!has_score_of_its_own(metric.id)) continue;
      scores_.add([&] {
        const auto numbers = wording::words_for(metric);
        return std::vector<Row>{{.cells = {words(result.fixture.id, defaults::case_title_bytes),
                                           metric.shown_name(), numbers.score, numbers.baseline,
                                           numbers.limit, std::string(to_string(metric.status))}}};
      });
    }
  }

  /// Of each score over its cases; nothing where each has one, which is said of the case, and where arms have
  /// means of their own.
  std::optional<Table> score_totals() const {
    if (input_.arms != nullptr) return std::nullopt;
    const auto& scores = input_.aggregates.scores;
    if (std::ranges::none_of(scores, [](const auto& one) { return one.second.cases > 1; }))
      return std::nullopt;
    Table table{
        .columns = {column("Metric"), number("Mean"), number("Lowest"), number("Cases"), number("Failed")},
        .whole_names = true};
    for (const auto& [score, total] : scores) {
      table.rows.push_back(
          {{to_string(score), wording::fixed(total.mean(), 2), wording::fixed(total.lowest, 2),
            wording::grouped(total.cases), wording::grouped(total.failed)}});
    }
    return table;
  }

  /// Each score, also of what passed: a number that nobody sees convinces nobody. A comment has the means.
  void add_scores() {
    std::optional<Table> totals = score_totals();
    if (totals) sections_.push_back({.heading = "Mean scores", .blocks = {std::move(*totals)}});
    if (scores_.count() == 0) return;
    const std::uint64_t count = scores_.count();
    Table table = scores_.take_block();
    table.columns = {column("Case"),           column("Metric"),      number("Score"),
                     spare_number("Baseline"), spare_number("Limit"), column("Status")};
    table.whole_names = true;
    table.keys = 2;
    sections_.push_back({.heading = "Scores", .count = count, .blocks = {std::move(table)}});
  }

  void add_regressions() {
    if (all_.regressed == 0) return;
    Section section{.heading = "Regressions", .count = all_.regressed, .rank = Rank::regressions};
    if (is_comment_) {
      Table table = regression_rows_.take_block();
      table.columns = {column("Case"),  column("Metric"), number("Baseline"),
                       number("Score"), number("Delta"),  number("Limit")};
      section.blocks.emplace_back(std::move(table));
      section.blocks.emplace_back(
          Fold{.summary = "What was expected, and what came", .blocks = {regressions_.take_block()}});
    } else {
      section.blocks.emplace_back(regressions_.take_block());
    }
    sections_.push_back(std::move(section));
  }

  /// Beside a manifest failed cases decide nothing, but for those that no aggregate knows of.
  bool aggregates_allow_failures() const {
    const auto& aggregates = input_.gate.aggregates;
    return aggregates && all_.failed_apart == 0 &&
           (aggregates->outcome == AggregateOutcome::no_drop ||
            aggregates->outcome == AggregateOutcome::within_limit);
  }

  void add_failures() {
    const std::uint64_t count = all_.statuses.failed - std::min(all_.statuses.failed, all_.regressed);
    if (count == 0) return;
    const bool folds = is_comment_ && aggregates_allow_failures();
    sections_.push_back({.heading = folds ? "Failures that the aggregates allow" : "Failures",
                         .count = count,
                         .rank = folds ? Rank::further : Rank::cases,
                         .blocks = {failures_.take_block()}});
  }

  void add_list(const char* heading, std::uint64_t comment_count, EntryList& list) {
    if (list.count() == 0) return;
    sections_.push_back({.heading = heading,
                         .count = is_comment_ ? comment_count : list.count(),
                         .rank = Rank::further,
                         .blocks = {list.take_block()}});
  }

  void add_missing() {
    if (missing_.count() == 0) return;
    const Text how{words("To pin them, where the results are known to be good: "),
                   code(wording::how_to_pin(input_))};
    if (!is_comment_) {
      add_list("Not in the baseline", 0, missing_);
      sections_.back().blocks.emplace_back(Notes{.items = {{.text = how, .level = 1}}});
      return;
    }
    sections_.push_back({.heading = "Scores that the baseline does not have",
                         .count = all_.missing_entries,
                         .rank = Rank::further,
                         .blocks = {Paragraph{how}, missing_.take_block()}});
  }

  void add_errors() {
    if (errors_.empty()) return;
    Entries entries;
    if (is_comment_) {
      entries.share = {.most_bytes = defaults::error_list_bytes, .rest = [](std::uint64_t count) {
                         return wording::counted(count, "more kind") + "; `--format json` has all";
                       }};
    }
    for (const auto& [reason, groups] : errors_.by_reason()) {
      for (const auto& group : groups) entries.items.push_back(error_entry(reason, group));
    }
    sections_.push_back(
        {.heading = "Errors", .count = all_.errors(), .rank = Rank::cases, .blocks = {std::move(entries)}});
  }

  const ReportInput& input_;
  const Totals& all_;
  Room room_;
  bool is_comment_;
  CaseDetails details_;
  std::string page_rest_ =
      !input_.home_flag ? "more; `--format json` has them all"
                        : "more; `sluice report " + input_.facts.run_id.substr(0, defaults::run_id_digits) +
                              " --output report.html" + *input_.home_flag + "` has them all";
  BoundedList<Table, std::vector<Row>> regression_rows_{
      room_, defaults::regression_rows_bytes, "more regressed; `--format json` has them all", page_rest_};
  EntryList regressions_{room_, defaults::regression_list_bytes, "more; `--format json` has all", page_rest_};
  EntryList failures_{room_, defaults::failure_list_bytes, "more failed; `--format json` has them all",
                      page_rest_};
  EntryList known_{room_, defaults::warning_list_bytes, "more; `--format json` has all", page_rest_};
  EntryList warnings_{room_, defaults::warning_list_bytes, "more; `--format json` has all", page_rest_};
  EntryList missing_{room_, defaults::missing_list_bytes, "more; `--format json` has all", page_rest_};
  EntryList improvements_{room_, defaults::improvement_list_bytes, "more; `--format json` has all",
                          page_rest_};
  BoundedList<Table, std::vector<Row>> scores_{room_, defaults::regression_rows_bytes, "", page_rest_};
  wording::ErrorGroups errors_;
  std::vector<Section> sections_;
};

}  // namespace

Result<std::vector<Section>> case_sections(const ReportInput& input, Room room) {
  return CaseSections(input, room).build();
}

}  // namespace sluice
