#include "coordinator/report/html/html_cases.hpp"

#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/html/html_page.hpp"
#include "coordinator/report/html/xml_text.hpp"
#include "coordinator/report/wording/case_explanation.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

/// More rows, with all their texts, would make the page slow for those whose scripts take them out again.
constexpr std::uint64_t shown_without_scripts = 200;
constexpr std::size_t text_bytes_without_scripts = 1 << 20;
/// Of all texts: Chromium opens 10,000 cases with so many within two seconds on a slow machine.
constexpr std::size_t text_bytes = 32 << 20;
constexpr std::size_t cases_in_one_part = 500;
/// After which a part ends: browsers read a script element as one text.
constexpr std::size_t bytes_in_one_part = 8 << 20;

constexpr std::string_view list_head =
    "<h2>Cases</h2>\n<div id=\"controls\" class=\"controls\" hidden>"
    "<label>Search (/)<input id=\"search\" type=\"search\" placeholder=\"id, prompt, answer\"></label>"
    "<label>Status<select id=\"status\"><option value=\"\">all</option></select></label>"
    "<label>Category<select id=\"category\"><option value=\"\">all</option></select></label>"
    "<span id=\"count\" role=\"status\"></span></div>\n";
constexpr std::string_view table_head =
    "<div class=\"scroll\"><table id=\"cases\"><thead><tr><th data-key=\"id\">Case</th>"
    "<th data-key=\"category\">Category</th><th data-key=\"status\">Status</th>"
    "<th data-key=\"score\">Scores</th><th>Answer</th></tr></thead><tbody>\n";
constexpr std::string_view differs_between_runs = " data-differs=\"differs between the runs\"";
constexpr std::string_view table_end =
    "</tbody></table></div>\n<button id=\"more\" class=\"more\" type=\"button\" hidden>"
    "Show more</button>\n";

/// Of a grid: a row a test, a column an arm.
std::string grid_head(const std::vector<std::string>& arms, std::string_view attributes = "") {
  std::string text = "<div class=\"scroll\"><table id=\"cases\" class=\"grid\"" + std::string(attributes) +
                     "><thead><tr><th data-key=\"id\">Test</th>";
  for (const std::string& arm : arms)
    text += "<th data-arm=\"" + xml_escaped(arm) + "\">" + xml_escaped(arm) + "</th>";
  return text + "</tr></thead><tbody>\n";
}

std::string_view change_words(CaseChange change) {
  switch (change) {
    case CaseChange::none:
      return "";
    case CaseChange::broke:
      return ", broke";
    case CaseChange::dropped:
      return ", dropped";
    case CaseChange::fixed:
      return ", fixed";
    case CaseChange::still_failing:
      return ", still failing";
  }
  return "";
}

std::string status_words(const ShownCase& shown) {
  const std::string status(shown.status);
  return "<span class=\"status " + status + "\">" + status + "</span>" +
         std::string(change_words(shown.change));
}

/// What a case unfolds to.
std::string whole_texts(const ShownCase& shown) {
  const CaseTexts& texts = shown.texts;
  std::string text = "<div>";
  const auto part = [&](const char* title, const std::string& words) {
    if (!words.empty()) text += std::string("<h3>") + title + "</h3><pre>" + xml_escaped(words) + "</pre>";
  };
  part("System", texts.system);
  part("Prompt", texts.prompt);
  part("Answer", texts.answer);
  part("Expected", texts.expected);
  part("Why", texts.why);
  for (const std::string& note : shown.notes) text += "<p class=\"quiet\">" + xml_escaped(note) + "</p>";
  return text + "</div>";
}

std::string row_of(const ShownCase& shown) {
  return "<tr><td><details><summary>" + xml_escaped(shown.title) + "</summary>" + whole_texts(shown) +
         "</details></td><td>" + xml_escaped(shown.category) + "</td><td>" + status_words(shown) +
         "</td><td>" + xml_escaped(shown.texts.scores) + "</td><td class=\"quiet\">" +
         xml_escaped(wording::first_line(shown.texts.answer)) + "</td></tr>\n";
}

/// The test's id, without the arm behind it.
std::string test_of(const ShownCase& shown) {
  return shown.id.substr(0, shown.id.size() - shown.arm.size() - 1);
}

/// The rows of a grid: cases come by their ids, among which those of one test may lie apart (`t@n`, `t@n@m`).
class GridRows {
 public:
  GridRows(const RunArms& arms, bool with_category) : arms_(arms), with_category_(with_category) {}

  /// The test's row, once it has a cell of each arm.
  std::string add(const ShownCase& shown) {
    Row& row = open_[shown.test];
    if (row.cells.empty()) {
      row.head = xml_escaped(test_of(shown));
      if (with_category_) row.head += "<div class=\"quiet\">" + xml_escaped(shown.category) + "</div>";
    }
    const std::string& begin = shown.texts.answer.empty() ? shown.texts.why : shown.texts.answer;
    row.cells[shown.arm] = "<details><summary>" + status_words(shown) + " <span class=\"quiet\">" +
                           xml_escaped(shown.texts.scores) + "</span><div class=\"beginning\">" +
                           xml_escaped(wording::first_line(begin)) + "</div></summary>" + whole_texts(shown) +
                           "</details>";
    if (row.cells.size() < arms_.arms.size()) return "";
    std::string text = text_of(row);
    open_.erase(shown.test);
    return text;
  }

  /// The rows of tests that not every arm has.
  std::string finish() {
    std::string text;
    for (const auto& [test, row] : open_) text += text_of(row);
    open_.clear();
    return text;
  }

 private:
  struct Row {
    std::string head;
    std::map<std::string, std::string, std::less<>> cells;  ///< By arm.
  };

  std::string text_of(const Row& row) const {
    std::string text = "<tr><td>" + row.head + "</td>";
    for (const ArmSummary& arm : arms_.arms) {
      const auto cell = row.cells.find(arm.name);
      text += "<td data-arm=\"" + xml_escaped(arm.name) + "\">" +
              (cell != row.cells.end() ? cell->second : std::string(wording::dash)) + "</td>";
    }
    return text + "</tr>\n";
  }

  const RunArms& arms_;
  bool with_category_;
  std::map<std::uint32_t, Row> open_;  ///< By test.
};

Result<void> write_grid(const ReportInput& input, const PageRoom& room, BufferedWriter& writer) {
  std::vector<std::string> names;
  for (const ArmSummary& arm : input.arms->arms) names.push_back(arm.name);
  writer.text() += grid_head(names);
  GridRows rows(*input.arms, input.aggregates.by_category.size() > 1);
  const auto visited = visit_shown_cases(input, room, [&](const ShownCase& one) {
    writer.text() += rows.add(one);
    writer.passed();
  });
  writer.text() += rows.finish();
  return visited;
}

Result<void> write_list(const ReportInput& input, const PageRoom& room, BufferedWriter& writer) {
  writer.text() += table_head;
  return visit_shown_cases(input, room, [&](const ShownCase& one) {
    writer.text() += row_of(one);
    writer.passed();
  });
}

/// Tests are not cut in half where they are under several arms.
std::uint64_t cases_without_scripts(const ReportInput& input) {
  if (input.arms == nullptr) return shown_without_scripts;
  const std::uint64_t arms = input.arms->arms.size();
  return std::max(arms, shown_without_scripts / arms * arms);
}

}  // namespace

Result<void> write_first_cases(const ReportInput& input, const CaseListing& listing, BufferedWriter& writer) {
  const std::uint64_t count = input.aggregates.all.statuses.total();
  const std::uint64_t most = cases_without_scripts(input);
  writer.text() += list_head;
  if (count > most) {
    writer.text() += "<p class=\"without-scripts quiet\">The first " + wording::grouped(most) + " of " +
                     wording::grouped(count) +
                     " cases; with scripts, and in the CSV report, there are all.</p>\n";
  }
  const PageRoom room{most, text_bytes_without_scripts, listing.with_unanswered};
  auto written = input.arms != nullptr ? write_grid(input, room, writer) : write_list(input, room, writer);
  writer.text() += table_end;
  return written;
}

void write_empty_list(const std::vector<std::string>& runs, BufferedWriter& writer) {
  writer.text() +=
      std::string(list_head) +
      "<p class=\"without-scripts quiet\">With scripts the cases stand here side by side.</p>\n" +
      grid_head(runs, differs_between_runs) + std::string(table_end);
}

Result<void> CaseData::add(const ReportInput& input, const CaseListing& listing) {
  const PageRoom room{.text_bytes = text_bytes, .with_unanswered = listing.with_unanswered};
  return visit_shown_cases(input, room, [&](const ShownCase& one) {
    if (in_part_ > 0) part_ += ",\n";
    append(one, listing);
    if (++in_part_ == cases_in_one_part || part_.size() >= bytes_in_one_part) close();
  });
}

void CaseData::close() {
  if (in_part_ == 0) return;
  writer_.text() +=
      "<script type=\"application/json\" class=\"cases\">[" + json_in_html(part_) + "]</script>\n";
  writer_.passed();
  part_.clear();
  in_part_ = 0;
}

std::uint64_t CaseData::number_of(const std::string& id) {
  return numbers_.try_emplace(id, numbers_.size()).first->second;
}

void CaseData::append(const ShownCase& one, const CaseListing& listing) {
  const CaseTexts& texts = one.texts;
  Json json(part_);
  json.open('{');
  json.member("id", one.id);
  if (!listing.run.empty()) {
    json.member("test", number_of(one.id));
    json.member("title", one.id);
    json.member("arm", listing.run);
  } else if (!one.arm.empty()) {
    json.member("test", std::uint64_t{one.test});
    json.member("title", test_of(one));
    json.member("arm", one.arm);
  }
  json.member("name", one.name);
  json.member("category", one.category);
  json.member("status", one.status);
  if (one.change != CaseChange::none) json.member("change", to_string(one.change));
  json.member("score", texts.lowest_score);
  json.member("scores", texts.scores);
  for (const auto& [name, words] : {std::pair("system", &texts.system), std::pair("prompt", &texts.prompt),
                                    std::pair("answer", &texts.answer),
                                    std::pair("expected", &texts.expected), std::pair("why", &texts.why)}) {
    if (!words->empty()) json.member(name, *words);
  }
  if (!one.notes.empty()) {
    json.key("notes").open('[');
    for (const std::string& note : one.notes) json.value(note);
    json.close(']');
  }
  json.close('}');
}

}  // namespace sluice
