#include "coordinator/report/markdown_cases.hpp"

#include "coordinator/report/judgement_wording.hpp"

#include <string>
#include <vector>

namespace sluice {
namespace {

using wording::CaseLine;
using wording::CaseLineKind;

constexpr std::size_t max_story_lines = 12;  // Of one case; the table and the JSON have them all.
constexpr std::size_t max_title_bytes = 240;

bool is_code(CaseLineKind kind) {
  return kind == CaseLineKind::expected || kind == CaseLineKind::got || kind == CaseLineKind::forbidden ||
         kind == CaseLineKind::unexpected;
}

// Rationale, detail and what came belong to the expectation above them.
bool belongs_to_the_line_above(CaseLineKind kind) {
  return kind == CaseLineKind::rationale || kind == CaseLineKind::got || kind == CaseLineKind::nothing_got ||
         kind == CaseLineKind::detail;
}

std::string title_of(const Case& fixture) {
  std::string title = "**" + markdown_words(fixture.id, max_title_bytes) + "**";
  if (!fixture.name.empty() && fixture.name != fixture.id)
    title += ": " + markdown_words(fixture.name, max_title_bytes);
  return title;
}

std::string story_of(const CaseResult& result, CaseDetails& details) {
  std::string entry = "- " + title_of(result.fixture) + "\n";
  const std::vector<CaseLine> lines = wording::story(result, details);
  bool has_line_above = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == max_story_lines)
      return entry + "  - and " + wording::counted(lines.size() - i, "line") + " more\n";
    const CaseLine& line = lines[i];
    const bool inner = has_line_above && belongs_to_the_line_above(line.kind);
    entry.append(inner ? "    - " : "  - ").append(wording::label_of(line.kind)).append(": ");
    entry += (is_code(line.kind) ? markdown_code(line.text) : markdown_words(line.text)) + "\n";
    has_line_above = has_line_above || !belongs_to_the_line_above(line.kind);
  }
  return entry;
}

std::string rows_of(const CaseResult& result) {
  std::string rows;
  for (const JudgedMetric& metric : result.metrics()) {
    if (metric.status != MetricStatus::fail) continue;
    const auto words = wording::words_for(metric);
    rows += "| " + title_of(result.fixture) + " | " + markdown_words(info(metric.id).name);
    for (const std::string& cell : {words.baseline, words.score, words.delta, words.limit})
      rows += " | " + cell;
    rows += " |\n";
  }
  return rows;
}

template <class Make>
void add_if_there_is_room(BoundedText& list, const Make& make) {
  list.has_room() ? list.add(make()) : list.leave_out();
}

}  // namespace

Result<void> gather_markdown_cases(const ReportInput& input, MarkdownCases& cases) {
  CaseDetails details;
  return visit_cases(input.results, [&](const CaseResult& result) {
    cases.errors.add(result);
    const auto story = [&] { return story_of(result, details); };
    const std::string id = "- " + markdown_words(result.fixture.id, max_title_bytes) + ": ";
    const std::string missing = wording::missing_entries(result);
    if (!missing.empty()) {
      add_if_there_is_room(cases.missing, [&] { return id + markdown_words(missing) + "\n"; });
    }
    if (result.judgement.improved) {
      add_if_there_is_room(cases.improvements,
                           [&] { return id + markdown_words(wording::improvements(result)) + "\n"; });
    }
    if (result.judgement.regressed) {
      add_if_there_is_room(cases.regression_rows, [&] { return rows_of(result); });
      add_if_there_is_room(cases.regression_stories, story);
    } else if (result.status == CaseStatus::fail) {
      add_if_there_is_room(cases.failures, story);
    } else if ((result.status == CaseStatus::warn || result.status == CaseStatus::flaky) && missing.empty()) {
      add_if_there_is_room(cases.warnings, story);
    }
  });
}

}  // namespace sluice
