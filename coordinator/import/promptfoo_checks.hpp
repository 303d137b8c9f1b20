#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

/// A check as an entry of `expected`, with keys in the order of writing.
struct ImportedCheck {
  DocumentNode expectation;
  std::string type;  ///< As a suite names it.
  bool is_scored = false;
  std::set<std::string, std::less<>> variables{};
};

/// Reads `assert` of a test, or of the default test: what has no counterpart becomes notes. `templates` are
/// the configuration's `assertionTemplates`, or null. With a `pass_mark` (0 to 1), the share of their weight
/// that must pass, they are one group.
std::vector<ImportedCheck> import_checks(const DocumentNode& assertions, const DocumentNode* templates,
                                         const ImportFile& from, std::optional<double> pass_mark = {});

/// A test has one score of a kind: rubrics of one are joined to one that asks for all, of others the first
/// stays, which is a note.
std::vector<ImportedCheck> with_one_of_each_score(std::vector<ImportedCheck> checks, const ImportFile& from);

}  // namespace sluice
