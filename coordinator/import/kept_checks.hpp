#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/foreign_program.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_checks.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Who embeds for a check, by the check's own word.
struct NamedEmbedder {
  DocumentNode provider;
  std::string identity;  ///< As identity_of_embedder has it.
  std::string file;
  std::uint32_t line;
};

/// What the checks of a suite need of its settings, and of a run.
struct CheckNeeds {
  bool is_judged = false;
  bool is_embedded = false;
  std::vector<NamedEmbedder> embedders{};     ///< In the order of the checks, which a suite has one for.
  bool takes_usual_embedder = false;          ///< A check names none.
  std::optional<DocumentNode> grader{};       ///< The provider that all checks name which a model judges.
  std::optional<std::uint32_t> timed_line{};  ///< Of the first check of `latency`.
  bool is_priced = false;                     ///< By a check of `cost`.
  std::map<ForeignProgram::Language, std::size_t> programs{};  ///< So many checks are programs.
};

/// Gathers what checks need that stand in the suite. What they let pass becomes notes.
class KeptChecks {
 public:
  /// `judge` is the suite's (identity_of), where it has one.
  KeptChecks(const ImportFile& from, std::string judge) : from_(from), judge_(std::move(judge)) {}
  void add(const std::vector<ImportedCheck>& checks);
  /// Of all that were added.
  CheckNeeds take();

 private:
  void add_embedder(const ImportedCheck& check);
  void note_lost_name(const ImportedCheck& part) const;

  using Places = std::set<std::pair<std::string, std::uint32_t>>;  ///< Files and lines.

  const ImportFile& from_;
  std::string judge_;
  CheckNeeds needs_{};
  std::map<std::string, Places> graded_{};  ///< Where judges of checks are named, by the judge.
  Places embedded_{};                       ///< Where embedders are.
};

}  // namespace sluice
