#include "coordinator/report/commands/several_runs.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/gate/test_changes.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/data/json_notices.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/tones.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/report/writers/markdown_writer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {

using namespace document;

namespace {

/// It is said once of all sides.
bool is_no_scores(const GateNotice& notice) {
  return notice.code == "no_scores";
}

}  // namespace

void SeveralRuns::Side::count(Outcome of_case, bool is_known, CaseStatus beside_the_base) {
  switch (of_case) {
    case Outcome::flaky:
      ++flaky;
      break;
    case Outcome::fail:
      ++(is_known ? known_failures : failed);
      if (!is_known && beside_the_base != CaseStatus::fail) ++still_failing;
      break;
    default:
      ++passed;
  }
}

SeveralRuns::Value SeveralRuns::value_of(const ScoreComparison& row) {
  if (row.score) return {row.score};
  if (row.is_check && row.status == MetricStatus::flaky) return {{}, Outcome::flaky};
  switch (row.change) {
    case RowChange::broke:
    case RowChange::still_failing:
      return {{}, Outcome::fail};
    case RowChange::known_failure:
      return row.is_check ? Value{{}, Outcome::fail} : Value{};
    case RowChange::fixed:
    case RowChange::unchanged:
      return {{}, Outcome::pass};
    case RowChange::not_compared:  // A check that the base lacks, or a score that is undefined.
    case RowChange::added:
    case RowChange::changed:
    case RowChange::missing_in_baseline:
      if (row.baseline) return {};
      if (row.status == MetricStatus::pass) return {{}, Outcome::pass};
      return row.status == MetricStatus::fail ? Value{{}, Outcome::fail} : Value{};
    default:
      return {};
  }
}

SeveralRuns::Value SeveralRuns::base_value_of(const ScoreComparison& row) {
  if (row.baseline) return {row.baseline};
  if (row.score) return {};
  switch (row.change) {
    case RowChange::broke:
    case RowChange::unchanged:
      return {{}, Outcome::pass};
    case RowChange::fixed:
    case RowChange::still_failing:
      return {{}, Outcome::fail};
    default:
      return {};
  }
}

/// Where the suite's order put it first; a side that does not say which check it is goes by its own order.
std::size_t SeveralRuns::place_of(const ScoreComparison& row, std::size_t nth) {
  if (row.check == 0) return nth;
  auto& known = checks_[{std::string(row.test_id), std::string(row.metric)}];
  const auto found = std::ranges::find(known, std::pair(row.check, nth));
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  known.emplace_back(row.check, nth);
  return known.size() - 1;
}

Result<void> SeveralRuns::add(const CompareReportInput& input) {
  const std::size_t at = sides_.size();
  if (at == 0) scoreless_.assign({input.current.file});
  sides_.push_back({input.current, input.summary, input.exit_code, verdict_reasons(input)});
  for (const GateNotice& notice : input.gate.notices) {
    if (at == 0) continue;
    const auto same = std::ranges::find_if(notices_, [&](const GateNotice& known) {
      return known.message == notice.message || (is_no_scores(known) && is_no_scores(notice));
    });
    const bool is_named = std::ranges::find(scoreless_, input.current.file) != scoreless_.end();
    if (is_no_scores(notice) && !is_named) scoreless_.push_back(input.current.file);
    if (same == notices_.end()) {
      notices_.push_back(notice);
    } else if (is_no_scores(notice) && scoreless_.size() > 1) {
      *same = no_scores_notice(scoreless_);
    }
  }
  // The rows of a case come one after the other.
  std::string last_case;
  Outcome last_outcome = Outcome::pass;
  bool last_is_known = false;
  CaseStatus last_status = CaseStatus::pass;
  std::map<Check, std::size_t> asked;
  const auto count_last = [&] {
    if (!last_case.empty()) sides_[at].count(last_outcome, last_is_known, last_status);
  };
  const auto compared = input.visit([&](const ScoreComparison& row) {
    if (row.change == RowChange::missing_in_current) return;
    if (row.test_id != last_case) {
      count_last();
      last_case = row.test_id;
      sides_[at].cases.push_back(last_case);
      last_outcome = Outcome::pass;
      last_is_known = row.is_of_known_failure;
      last_status = row.case_status;
      asked.clear();
    }
    const bool is_flaky = row.case_status == CaseStatus::flaky;
    const bool fails = row.case_status == CaseStatus::fail || row.change == RowChange::known_failure ||
                       value_of(row).outcome == Outcome::fail;
    if (is_flaky || fails) last_outcome = is_flaky ? Outcome::flaky : Outcome::fail;
    const std::size_t nth = asked[{std::string(row.metric), row.check}]++;
    Compared& metric = metrics_[{std::string(row.test_id), std::string(row.metric), place_of(row, nth)}];
    if (metric.expected.empty()) metric.expected = row.expected;
    Values& values = metric.values;
    values.resize(at + 1);
    values[at] = value_of(row);
    if (at > 0 && values.front() == Value{}) values.front() = base_value_of(row);
  });
  if (!compared) return fail(compared.error());
  count_last();
  std::vector<std::string> all;
  std::ranges::merge(sides_[at].cases, compared->error_cases, std::back_inserter(all));
  sides_[at].cases = std::move(all);
  return {};
}

Cell SeveralRuns::cell_of(const Value& value) {
  switch (value.outcome) {
    case Outcome::pass:
      return {"pass", Tone::good};
    case Outcome::fail:
      return {"fail", Tone::bad};
    case Outcome::flaky:
      return {"flaky", Tone::warning};
    case Outcome::none:
      break;
  }
  return value.score ? wording::score(value.score) : "-";
}

bool SeveralRuns::Side::has(const std::string& test_id) const {
  return std::ranges::binary_search(cases, test_id);
}

SeveralRuns::Value SeveralRuns::value_at(const Values& values, std::size_t side) {
  return side < values.size() ? values[side] : Value{};
}

SeveralRuns::Difference SeveralRuns::difference_of(const Metric& metric, const Values& values) const {
  const std::string& test_id = std::get<0>(metric);
  std::optional<Value> first;
  bool is_lacking = false;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (!sides_[i].has(test_id)) {
      is_lacking = true;
      continue;
    }
    const Value value = value_at(values, i);
    if (first && value != *first) return Difference::value;
    first = value;
  }
  return is_lacking && first != Value{} ? Difference::case_alone : Difference::none;
}

std::vector<std::vector<std::string>> SeveralRuns::lacking() const {
  std::vector<std::string> all;
  for (const Side& side : sides_) {
    std::vector<std::string> more;
    std::ranges::set_union(all, side.cases, std::back_inserter(more));
    all = std::move(more);
  }
  std::vector<std::vector<std::string>> by_side;
  for (const Side& side : sides_)
    std::ranges::set_difference(all, side.cases, std::back_inserter(by_side.emplace_back()));
  return by_side;
}

/// Columns that hardly a run needs stand where one does.
Table SeveralRuns::sides_table() const {
  const bool has_flaky = std::ranges::any_of(sides_, [](const Side& side) { return side.flaky > 0; });
  // Of the base that would be all that fails.
  const bool has_still =
      std::any_of(sides_.begin() + 1, sides_.end(), [](const Side& side) { return side.still_failing > 0; });
  const bool has_known =
      std::ranges::any_of(sides_, [](const Side& side) { return side.known_failures > 0; });
  const bool has_not_started =
      std::ranges::any_of(sides_, [](const Side& side) { return side.summary.not_started > 0; });
  Table table{.columns = {column("Run"), number("Passed"), number("Failed")}, .whole_names = true};
  if (has_still) table.columns.push_back(spare_number("Still failing"));
  if (has_flaky) table.columns.push_back(spare_number("Flaky"));
  if (has_known) table.columns.push_back(spare_number("Known failures"));
  table.columns.push_back(number("Errors"));
  if (has_not_started) table.columns.push_back(spare_number("Not started"));
  for (const char* heading : {"Worse", "Better"}) table.columns.push_back(number(heading));
  table.columns.push_back(column("Beside the first"));
  for (const Side& side : sides_) {
    const CompareSummary& summary = side.summary;
    const bool is_base = &side == &sides_.front();
    auto& cells = table.rows.emplace_back().cells;
    cells = {side.compared.file, wording::grouped(side.passed), wording::grouped(side.failed)};
    if (has_still) cells.emplace_back(is_base ? "" : wording::grouped(side.still_failing));
    if (has_flaky) cells.emplace_back(wording::grouped(side.flaky));
    if (has_known) cells.emplace_back(wording::grouped(side.known_failures));
    cells.emplace_back(wording::grouped(summary.errors()));
    if (has_not_started) cells.emplace_back(wording::grouped(summary.not_started));
    for (const std::uint64_t change :
         {summary.regressions + summary.broke, summary.improvements + summary.fixed})
      cells.emplace_back(is_base ? "" : wording::grouped(change));
    is_base ? cells.emplace_back("")
            : cells.emplace_back(wording::verdict_word(summary.verdict), tone_of(summary.verdict));
  }
  return table;
}

/// A line on each side that has any.
Notes SeveralRuns::reasons() const {
  Notes notes;
  for (auto side = sides_.begin() + 1; side != sides_.end(); ++side) {
    if (!side->reasons.empty())
      notes.items.push_back({side->compared.file + ": " + side->reasons, tone_of(side->summary.verdict)});
  }
  return notes;
}

Section SeveralRuns::differing_cases(std::size_t most_rows) const {
  Table table{.columns = {column("Case"), column("Metric")}, .whole_names = true, .keys = 2};
  for (const Side& side : sides_) table.columns.push_back(spare_number(side.compared.file));
  std::uint64_t count = 0;
  for (const auto& [metric, compared] : metrics_) {
    const auto& [values, expected] = compared;
    if (difference_of(metric, values) != Difference::value || count++ >= most_rows) continue;
    const auto& [test_id, name, check] = metric;
    const std::string numbered = check > 0 ? name + " (" + std::to_string(check + 1) + ")" : name;
    Row row{{test_id, expected.empty() ? numbered : expected}};
    for (std::size_t i = 0; i < sides_.size(); ++i) row.cells.push_back(cell_of(value_at(values, i)));
    table.rows.push_back(std::move(row));
  }
  Section section{.heading = "What differs", .count = count, .rank = Rank::cases};
  if (count == 0) return section;
  section.blocks.emplace_back(std::move(table));
  if (count > most_rows)
    section.blocks.emplace_back(
        Paragraph{"and " + wording::grouped(count - most_rows) + " more; --format json has all"});
  return section;
}

/// A line on each side that lacks any; a part of a suite would fill a table with what it left out.
Section SeveralRuns::lacking_cases() const {
  const auto by_side = lacking();
  Notes notes;
  std::vector<std::string> any;
  for (std::size_t i = 0; i < by_side.size(); ++i) {
    if (by_side[i].empty()) continue;
    notes.items.push_back(
        {sentence("`" + sides_[i].compared.file + "` lacks " + wording::counted(by_side[i].size(), "case") +
                      names_of_first(by_side[i]),
                  1000)});
    std::vector<std::string> more;
    std::ranges::set_union(any, by_side[i], std::back_inserter(more));
    any = std::move(more);
  }
  Section section{.heading = "Cases that not every run has", .count = any.size(), .rank = Rank::further};
  if (!any.empty()) section.blocks.emplace_back(std::move(notes));
  return section;
}

std::string SeveralRuns::outcome() const {
  const auto others = sides_.size() - 1;
  const auto passed = static_cast<std::size_t>(
      std::count_if(sides_.begin() + 1, sides_.end(), [](const Side& side) { return side.exit_code == 0; }));
  return wording::counted_of(passed, others, "run") + (passed == 1 ? " passes" : " pass") +
         " the gate beside " + sides_.front().compared.file;
}

Result<void> SeveralRuns::write_table(const TableStyle& style, Sink& sink) const {
  Document document;
  document.sections.push_back(
      {.blocks = {Notes{.items = {{"Suite: " + sides_.front().compared.header.suite}}}, sides_table()}});
  if (Notes why = reasons(); !why.items.empty()) document.sections.push_back({.blocks = {std::move(why)}});
  for (const GateNotice& notice : notices_) {
    document.sections.push_back(
        {.blocks = {
             Notes{.items = {{std::string(wording::severity_word(notice.severity)) + ": " + notice.message,
                              tone_of(notice.severity)}}}}});
  }
  document.sections.push_back(differing_cases(defaults::compare_table_rows));
  document.sections.push_back(lacking_cases());
  document.sections.push_back({.blocks = {Notes{.items = {{.text = outcome(), .is_outcome = true}}}}});
  sluice::write_table(document, style, sink);
  return {};
}

Result<void> SeveralRuns::write_markdown(Sink& sink) const {
  const auto worst = std::ranges::max_element(sides_.begin() + 1, sides_.end(), {}, &Side::exit_code);
  const RunVerdict verdict = worst->summary.verdict;
  Document document{
      .verdict = {wording::verdict_word(verdict), words(outcome(), defaults::compare_reason_bytes)}};
  Notes notes = reasons();
  for (const GateNotice& notice : notices_) {
    notes.items.push_back({Text{strong(std::string(wording::severity_word(notice.severity))), words(": "),
                                sentence(notice.message, 1000)}});
  }
  document.sections.push_back({.rank = Rank::outcome, .blocks = {sides_table(), std::move(notes)}});
  document.sections.push_back(differing_cases(defaults::compare_markdown_rows));
  document.sections.push_back(lacking_cases());
  sluice::write_markdown(document, {.numeric_column = "--:"}, sink);
  return {};
}

void SeveralRuns::write_value(Json& json, const Value& value) {
  if (value.score) return json.value(*value.score);
  if (value.outcome == Outcome::none) return json.null();
  value.outcome == Outcome::flaky ? json.value("flaky") : json.value(value.outcome == Outcome::pass);
}

void SeveralRuns::write_side(Json& json, const Side& side, std::size_t lacking) const {
  const bool is_base = &side == &sides_.front();
  json.line(2);
  json.open('{');
  json.member("file", side.compared.file);
  json.member("kind", side.compared.kind);
  json.member("created_at", side.compared.header.created_at);
  json.member("passed", side.passed);
  json.member("failed", side.failed);
  if (!is_base && side.still_failing > 0) json.member("still_failing", side.still_failing);
  if (side.flaky > 0) json.member("flaky", side.flaky);
  if (side.known_failures > 0) json.member("known_failures", side.known_failures);
  json.member("errors", side.summary.verdict_input.statuses.errors);
  if (side.summary.not_started > 0) json.member("not_started", side.summary.not_started);
  if (lacking > 0) json.member("lacking", lacking);
  json.member("regressions", side.summary.regressions);
  json.member("broke", side.summary.broke);
  json.member("improvements", side.summary.improvements);
  json.member("fixed", side.summary.fixed);
  json.key("verdict");
  is_base ? json.null() : json.value(to_string(side.summary.verdict));
  if (!is_base) json.member("reasons", side.reasons);
  json.close('}');
}

void SeveralRuns::write_difference(Json& json, const Metric& metric, const Compared& compared,
                                   Difference kind) const {
  const auto& [values, expected] = compared;
  const auto& [test_id, name, check] = metric;
  json.line(2);
  json.open('{');
  json.member("test_id", test_id);
  json.member("metric", name);
  if (check > 0) json.member("check", std::uint64_t{check} + 1);
  if (!expected.empty()) json.member("expected", expected);
  json.member("kind", kind == Difference::value ? "value" : "case");
  json.key("values").open('[');
  for (std::size_t i = 0; i < sides_.size(); ++i) write_value(json, value_at(values, i));
  json.close(']');
  json.key("lacking").open('[');
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (!sides_[i].has(test_id)) json.value(i);
  }
  json.close(']');
  json.close('}');
}

Result<void> SeveralRuns::write_json(int exit_code, Sink& sink) const {
  BufferedWriter writer(sink);
  Json json(writer.text());
  const auto member = [&](std::string_view name, const auto& value) {
    json.line(1);
    json.member(name, value);
  };
  json.open('{');
  member("schema_version", compare_schema_version);
  member("exit_code", exit_code);
  member("suite", sides_.front().compared.header.suite);
  json.line(1);
  json.key("runs").open('[');
  const auto lacking_by_side = lacking();
  for (std::size_t i = 0; i < sides_.size(); ++i) write_side(json, sides_[i], lacking_by_side[i].size());
  json.text() += "\n  ";
  json.close(']');
  write_json_notices(json, notices_, 1);
  json.line(1);
  json.key("differences").open('[');
  bool any = false;
  for (const auto& [metric, compared] : metrics_) {
    const Difference kind = difference_of(metric, compared.values);
    if (kind == Difference::none) continue;
    any = true;
    write_difference(json, metric, compared, kind);
    writer.passed();
  }
  json.text() += any ? "\n  " : "";
  json.close(']');
  json.text() += "\n}\n";
  return {};
}

}  // namespace sluice
