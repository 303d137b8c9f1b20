#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/report/report_document.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace document;
using Label = ConfusionMatrix::Label;

std::string with_noun(std::uint64_t count, const char* one, const char* several) {
  return wording::grouped(count) + (count == 1 ? one : several);
}

/// Builds the blocks of one arm's answers, at one path.
class LabelBlocks {
 public:
  /// `paths`: so many share what room there is.
  LabelBlocks(const LabelledAnswers& answers, const ReportInput& input, std::size_t paths)
      : answers_(answers), matrix_(answers.matrix), names_(answers.names), paths_(paths) {
    if (input.redactor == nullptr) return;
    for (std::string& name : names_) input.redactor->apply(name);
  }

  /// `Accuracy 0.83 (10 of 12 answers), macro F1 0.81.`, and what is none of the labels or not counted.
  std::string summary() const {
    std::string text = "Accuracy " + wording::score(matrix_.accuracy()) + " (" +
                       wording::grouped(matrix_.right()) + " of " +
                       wording::counted(matrix_.answers(), "answer") + "), macro F1 " +
                       wording::score(matrix_.macro_f1()) + ".";
    if (const auto none = matrix_.none(); none > 0)
      text += " " + with_noun(none, " answer is", " answers are") + " none of the labels.";
    if (const auto out = answers_.left_out; out > 0)
      text += " " + with_noun(out, " answer", " answers") + " ended in an error and " +
              (out == 1 ? "is" : "are") + " not counted.";
    return text;
  }

  void add_to(std::vector<Block>& blocks, CaseLists cases) const {
    blocks.emplace_back(label_table());
    if (Notes pairs = confused_pairs(); !pairs.items.empty()) {
      blocks.emplace_back(Paragraph{"Confused, most frequent first:"});
      blocks.emplace_back(std::move(pairs));
    }
    if (cases == CaseLists::left_out && names_.size() <= defaults::max_matrix_labels)
      blocks.emplace_back(whole_matrix());
  }

 private:
  /// Of many labels those that are classified worst.
  std::vector<Label> shown_labels() const {
    std::vector<Label> labels(names_.size());
    std::iota(labels.begin(), labels.end(), Label{0});
    if (labels.size() <= defaults::max_shown_labels) return labels;
    std::ranges::stable_sort(labels, {},
                             [this](Label label) { return matrix_.of(label).f1().value_or(2.0); });
    labels.resize(defaults::max_shown_labels);
    return labels;
  }

  Table label_table() const {
    Table table{
        .columns = {column("Label"), number("Support"), number("Precision"), number("Recall"), number("F1")},
        .whole_names = true};
    const std::vector<Label> labels = shown_labels();
    table.share = {.most_bytes = defaults::max_label_bytes / paths_,
                   .left_out = names_.size() - labels.size(),
                   .rest = and_more("label")};
    for (const Label label : labels) {
      const LabelFigures& one = matrix_.of(label);
      table.rows.push_back(
          {{words(names_[label], 80), wording::grouped(one.support), wording::score(one.precision()),
            wording::score(one.recall()), wording::score(one.f1())}});
    }
    return table;
  }

  Notes confused_pairs() const {
    const auto confused = matrix_.confused();
    Notes notes;
    for (const auto& [pair, count] : confused) {
      if (notes.items.size() == defaults::max_confused_pairs) break;
      const auto& [expected, said] = pair;
      const Span other = said ? code(names_[*said], 80) : words("none of the labels");
      notes.items.push_back({{words("expected "), code(names_[expected], 80), words(", said "), other,
                              words(": " + wording::grouped(count))}});
    }
    notes.share = {.most_bytes = defaults::max_confused_bytes / paths_,
                   .left_out = confused.size() - notes.items.size(),
                   .rest = and_more("pair")};
    return notes;
  }

  Table whole_matrix() const {
    Table table{.columns = {column("Expected, by row; said, by column")}};
    for (const std::string& name : names_) table.columns.push_back(number(name));
    table.columns.push_back(number("(none of them)"));
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto expected = static_cast<Label>(i);
      Row row{{names_[i]}};
      for (std::size_t j = 0; j < names_.size(); ++j) {
        const std::string count = wording::grouped(matrix_.count(expected, static_cast<Label>(j)));
        row.cells.emplace_back(i == j ? strong(count) : words(count));
      }
      row.cells.emplace_back(wording::grouped(matrix_.count(expected, std::nullopt)));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  const LabelledAnswers& answers_;
  const ConfusionMatrix& matrix_;
  std::vector<std::string> names_;
  std::size_t paths_;
};

Table arm_table(std::span<const LabelledAnswers> by_arm, const RunArms& arms, std::size_t paths) {
  Table table{.columns = {column("Arm"), number("Answers"), number("Accuracy"), number("Macro F1"),
                          spare_number("No label"), spare_number("Errors")},
              .share = {.most_bytes = defaults::max_label_bytes / paths, .rest = and_more("arm")},
              .whole_names = true};
  for (const LabelledAnswers& answers : by_arm) {
    const ConfusionMatrix& matrix = answers.matrix;
    table.rows.push_back({{words(arms.arms.at(answers.arm).name, 80), wording::grouped(matrix.answers()),
                           wording::score(matrix.accuracy()), wording::score(matrix.macro_f1()),
                           wording::grouped(matrix.none()), wording::grouped(answers.left_out)}});
  }
  return table;
}

/// The answers of all arms at one path.
Section section_of(std::span<const LabelledAnswers> by_arm, const ReportInput& input, CaseLists cases,
                   std::size_t paths) {
  const std::string& path = by_arm.front().path;
  constexpr std::size_t most_path_bytes = 160;
  Section section{.heading = path.empty() ? "Labels" : "Labels at " + excerpt(path, most_path_bytes),
                  .rank = Rank::scores};
  if (input.arms == nullptr) {
    const LabelBlocks blocks(by_arm.front(), input, paths);
    section.blocks.emplace_back(Paragraph{blocks.summary()});
    blocks.add_to(section.blocks, cases);
    return section;
  }
  section.blocks.emplace_back(arm_table(by_arm, *input.arms, paths));
  for (const LabelledAnswers& answers : by_arm) {
    if (cases != CaseLists::left_out) break;
    Fold fold{.summary = input.arms->arms.at(answers.arm).name};
    const LabelBlocks blocks(answers, input, paths);
    fold.blocks.emplace_back(Paragraph{blocks.summary()});
    blocks.add_to(fold.blocks, cases);
    section.blocks.emplace_back(std::move(fold));
  }
  return section;
}

}  // namespace

std::vector<Section> label_sections(const ReportInput& input, CaseLists cases) {
  if (input.labels == nullptr) return {};
  const std::span<const LabelledAnswers> all(*input.labels);
  std::vector<std::span<const LabelledAnswers>> by_path;
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && all[last].path == all[first].path) ++last;
    by_path.push_back(all.subspan(first, last - first));
  }
  const std::size_t shown = std::min(by_path.size(), defaults::max_label_paths);
  std::vector<Section> sections;
  for (std::size_t i = 0; i < shown; ++i) sections.push_back(section_of(by_path[i], input, cases, shown));
  if (by_path.size() > shown) {
    sections.back().blocks.emplace_back(
        Paragraph{sentence("`--format json` has the labels at " +
                           wording::counted(by_path.size() - shown, "further path") + ".")});
  }
  return sections;
}

}  // namespace sluice
