#include "coordinator/cli/view/view_pages.hpp"

#include "common/text/joined.hpp"
#include "common/text/printable.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/report/html/xml_text.hpp"
#include "coordinator/session/resume_run.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::string link_to(const PastRun& past) {
  return "<a href=\"run?id=" + xml_escaped(past.run.run_id) + "\">" + xml_escaped(short_id(past.run.run_id)) +
         "</a>";
}

std::string_view tone_of(const std::string& verdict) {
  if (verdict == "pass") return "pass";
  if (verdict == "review") return "warn";
  if (verdict == "fail" || verdict == "regression" || verdict == "error") return "fail";
  return "quiet";
}

std::string run_row(const PastRun& past) {
  const std::string id = xml_escaped(past.run.run_id);
  const std::string verdict = verdict_of(past);
  const auto choice = [&](const char* side, const char* label) {
    return "<td><input type=\"radio\" name=\"" + std::string(side) + "\" value=\"" + id + "\" aria-label=\"" +
           label + " run " + xml_escaped(short_id(past.run.run_id)) + "\"></td>";
  };
  const auto cell = [](const std::string& words) { return "<td>" + xml_escaped(words) + "</td>"; };
  const std::uint64_t cases = past.summary ? past.summary->statuses.total() : past.run.trials;
  return "<tr>" + choice("base", "Compare with") + choice("current", "Compare") + "<td>" + link_to(past) +
         "</td><td><span class=\"status " + std::string(tone_of(verdict)) + "\">" + xml_escaped(verdict) +
         "</span></td>" + cell(result_words(past)) + "<td class=\"number\">" + wording::grouped(cases) +
         "</td><td class=\"number\">" + xml_escaped(cost_words(past)) + "</td>" +
         cell(minute_of_start(past)) + cell(past.run.suite) + cell(past.run.mode) + cell(past.run.model) +
         "</tr>\n";
}

std::string whole_page(const std::string& title, const PageFrame& frame, const std::string& content) {
  return page_head(title, frame, {}) + content + "</main>\n" + page_end(frame.more_scripts);
}

std::string fact(const std::string& label, const std::string& words) {
  return words.empty() ? "" : "<dt>" + xml_escaped(label) + "</dt><dd>" + xml_escaped(words) + "</dd>";
}

/// `rate_limited 3, timeout 1`
std::string counts(const std::map<std::string, std::uint64_t>& by_name) {
  std::vector<std::string> words;
  for (const auto& [name, count] : by_name) words.push_back(name + ' ' + wording::grouped(count));
  return joined(words);
}

std::string pace(const RunUnderWay& run) {
  if (!run.per_second) return "";
  std::string words = ", " + wording::fixed(*run.per_second, 1) + " a second";
  if (run.remaining_seconds) words += ", about " + wording::duration(*run.remaining_seconds) + " left";
  return words;
}

constexpr std::string_view connection =
    "<p id=\"connection\" class=\"bad\" role=\"alert\" hidden>`sluice view` does not answer any more: what "
    "stands here is as it was then.</p>\n";

}  // namespace

PageFrame frame_of(const std::string& panel) {
  PageFrame frame;
  frame.navigation = "<a href=\"./\">All runs</a>";
  if (panel.empty()) return frame;
  frame.above = panel + std::string(connection);
  frame.more_scripts = {embedded::view_script};
  frame.fetches = true;
  return frame;
}

std::string runs_page(const std::vector<PastRun>& runs, std::size_t limit) {
  std::string text = "<h1>Runs</h1>\n" + std::string(connection);
  if (runs.empty()) {
    text += "<p>No run is recorded yet; <code>sluice run</code> records one. It appears here.</p>\n";
  }
  text +=
      "<form action=\"compare\" method=\"get\">\n<div class=\"scroll\"><table class=\"runs\"><thead><tr>"
      "<th>Base</th><th>Current</th><th>Run</th><th>Verdict</th><th>P R F1, or cases</th>"
      "<th class=\"number\">Cases</th><th class=\"number\">Cost</th><th>Started "
      "(UTC)</th><th>Suite</th><th>Mode</th><th>Model</th></tr>"
      "</thead>"
      "<tbody id=\"runs\" data-refresh=\"./?limit=" +
      std::to_string(limit) + "\">\n";
  for (const PastRun& past : runs) text += run_row(past);
  text +=
      "</tbody></table></div>\n<p><button class=\"more\">Compare the two that are "
      "chosen</button></p>\n</form>\n";
  if (runs.size() == limit && limit < defaults::max_runs_named) {
    const std::size_t more = std::min<std::size_t>(10 * limit, defaults::max_runs_named);
    text += "<p><a href=\"./?limit=" + std::to_string(more) + "\">More of them</a></p>\n";
  }
  PageFrame frame;
  frame.more_scripts = {embedded::view_script};
  frame.fetches = true;
  frame.has_form = true;
  return whole_page("Runs", frame, text);
}

std::string progress_panel(const RunUnderWay& run) {
  const PastRun& past = run.past;
  const std::string id = xml_escaped(past.run.run_id);
  std::string version = std::to_string(run.progress.committed);
  std::string attributes = " id=\"live\"";
  std::string words;
  if (past.summary) {
    version += " ended";
    words = "<strong>Ended: " + xml_escaped(verdict_of(past)) + "</strong> <a href=\"run?id=" + id +
            "\">Show its report</a>";
  } else if (past.under_way) {
    attributes += " data-refresh=\"progress?id=" + id + "\"";
    words = "<strong>Running</strong> " +
            wording::counted_of(run.progress.committed, past.run.trials, "trial") + xml_escaped(pace(run));
  } else {
    words = "<strong>Stopped before its end</strong> " +
            wording::counted_of(run.progress.committed, past.run.trials, "trial") + ": <code>" +
            xml_escaped(resume_command(past.run)) + "</code> goes on with it";
  }
  std::string text = "<section" + attributes + " data-version=\"" + version + "\">\n<p class=\"verdict\">" +
                     words + "</p>\n";
  if (past.summary) return text + "</section>\n";
  text += "<progress max=\"" + std::to_string(past.run.trials) + "\" value=\"" +
          std::to_string(run.progress.committed) + "\">" + std::to_string(run.progress.committed) +
          "</progress>\n<dl class=\"facts\">";
  if (past.under_way)
    text += fact("Running for", wording::duration(std::chrono::duration<double>(run.time).count()));
  text += fact("Errors", counts(run.progress.errors)) + fact("Workers", counts(run.progress.workers));
  return text + "</dl>\n</section>\n";
}

std::string progress_page(const std::string& panel) {
  return whole_page("Progress", {}, panel);
}

std::string facts_of(const PastRun& past) {
  std::string text = "<dl class=\"facts\">";
  for (const auto& [label, words] : facts_of_run(past)) text += fact(std::string(label), printable(words));
  return text + "</dl>\n";
}

std::string record_page(const PastRun& past, const std::string& panel, const std::vector<std::string>& why,
                        const std::vector<CaseOutcome>& cases) {
  const std::string title = "Run " + short_id(past.run.run_id);
  std::string text = "<h1>" + xml_escaped(title) + "</h1>\n";
  for (const std::string& sentence : why) text += "<p class=\"warning\">" + xml_escaped(sentence) + "</p>\n";
  text += facts_of(past);
  if (!cases.empty()) {
    text +=
        "<h2>Cases that did not simply pass</h2>\n<div class=\"scroll\"><table><thead><tr><th>Case</th>"
        "<th>Status</th><th>Missed</th></tr></thead><tbody>\n";
    for (const CaseOutcome& one : cases) {
      const std::string status(shown_status(one.status, one.not_started));
      text += "<tr><td>" + xml_escaped(one.id) + "</td><td><span class=\"status " + status + "\">" + status +
              "</span></td><td>" + xml_escaped(joined(one.missed)) + "</td></tr>\n";
    }
    text += "</tbody></table></div>\n";
  }
  return whole_page(title, frame_of(panel), text);
}

std::string message_page(const std::string& title, const std::vector<std::string>& sentences) {
  std::string text = "<h1>" + xml_escaped(title) + "</h1>\n";
  for (const std::string& one : sentences) text += "<p>" + xml_escaped(one) + "</p>\n";
  return whole_page(title, frame_of(), text);
}

}  // namespace sluice
