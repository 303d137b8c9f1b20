#include "coordinator/report/table_cases.hpp"

#include "coordinator/report/judgement_wording.hpp"
#include "coordinator/report/wording.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

using wording::CaseLine;
using wording::CaseLineKind;

Colour colour_of(CaseLineKind kind) {
  switch (kind) {
    case CaseLineKind::expected:
      return Colour::green;
    case CaseLineKind::rationale:
      return Colour::dim;
    case CaseLineKind::unexpected:
      return Colour::yellow;
    case CaseLineKind::repeats:
    case CaseLineKind::detail:
      return Colour::none;
    case CaseLineKind::score:
    case CaseLineKind::got:
    case CaseLineKind::nothing_got:
    case CaseLineKind::forbidden:
      return Colour::red;
  }
  return Colour::none;
}

/// A case with what is said of it.
struct ListedCase {
  std::string title;
  std::vector<CaseLine> lines;
};

class ShortList {
 public:
  /// Makes the entry only if it is shown.
  void add(const std::function<ListedCase()>& make) {
    ++count_;
    if (shown_.size() < max_listed_cases) shown_.push_back(make());
  }
  bool empty() const { return count_ == 0; }
  std::uint64_t count() const { return count_; }
  const std::vector<ListedCase>& shown() const { return shown_; }
  std::uint64_t left_out() const { return count_ - shown_.size(); }

 private:
  std::uint64_t count_ = 0;
  std::vector<ListedCase> shown_;
};

class CaseSections {
 public:
  CaseSections(const ReportInput& input, TablePage& page) : input_(input), page_(page) {}

  Result<void> write() {
    const Totals& all = input_.aggregates.all;
    const bool any_listed = all.regressed + all.improved + all.missing_entries + all.statuses.warned +
                                all.statuses.flaky + all.statuses.errors >
                            0;
    if (any_listed) {
      if (auto gathered = gather(); !gathered) return gathered;
    }
    write_list("Regressions", regressions_);
    if (all.statuses.failed > all.regressed) {
      if (auto failures = write_failures(all.statuses.failed - all.regressed); !failures) return failures;
    }
    write_list("Improvements", improvements_);
    write_list("Warnings", warnings_);
    write_missing();
    write_errors();
    return {};
  }

 private:
  Result<void> gather() {
    return visit_cases(input_.results, [&](const CaseResult& result) {
      errors_.add(result);
      const auto whole_story = [&] {
        return ListedCase{wording::title(result.fixture), wording::story(result, details_)};
      };
      const std::string missing = wording::missing_entries(result);
      if (!missing.empty()) {
        missing_.add([&] { return ListedCase{result.fixture.id + ": " + missing, {}}; });
      }
      if (result.judgement.regressed) regressions_.add(whole_story);
      if (result.judgement.improved) {
        improvements_.add([&] {
          return ListedCase{wording::title(result.fixture) + ": " + wording::improvements(result), {}};
        });
      }
      const bool warns = result.status == CaseStatus::warn || result.status == CaseStatus::flaky;
      if (warns && missing.empty()) warnings_.add(whole_story);
    });
  }

  // Streamed: a run may fail in a million cases, and whoever asks for the table wants them all.
  Result<void> write_failures(std::uint64_t count) {
    page_.heading("Failures (" + wording::grouped(count) + ")");
    return visit_cases(input_.results, [&](const CaseResult& result) {
      if (result.status != CaseStatus::fail || result.judgement.regressed) return;
      write_case({wording::title(result.fixture), wording::story(result, details_)});
      page_.passed();
    });
  }

  void write_case(const ListedCase& listed) {
    page_.title(listed.title);
    for (const CaseLine& line : listed.lines) {
      page_.entry(std::string(wording::label_of(line.kind)) + ":", line.text, 4, colour_of(line.kind));
    }
  }

  void write_list(std::string_view name, const ShortList& list) {
    if (list.empty()) return;
    page_.heading(std::string(name) + " (" + wording::grouped(list.count()) + ")");
    for (const ListedCase& listed : list.shown()) write_case(listed);
    if (list.left_out() > 0) {
      page_.entry("", wording::grouped(list.left_out()) + " more; the JSON report has them all", 2,
                  Colour::dim);
    }
  }

  void write_missing() {
    if (missing_.empty()) return;
    write_list("Not in the baseline", missing_);
    page_.entry("", "To pin them, where the results are known to be good: " + wording::how_to_pin(input_), 2,
                Colour::none);
  }

  void write_errors() {
    if (errors_.by_reason().empty()) return;
    page_.heading("Errors (" + wording::grouped(input_.aggregates.all.statuses.errors) + ")");
    for (const auto& [reason, group] : errors_.by_reason()) {
      page_.title(std::string(to_string(reason)) + " (" + wording::grouped(group.count) +
                  "): " + wording::ids(group));
      page_.entry("First:", group.first_message, 4, Colour::red);
      if (!group.first_answer.empty()) page_.entry("Answer:", group.first_answer, 4, Colour::none);
    }
  }

  const ReportInput& input_;
  TablePage& page_;
  CaseDetails details_;
  ShortList regressions_;
  ShortList improvements_;
  ShortList warnings_;
  ShortList missing_;
  wording::ErrorGroups errors_;
};

}  // namespace

Result<void> write_table_cases(const ReportInput& input, TablePage& page) {
  return CaseSections(input, page).write();
}

}  // namespace sluice
