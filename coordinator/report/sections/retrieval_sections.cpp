#include "coordinator/defaults.hpp"
#include "coordinator/report/report_document.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <string>
#include <utility>

namespace sluice {
namespace {

using namespace document;

/// `3 of 4`
std::string passed_of(const RetrievedCases& cases) {
  if (cases.cases == 0) return std::string(wording::dash);
  return wording::grouped(cases.passed) + " of " + wording::grouped(cases.cases);
}

Row row_of(std::string name, const RetrievalCounts& counts) {
  Row row{{words(std::move(name), 200)}};
  for (const RetrievedCases& cases : counts) row.cells.emplace_back(passed_of(cases));
  return row;
}

}  // namespace

std::vector<Section> retrieval_sections(const ReportInput& input) {
  if (input.retrieval == nullptr) return {};
  const RetrievalSummary& retrieval = *input.retrieval;
  Table table{.columns = {column("Category"), number("Hit"), number("Degraded"), number("Miss")},
              .share = {.most_bytes = defaults::max_category_bytes, .rest = more_in_json()}};
  for (const auto& [category, counts] : retrieval.by_category)
    table.rows.push_back(row_of(category.empty() ? "(none)" : category, counts));
  if (retrieval.by_category.size() > 1) table.rows.push_back(row_of("All", retrieval.all));
  Section section{.heading = "Solved examples", .rank = Rank::further};
  section.blocks.emplace_back(Paragraph{
      {words("Passed cases by what retrieval found for them: a hit is shown as an example, a degraded (near) "
             "match as guidance with low confidence, of a miss nothing is shown. Plugin "),
       code(retrieval.plugin, 80), words(", embedder "), code(retrieval.embedder, 80), words(".")},
      Tone::quiet});
  section.blocks.emplace_back(std::move(table));
  return {std::move(section)};
}

}  // namespace sluice
