#include "coordinator/report/html_cases.hpp"

#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/assessment_wording.hpp"
#include "coordinator/report/html_page.hpp"
#include "coordinator/report/wording.hpp"
#include "coordinator/report/xml_text.hpp"

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
constexpr std::string_view table_end =
    "</tbody></table></div>\n<button id=\"more\" class=\"more\" type=\"button\" hidden>"
    "Show more</button>\n";

/// What differs are runs then.
std::string side_by_side(std::string_view head) {
  constexpr std::string_view table = "<table id=\"cases\"";
  std::string text(head);
  return text.insert(text.find(table) + table.size(), " data-differs=\"differs between the runs\"");
}

std::string_view change_words(CaseChange change) {
  switch (change) {
    case CaseChange::none:
      return "";
    case CaseChange::broke:
      return ", broke";
    case CaseChange::fixed:
      return ", fixed";
    case CaseChange::still_failing:
      return ", still failing";
  }
  return "";
}

void write_row(const ShownCase& shown, std::string& text) {
  const CaseTexts& texts = shown.texts;
  const std::string status(to_string(shown.status));
  const auto part = [&](const char* title, const std::string& words) {
    if (!words.empty()) text += std::string("<h3>") + title + "</h3><pre>" + xml_escaped(words) + "</pre>";
  };
  text += "<tr><td><details><summary>" + xml_escaped(shown.title) + "</summary><div>";
  part("System", texts.system);
  part("Prompt", texts.prompt);
  part("Answer", texts.answer);
  part("Expected", texts.expected);
  part("Why", texts.why);
  for (const std::string& note : shown.notes) text += "<p class=\"quiet\">" + xml_escaped(note) + "</p>";
  text += "</div></details></td><td>" + xml_escaped(shown.category) + "</td><td><span class=\"status " +
          status + "\">" + status + "</span>" + std::string(change_words(shown.change)) + "</td><td>" +
          xml_escaped(texts.scores) + "</td><td class=\"quiet\">" +
          xml_escaped(wording::first_line(texts.answer)) + "</td></tr>\n";
}

}  // namespace

Result<void> write_first_cases(const ReportInput& input, const CaseListing& listing, BufferedWriter& writer) {
  std::string& text = writer.text();
  const std::uint64_t count = input.aggregates.all.statuses.total();
  text += list_head;
  if (count > shown_without_scripts) {
    text += "<p class=\"without-scripts quiet\">The first " + wording::grouped(shown_without_scripts) +
            " of " + wording::grouped(count) +
            " cases; with scripts, and in the CSV report, there are all.</p>\n";
  }
  text += table_head;
  const PageRoom room{shown_without_scripts, text_bytes_without_scripts, listing.with_unanswered};
  const auto visited = visit_shown_cases(input, room, [&](const ShownCase& one) {
    write_row(one, text);
    writer.passed();
  });
  text += table_end;
  return visited;
}

void write_empty_list(BufferedWriter& writer) {
  writer.text() +=
      std::string(list_head) +
      "<p class=\"without-scripts quiet\">With scripts the cases stand here side by side.</p>\n" +
      side_by_side(table_head) + std::string(table_end);
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
    json.member("title", one.id.substr(0, one.id.size() - one.arm.size() - 1));
    json.member("arm", one.arm);
  }
  json.member("name", one.name);
  json.member("category", one.category);
  json.member("status", to_string(one.status));
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
