#include "coordinator/cli/view/view_server.hpp"

#include "common/clock.hpp"
#include "common/text/stderr_line.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/compare_sides.hpp"
#include "coordinator/cli/past_runs/past_details.hpp"
#include "coordinator/cli/past_runs/past_report.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/past_runs/whole_answers.hpp"
#include "coordinator/cli/view/view_pages.hpp"
#include "coordinator/report/commands/compare_report.hpp"
#include "coordinator/report/html/html_cases.hpp"
#include "coordinator/report/html/html_report.hpp"
#include "coordinator/report/html/xml_text.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

namespace sluice {
namespace {

ServedAnswer page(std::string body, int status = 200) {
  static const std::string policy = served_page_policy();
  return {status,
          "text/html; charset=utf-8",
          std::move(body),
          {{"Content-Security-Policy", policy},
           {"X-Content-Type-Options", "nosniff"},
           {"X-Frame-Options", "DENY"},
           {"Cross-Origin-Resource-Policy", "same-origin"},
           {"Referrer-Policy", "no-referrer"},
           {"Cache-Control", "no-store"}}};
}

ServedAnswer failure(const Error& error) {
  const bool is_asked_wrong = error.reason == Reason::usage_invalid;
  return page(message_page(is_asked_wrong ? "Not there" : "It went wrong", {error.message}),
              is_asked_wrong ? 404 : 500);
}

/// What was gathered, without the words that begin a line on a terminal.
std::vector<std::string> sentences_of(const GatheredStderr& gathered) {
  std::vector<std::string> sentences;
  for (std::string line : gathered.lines()) {
    for (const std::string_view before : {"sluice: ", "error: ", "warning: "})
      if (line.starts_with(before)) line.erase(0, before.size());
    sentences.push_back(std::move(line));
  }
  return sentences;
}

/// A run that has not ended as a page: the cases that have a result, and no verdict yet.
Result<void> write_run_so_far(const ReportInput& input, const PastRun& past, const PageFrame& frame,
                              Sink& sink) {
  BufferedWriter writer(sink);
  const std::string title = "Run " + short_id(past.run.run_id) + ": " + input.results.suite.name;
  writer.text() += page_head(title, frame, {embedded::report_script}) + "<h1>" + xml_escaped(title) +
                   "</h1>\n" + facts_of(past);
  const CaseListing listing{.with_unanswered = false};
  if (auto written = write_first_cases(input, listing, writer); !written) return written;
  writer.text() += "</main>\n";
  CaseData data(writer);
  if (auto written = data.add(input, listing); !written) return written;
  data.close();
  writer.text() += page_end({embedded::report_script, embedded::view_script});
  return {};
}

std::vector<Error> errors_of(const Result<void>& written) {
  return written ? std::vector<Error>() : std::vector{written.error()};
}

}  // namespace

ServedAnswer ViewServer::answer(const ServedRequest& request, const ViewAccess& access) {
  const auto asked = read_view_request(request, access);
  return asked ? page_of(*asked) : asked.error();
}

ServedAnswer ViewServer::page_of(const ViewRequest& asked) {
  const auto file = std::filesystem::path(settings_.home.value) / "ledger.db";
  std::error_code none;
  if (!std::filesystem::exists(file, none)) {
    if (asked.page == ViewRequest::Page::runs) return page(runs_page({}, asked.limit));
    return failure({Reason::usage_invalid, no_run_yet});
  }
  const auto ledger = Ledger::open_beside_runs(file);
  if (!ledger) return failure(ledger.error());
  if (asked.page == ViewRequest::Page::runs) {
    const auto runs = ledger->list_runs(asked.limit);
    return runs ? page(runs_page(*runs, asked.limit)) : failure(runs.error());
  }
  if (asked.page == ViewRequest::Page::compare) return compare_page(asked, *ledger);
  const auto past = ledger->find_run(asked.run);
  if (!past) return failure(past.error());
  if (asked.page == ViewRequest::Page::run) return run_page(*past, *ledger);
  const auto panel = panel_of(*past, *ledger);
  return panel ? page(progress_page(*panel)) : failure(panel.error());
}

Result<std::string> ViewServer::panel_of(const PastRun& past, const Ledger& ledger) {
  auto progress = ledger.progress_of(past.run.run_id);
  if (!progress) return fail(progress.error());
  RunUnderWay run{past, std::move(*progress)};
  if (past.summary) return progress_panel(run);
  const std::int64_t now_ms = unix_now_ms();
  const auto time = ledger.time_of(past.run.run_id, now_ms);
  if (!time) return fail(time.error());
  run.time = time->value_or(std::chrono::milliseconds(now_ms - past.run.started_at_ms));
  const std::lock_guard lock(rates_);
  RateEstimate& rate = rate_of_[past.run.run_id];
  rate.update(run.time, run.progress.committed, true);
  run.per_second = rate.per_second();
  if (const auto left = rate.time_for(past.run.trials - std::min(past.run.trials, run.progress.committed)))
    run.remaining_seconds = left->count();
  return progress_panel(run);
}

ServedAnswer ViewServer::run_page(const PastRun& past, const Ledger& ledger) {
  std::string panel;
  if (!past.summary) {
    auto made = panel_of(past, ledger);
    if (!made) return failure(made.error());
    panel = std::move(*made);
  }
  const std::lock_guard lock(reports_);
  const GatheredStderr gathered;
  if (command_of(past.run) == run_command) {
    StringSink sink;
    const auto write = [&](ReportInput input) {
      input.whole_answers = whole_answers(tools_, settings_, past.run.run_id, input.redactor);
      return errors_of(past.summary ? write_html_report(input, frame_of(), sink)
                                    : write_run_so_far(input, past, frame_of(panel), sink));
    };
    if (report_past_run(past, place_in(ledger), {}, write, Ends::any)) return page(sink.text());
  }
  auto redactor = redactor_of(past, command_, settings_);
  // The page of a run whose flags cannot be read any more is worth having, by the settings alone.
  if (!redactor) redactor = Redactor::make(redaction_of(settings_));
  if (!redactor) return failure(redactor.error());
  const auto cases = redacted_cases_of(ledger, past, *redactor);
  if (!cases) return failure(cases.error());
  return page(record_page(past, panel, sentences_of(gathered), *cases));
}

ServedAnswer ViewServer::compare_page(const ViewRequest& asked, const Ledger& ledger) {
  if (asked.base.empty() || asked.current.empty())
    return page(message_page("Two runs are compared",
                             {"Choose one as the base and another as the current one, in the list."}),
                400);
  const std::lock_guard lock(reports_);
  const GatheredStderr gathered;
  const auto refused = [&] { return page(message_page("Not compared", sentences_of(gathered)), 409); };
  StringSink data;
  std::optional<LoadedSide> sides[2];
  {
    BufferedWriter writer(data);
    CaseData cases(writer);
    for (const auto& [words, side] :
         {std::pair(&asked.base, &sides[0]), std::pair(&asked.current, &sides[1])}) {
      const auto past = ledger.find_run(*words);
      if (!past) return failure(past.error());
      if (const auto two = check_are_two_runs(sides[0] ? sides[0]->run_id : "", past->run.run_id); !two)
        return page(message_page("Not compared", {two.error().message}), 400);
      const std::string name = short_id(past->run.run_id);
      auto loaded = side_of_run(*past, name, place_in(ledger), {}, [&](ReportInput input) {
        input.whole_answers = whole_answers(tools_, settings_, past->run.run_id, input.redactor);
        return errors_of(cases.add(input, {.run = name}));
      });
      if (!loaded) return refused();
      *side = std::move(*loaded);
    }
    cases.close();
  }
  StringSink sink;
  bool is_written = false;
  compare_sides(*sides[0], *sides[1], {}, [&](const CompareReportInput& input) -> Result<void> {
    BufferedWriter writer(sink);
    writer.text() +=
        page_head(sides[0]->name + " and " + sides[1]->name, frame_of(), {embedded::report_script});
    if (auto written = write_compare_html(input, writer); !written) return written;
    write_empty_list({sides[0]->name, sides[1]->name}, writer);
    writer.text() += "</main>\n" + data.text() + page_end({embedded::report_script});
    is_written = true;
    return {};
  });
  return is_written ? page(sink.text()) : refused();
}

}  // namespace sluice
