#include "coordinator/report/markdown_stability.hpp"

#include "coordinator/report/markdown_text.hpp"
#include "coordinator/report/stability_wording.hpp"
#include "coordinator/report/wording.hpp"

namespace sluice {
namespace {

// Together less than what the comment has left (markdown_report.cpp).
constexpr std::size_t max_statistics_bytes = 1000;
constexpr std::size_t max_summary_bytes = 900;
constexpr std::size_t max_perturbation_bytes = 1400;
constexpr std::size_t max_flip_bytes = 1500;

std::string statistics_part(const ReportInput& input) {
  if (!input.gate.statistics) return "";
  BoundedText list(max_statistics_bytes);
  for (const std::string& line : wording::statistics_words(input.gate)) {
    list.add("- " + markdown_words(line, 400) + "\n");
  }
  return "\n### Statistical gate\n\n" + list.text();
}

std::string perturbation_rows(const RunStability& run) {
  BoundedText rows(max_perturbation_bytes);
  for (const PerturbationSummary& one : run.perturbations) {
    const StabilityFigures figures = one.stability ? one.stability->figures : StabilityFigures{};
    rows.add("| " + markdown_words(one.facts.name, 80) + " | " + wording::grouped(one.facts.changed) + " | " +
             wording::grouped(one.flips) + " | " + wording::share(figures.stability) + " | " +
             wording::share(figures.floor) + " | " + wording::stability_word(one) + " |\n");
  }
  return "\n| Perturbation | Cases | Flips | Stability | Floor | Verdict |\n"
         "| --- | ---: | ---: | ---: | ---: | --- |\n" +
         rows.text();
}

/// The two answers of each flip side by side.
std::string flip_rows(const std::vector<wording::UnstableCase>& cases, std::uint32_t repeats) {
  BoundedText rows(max_flip_bytes);
  for (const auto& one : cases) {
    for (const auto& flip : one.flips) {
      rows.add("| " + markdown_words(one.title, 120) + " | " +
               markdown_words(wording::flip_title(flip, repeats), 120) + " | " +
               markdown_words(wording::side_of(flip.diff.only_unperturbed), 300) + " | " +
               markdown_words(wording::side_of(flip.diff.only_perturbed), 300) + " |\n");
    }
  }
  if (rows.text().empty()) return "";
  std::string text =
      "\n| Least stable | Perturbation | Only without | Only with |\n| --- | --- | --- | --- |\n" +
      rows.text();
  if (rows.left_out() > 0)
    text += "\n_" + wording::grouped(rows.left_out()) + " more stand in the JSON report._\n";
  return text;
}

}  // namespace

Result<std::string> markdown_stability(const ReportInput& input) {
  std::string text = statistics_part(input);
  if (input.stability == nullptr) return text;
  const RunStability& run = *input.stability;
  BoundedText summary(max_summary_bytes);
  if (const auto judged = wording::stability_gate(input); !judged.empty()) {
    summary.add("- **" + markdown_words(judged) + "**\n");
  }
  for (const std::string& line : wording::stability_summary(input)) {
    summary.add("- " + markdown_words(line) + "\n");
  }
  text +=
      std::string("\n### ") + (run.perturbations.empty() ? "Repeats" : "Stability") + "\n\n" + summary.text();
  if (run.perturbations.empty()) return text;
  text += perturbation_rows(run);
  const auto cases = wording::least_stable_cases(input, 5, 2);
  if (!cases) return fail(cases.error());
  return text + flip_rows(*cases, run.repeats);
}

}  // namespace sluice
