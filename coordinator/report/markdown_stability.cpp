#include "coordinator/report/markdown_stability.hpp"

#include "coordinator/report/markdown_text.hpp"
#include "coordinator/report/stability_wording.hpp"
#include "coordinator/report/statistics_wording.hpp"
#include "coordinator/report/wording.hpp"

#include <cstdint>
#include <string_view>

namespace sluice {
namespace {

// Together less than what the comment has left (markdown_report.cpp).
constexpr std::size_t max_statistics_bytes = 3500;
constexpr std::size_t max_summary_bytes = 900;
constexpr std::size_t max_perturbation_bytes = 1400;
constexpr std::size_t max_flip_bytes = 1500;
constexpr std::size_t max_instability_bytes = 1200;
constexpr std::size_t max_skipped_bytes = 1400;

/// What a list leaves out, which would look whole without a word; empty where it is.
std::string rest_of(std::uint64_t left_out, std::string_view noun) {
  if (left_out == 0) return "";
  return "\n_and " + wording::counted(left_out, "more " + std::string(noun)) +
         ", which the JSON report has._\n";
}

std::string statistics_part(const ReportInput& input) {
  if (!input.gate.statistics) return "";
  BoundedText list(max_statistics_bytes);
  for (const wording::RunLine& line : wording::statistics_lines(input.gate)) {
    list.add(std::string(2 * line.level, ' ') + "- " + markdown_words(line.words, 500) + "\n");
  }
  return "\n### Statistical gate\n\n" + list.text() + rest_of(list.left_out(), "line") + "\n" +
         std::string(wording::means_over_cases) + ".\n";
}

std::string perturbation_rows(const RunStability& run) {
  BoundedText rows(max_perturbation_bytes);
  for (const PerturbationSummary& one : run.perturbations) {
    const auto words = wording::words_for(one);
    rows.add("| " + markdown_words(words.name, 80) + " | " + words.cases + " | " + words.flips + " | " +
             words.stability + " | " + words.interval + " | " + words.floor + " | " +
             markdown_words(words.p) + " | " + words.verdict + " |\n");
  }
  return "\n| Perturbation | Cases | Flips | Stability | Interval | Floor | " +
         std::string(wording::p_heading) +
         " | Verdict |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n" + rows.text() +
         rest_of(rows.left_out(), "perturbation");
}

std::string folded(std::string_view summary, std::size_t count, const std::string& text) {
  return "\n<details><summary>" + std::string(summary) + " (" + wording::grouped(count) + ")</summary>\n\n" +
         text + "\n</details>\n";
}

std::string category_part(const RunStability& run) {
  const auto categories = wording::category_words(run);
  if (categories.empty()) return "";
  BoundedText rows(max_instability_bytes);
  for (const auto& words : categories) {
    rows.add("| " + markdown_words(words.name, 80) + " | " + words.cases + " | " + words.answers + " | " +
             words.stability + " | " + words.interval + " | " + words.floor + " |\n");
  }
  const std::uint64_t left_out = rows.left_out();
  const std::string rest =
      left_out > 0 ? "\n_" + wording::grouped(left_out) + " more in the JSON report._\n" : "";
  return folded("Stability by category", categories.size(),
                "| Category | Cases | Answers | Stability | Interval | Floor |\n"
                "| --- | ---: | ---: | ---: | ---: | ---: |\n" +
                    rows.text() + rest);
}

std::string skipped_part(const RunStability& run) {
  const auto skipped = wording::skipped_words(run);
  if (skipped.empty()) return "";
  BoundedText list(max_skipped_bytes);
  for (const std::string& line : skipped) list.add("- " + markdown_words(line) + "\n");
  return folded(wording::skipped_heading, skipped.size(), list.text() + rest_of(list.left_out(), "reason"));
}

/// The two answers of each flip side by side.
std::string flip_rows(const std::vector<wording::UnstableCase>& cases, std::uint32_t repeats) {
  BoundedText rows(max_flip_bytes);
  std::uint64_t left_out = 0;  // Answers: repeats that differ alike share a row.
  for (const auto& one : cases) {
    left_out += one.more_flips;
    for (const auto& flip : one.flips) {
      rows.add("| " + markdown_words(one.title, 120) + " | " +
               markdown_words(wording::flip_title(flip, repeats), 120) + " | " +
               markdown_words(wording::side_without(flip.diff), 300) + " | " +
               markdown_words(wording::side_with(flip.diff), 300) + " |\n");
      if (!rows.has_room()) left_out += flip.times;
    }
  }
  if (rows.text().empty()) return "";
  return "\n| Least stable | Perturbation | Only without | Only with |\n| --- | --- | --- | --- |\n" +
         rows.text() + rest_of(left_out, "answer");
}

}  // namespace

Result<std::string> markdown_stability(const ReportInput& input) {
  std::string text = statistics_part(input);
  if (input.stability == nullptr) return text;
  const RunStability& run = *input.stability;
  BoundedText summary(max_summary_bytes);
  if (const auto judged = wording::stability_gate(input.gate); !judged.empty()) {
    summary.add("- **" + markdown_words(judged) + "**\n");
  }
  for (const std::string& line : wording::stability_summary(input)) {
    summary.add("- " + markdown_words(line) + "\n");
  }
  text += std::string("\n### ") + (run.perturbations.empty() ? "Repeats" : "Stability") + "\n\n" +
          summary.text() + rest_of(summary.left_out(), "line");
  if (run.perturbations.empty()) return text;
  text += perturbation_rows(run);
  const auto cases = wording::least_stable_cases(input, 5, 2);
  if (!cases) return fail(cases.error());
  return text + flip_rows(*cases, run.repeats) + category_part(run) + skipped_part(run);
}

}  // namespace sluice
