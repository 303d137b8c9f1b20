#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/check_source.hpp"
#include "coordinator/import/foreign_program.hpp"
#include "coordinator/import/import_source.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A check as an entry of `expected`, with keys in the order of writing.
struct ImportedCheck {
  DocumentNode expectation{};  ///< Empty as long as it needs the values of a test (bound_check).
  std::string type{};          ///< As a suite names it; empty as long as that.
  bool is_scored = false;
  std::set<std::string, std::less<>> variables{};
  std::shared_ptr<const CheckSource> source{};      ///< Of one that is neither a program nor a group.
  std::shared_ptr<const ForeignProgram> program{};  ///< Where it is one; finish_programs makes its entry.
  std::shared_ptr<const ForeignProgram> script{};   ///< The program that it is there, where texts say it.
  std::string foreign_type{};
  std::string score_name{};  ///< That it counts towards there; empty: none.
  Leniency leniency{};
  std::optional<double> weight{};      ///< Among others of a group.
  std::vector<ImportedCheck> parts{};  ///< Of a group.
  double pass_mark = 0;                ///< Of a group.
  bool is_set = false;  ///< A group that all must pass: its checks themselves, where nothing weighs it.
  std::optional<DocumentNode> grader{};         ///< The provider that it names to judge or embed,
  std::string judge{};                          ///< the same as identity_of has it; empty: that of the suite,
  std::optional<DocumentNode> rubric_prompt{};  ///< and the prompt.
  std::string file{};
  std::uint32_t line = 1;
};

/// The checks of a configuration that others refer to.
struct AssertionTemplates {
  const DocumentNode* table = nullptr;  ///< Its `assertionTemplates`, or null.
  std::string file{};                   ///< That they stand in.
};

/// What a judge is asked by there; a suite has rubrics for that.
inline constexpr std::string_view rubric_prompt_key = "rubricPrompt";
/// The end of a note on a key of a check, or of the options of a test, which says what becomes of it.
std::string why_left_out(std::string_view key);

/// A note that a check is left out; `why` is a clause.
void leave_out(const ImportedCheck& check, const std::string& why, const ImportFile& from);

/// Reads `assert` of a test, or of the default test: what has no counterpart becomes notes.
std::vector<ImportedCheck> import_checks(const DocumentNode& assertions, const AssertionTemplates& templates,
                                         const ImportFile& from);

}  // namespace sluice
