#include "coordinator/report/display.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/wording.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

// GitHub takes comments of up to 65,536 characters; what is folded at the end needs the rest.
constexpr std::size_t max_failure_bytes = 40 << 10;
constexpr std::size_t max_category_rows = 100;

// Foreign text as plain words: no markup, no HTML, no table cell's end, and no mention or issue link.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '@':
      case '#':
        out += std::string("\\") + c + "<!-- -->";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '~':
      case '[':
      case ']':
      case '|':
      case '$':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

// Foreign text as code: the fence is longer than any row of backticks inside.
std::string code(std::string_view text) {
  const std::string words = printable(text);
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : words) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string_view space = longest > 0 ? " " : "";
  return fence + std::string(space) + words + std::string(space) + fence;
}

void append_item(std::string& out, std::string_view label, const std::string& words) {
  out.append("  - ").append(label).append(": ").append(words).append("\n");
}

std::string failure(const CaseResult& result, const CaseDetails& details) {
  std::string out = "- **" + escaped(result.fixture.id) + "**";
  if (!result.fixture.name.empty()) out += ": " + escaped(result.fixture.name);
  out += '\n';
  for (const MissedClaim& missed : details.missing) {
    const ExpectedClaim& expected = *missed.expected;
    append_item(out, "Expected", code(to_text(expected.subject, expected.predicate, expected.value)));
    if (expected.rationale) out += "    - Rationale: " + escaped(*expected.rationale) + "\n";
    const std::string got = wording::got(missed, result.fixture);
    out += "    - Got: " + (missed.got == nullptr ? got : code(got)) + "\n";
  }
  for (const ForbiddenClaim& forbidden : details.forbidden) {
    append_item(out, "Forbidden", code(wording::extracted(*forbidden.got)));
    if (forbidden.forbidden->rationale)
      out += "    - Rationale: " + escaped(*forbidden.forbidden->rationale) + "\n";
  }
  for (const FinalClaim* claim : details.unexpected) {
    if (wording::is_shown_as_got(details, *claim)) continue;
    append_item(out, "Unexpected", code(wording::extracted(*claim)));
  }
  return out;
}

class MarkdownReport {
 public:
  MarkdownReport(const ReportInput& input, Sink& sink) : input_(input), writer_(sink) {}

  Result<void> write() {
    text() += "## " + wording::symbol(input_.verdict) + " " + wording::headline(input_.verdict) + ": " +
              escaped(wording::reason_for(input_)) + "\n\n";
    write_summary();
    if (auto cases = write_cases(); !cases) return cases;
    write_categories();
    write_run();
    return {};
  }

 private:
  std::string& text() { return writer_.text(); }

  void write_summary() {
    const Totals& all = input_.aggregates.all;
    const Scores plain = scores_of(all.counts);
    const Scores weighted = scores_of(all.weighted);
    const auto row = [&](std::string_view name, std::optional<double> Scores::*score) {
      text() += "| " + std::string(name) + " | " + wording::score(plain.*score) + " | " +
                wording::score(weighted.*score) + " |\n";
    };
    text() += "| Metric | Current | Weighted |\n| --- | ---: | ---: |\n";
    row("Precision", &Scores::precision);
    row("Recall", &Scores::recall);
    row("F1", &Scores::f1);
    text() += "\nFixtures: " + wording::grouped(all.statuses.passed) + " passed, " +
              wording::grouped(all.statuses.failed) + " failed, " + wording::grouped(all.statuses.errors) +
              " with an error (left out of the scores)\n";
  }

  // One visit: failures are written while there is room, errors are gathered.
  Result<void> write_cases() {
    const StatusCounts& statuses = input_.aggregates.all.statuses;
    if (statuses.failed == 0 && statuses.errors == 0) return {};
    if (statuses.failed > 0) text() += "\n### Failures (" + wording::grouped(statuses.failed) + ")\n\n";
    wording::ErrorGroups errors;
    CaseDetails details;
    std::size_t written = 0;
    std::uint64_t left_out = 0;
    const auto visited = visit_cases(input_.results, [&](const CaseResult& result) {
      errors.add(result);
      if (result.status != CaseStatus::fail) return;
      std::string entry;
      if (left_out == 0) {
        explain(result, details);
        entry = failure(result, details);
      }
      // Once one does not fit, none after it is shown: a list with holes would look whole.
      if (left_out > 0 || written + entry.size() > max_failure_bytes) {
        ++left_out;
        return;
      }
      written += entry.size();
      text() += entry;
      writer_.passed();
    });
    if (!visited) return visited;
    if (left_out > 0) {
      text() += "\n_" + wording::grouped(left_out) +
                " more failed; the table and the JSON report have them all._\n";
    }
    write_errors(errors);
    return {};
  }

  void write_errors(const wording::ErrorGroups& errors) {
    if (errors.by_reason().empty()) return;
    text() += "\n### Errors (" + wording::grouped(input_.aggregates.all.statuses.errors) + ")\n\n";
    for (const auto& [reason, group] : errors.by_reason()) {
      text() += "- `" + std::string(to_string(reason)) + "` (" + wording::grouped(group.count) +
                "): " + escaped(wording::ids(group)) + "\n";
      append_item(text(), "First", escaped(group.first_message));
    }
  }

  void write_categories() {
    const auto& categories = input_.aggregates.by_category;
    text() +=
        "\n<details><summary>Categories</summary>\n\n"
        "| Category | Fixtures | Passed | Failed | Errors | Precision | Recall | F1 |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    std::size_t rows = 0;
    for (const auto& [category, totals] : categories) {
      if (rows++ == max_category_rows) break;
      const Scores scores = scores_of(totals.counts);
      text() += "| " + escaped(category);
      for (const auto number : {totals.statuses.total(), totals.statuses.passed, totals.statuses.failed,
                                totals.statuses.errors}) {
        text() += " | " + wording::grouped(number);
      }
      for (const auto& score : {scores.precision, scores.recall, scores.f1})
        text() += " | " + wording::score(score);
      text() += " |\n";
    }
    if (categories.size() > max_category_rows) {
      text() +=
          "\n_" + wording::grouped(categories.size() - max_category_rows) + " more in the JSON report._\n";
    }
    text() += "\n</details>\n";
  }

  void write_run() {
    const RunIdentity& identity = input_.identity;
    const auto item = [&](std::string_view label, const std::string& words) {
      text() += "- " + std::string(label) + ": " + escaped(words) + "\n";
    };
    text() += "\n<details><summary>Run</summary>\n\n";
    item("Run", input_.facts.run_id + ", " + wording::date(input_.facts.completed_at_ms));
    item("Suite", input_.results.suite.name);
    item("Prompt", "v" + identity.prompt_version + ", ontology v" + identity.ontology_version);
    item("Model", identity.model + " (" + std::string(to_string(identity.provider)) + ", " +
                      std::string(to_string(input_.mode)) + ")");
    item("Cost", wording::cost(input_));
    item("Effort", wording::run_facts(input_));
    text() += "\n</details>\n";
  }

  const ReportInput& input_;
  BufferedWriter writer_;
};

}  // namespace

Result<void> write_markdown_report(const ReportInput& input, Sink& sink) {
  return MarkdownReport(input, sink).write();
}

}  // namespace sluice
