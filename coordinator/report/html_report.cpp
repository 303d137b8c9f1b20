#include "common/hash.hpp"
#include "common/text/text.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/report/assessment_wording.hpp"
#include "coordinator/report/case_texts.hpp"
#include "coordinator/report/html_charts.hpp"
#include "coordinator/report/html_writer.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/report_document.hpp"
#include "coordinator/report/wording.hpp"
#include "coordinator/report/xml_text.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

/// More rows, with all their texts, would make the page slow for those whose scripts take them out again.
constexpr std::uint64_t shown_without_scripts = 200;
constexpr std::size_t cases_in_one_part = 500;
/// Of a text of a case. A context that every case has would make a page that no browser opens.
constexpr std::size_t shown_text_bytes = 8 << 10;
/// After which a part ends: browsers read a script element as one text.
constexpr std::size_t bytes_in_one_part = 8 << 20;

std::string base64(const Digest& bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 6; held -= 6) text += letters[bits >> (held - 6) & 63];
  }
  if (held > 0) text += letters[bits << (6 - held) & 63];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

/// In a script element nothing may look like markup; outside of its texts JSON has no angle bracket.
std::string json_in_html(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) c == '<' ? text += "\\u003c" : text += c;
  return text;
}

/// What the page shows of a case.
CaseTexts shown_texts_of(const CaseResult& result, const ReportInput& input) {
  CaseTexts texts = texts_of(result, input);
  for (std::string* one : {&texts.system, &texts.prompt, &texts.answer, &texts.expected, &texts.why}) {
    if (one->size() > shown_text_bytes) *one = excerpt(*one, shown_text_bytes);
  }
  return texts;
}

class HtmlReport {
 public:
  HtmlReport(const ReportInput& input, Sink& sink) : input_(input), writer_(sink) {}

  Result<void> write() {
    write_head();
    // The cases have a list of their own here.
    const auto document = build_document(input_, Room::page, CaseLists::left_out);
    if (!document) return fail(document.error());
    if (auto written = write_html(*document, writer_); !written) return written;
    if (const std::string charts = charts_of(input_); !charts.empty())
      text() += "<h2>Pictures</h2>\n" + charts;
    if (auto written = write_first_cases(); !written) return written;
    text() += "</main>\n";
    if (auto written = write_data(); !written) return written;
    text() += "<script>" + std::string(embedded::report_script) + "</script>\n</body>\n</html>\n";
    return {};
  }

 private:
  std::string& text() { return writer_.text(); }

  /// Neither a network nor a script of an answer: only what is written here runs, by its hash.
  void write_head() {
    const auto hash = [](std::string_view part) { return "'sha256-" + base64(sha256(part)) + "'"; };
    text() +=
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src " +
        hash(embedded::report_style) + "; script-src " + hash(embedded::report_script) +
        "; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
        xml_escaped(wording::headline(input_.verdict) + ": " + input_.results.suite.name) +
        "</title>\n<style>" + std::string(embedded::report_style) + "</style>\n</head>\n<body>\n<main>\n";
  }

  /// A table for whoever runs no scripts; the script takes it over.
  Result<void> write_first_cases() {
    const std::uint64_t count = input_.aggregates.all.statuses.total();
    text() +=
        "<h2>Cases</h2>\n<div id=\"controls\" class=\"controls\" hidden>"
        "<label>Search (/)<input id=\"search\" type=\"search\" placeholder=\"id, prompt, answer\"></label>"
        "<label>Status<select id=\"status\"><option value=\"\">all</option></select></label>"
        "<label>Category<select id=\"category\"><option value=\"\">all</option></select></label>"
        "<span id=\"count\" role=\"status\"></span></div>\n";
    if (count > shown_without_scripts) {
      text() += "<p class=\"without-scripts quiet\">The first " + wording::grouped(shown_without_scripts) +
                " of " + wording::grouped(count) +
                " cases; with scripts, and in the CSV report, there are all.</p>\n";
    }
    text() +=
        "<div class=\"scroll\"><table id=\"cases\"><thead><tr><th data-key=\"id\">Case</th>"
        "<th data-key=\"category\">Category</th><th data-key=\"status\">Status</th>"
        "<th data-key=\"score\">Scores</th><th>Answer</th></tr></thead><tbody>\n";
    std::uint64_t written = 0;
    const auto visited = visit_cases(input_.results, [&](const CaseResult& result) {
      if (written++ >= shown_without_scripts) return;
      write_row(result);
      writer_.passed();
    });
    text() +=
        "</tbody></table></div>\n<button id=\"more\" class=\"more\" type=\"button\" hidden>"
        "Show more</button>\n";
    return visited;
  }

  void write_row(const CaseResult& result) {
    const CaseTexts texts = shown_texts_of(result, input_);
    const std::string status(to_string(result.status));
    const auto part = [&](const char* title, const std::string& words) {
      if (!words.empty())
        text() += std::string("<h3>") + title + "</h3><pre>" + xml_escaped(words) + "</pre>";
    };
    text() += "<tr><td><details><summary>" + xml_escaped(wording::title(result.fixture)) + "</summary><div>";
    part("System", texts.system);
    part("Prompt", texts.prompt);
    part("Answer", texts.answer);
    part("Expected", texts.expected);
    part("Why", texts.why);
    text() += "</div></details></td><td>" + xml_escaped(result.fixture.category) +
              "</td><td><span class=\"status " + status + "\">" + status + "</span>" + change_words(result) +
              "</td><td>" + xml_escaped(texts.scores) + "</td><td class=\"quiet\">" +
              xml_escaped(wording::first_line(texts.answer)) + "</td></tr>\n";
  }

  static std::string change_words(const CaseResult& result) {
    switch (result.assessment.change()) {
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

  /// In several elements, so that none becomes larger than what a browser reads in one go.
  Result<void> write_data() {
    std::string part;
    std::size_t in_part = 0;
    const auto close = [&] {
      if (in_part == 0) return;
      text() += "<script type=\"application/json\" class=\"cases\">[" + json_in_html(part) + "]</script>\n";
      writer_.passed();
      part.clear();
      in_part = 0;
    };
    const auto visited = visit_cases(input_.results, [&](const CaseResult& result) {
      if (in_part > 0) part += ",\n";
      append_case(result, part);
      if (++in_part == cases_in_one_part || part.size() >= bytes_in_one_part) close();
    });
    close();
    return visited;
  }

  void append_case(const CaseResult& result, std::string& out) {
    const CaseTexts texts = shown_texts_of(result, input_);
    const std::string arm = arm_of(result, input_);
    const std::string& id = result.fixture.id;
    Json json(out);
    json.open('{');
    json.member("id", id);
    if (!arm.empty()) {
      json.member("test", std::uint64_t{result.fixture.test});
      json.member("title", id.substr(0, id.size() - arm.size() - 1));
      json.member("arm", arm);
    }
    json.member("name", result.fixture.name);
    json.member("category", result.fixture.category);
    json.member("status", to_string(result.status));
    if (const CaseChange change = result.assessment.change(); change != CaseChange::none)
      json.member("change", to_string(change));
    json.member("score", texts.lowest_score);
    json.member("scores", texts.scores);
    for (const auto& [name, words] : {std::pair("system", &texts.system), std::pair("prompt", &texts.prompt),
                                      std::pair("answer", &texts.answer),
                                      std::pair("expected", &texts.expected), std::pair("why", &texts.why)}) {
      if (!words->empty()) json.member(name, *words);
    }
    json.close('}');
  }

  const ReportInput& input_;
  BufferedWriter writer_;
};

}  // namespace

Result<void> write_html_report(const ReportInput& input, Sink& sink) {
  return HtmlReport(input, sink).write();
}

}  // namespace sluice
