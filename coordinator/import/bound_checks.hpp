#pragma once

#include "common/text/template.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_checks.hpp"

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// Gives a check its entry of `expected`.
void finish(ImportedCheck& check, DocumentNode expectation);

/// The same by what it asks for, unless that needs the values of a test (bound_check). The error is a clause
/// that says why it has none.
tl::expected<void, std::string> finish(ImportedCheck& check, CheckSource source);

/// Makes one check of the parts; false if one of them is a model's to judge, which no group takes. A part
/// that needs a test's values leaves it unfinished.
bool make_group(ImportedCheck& group);
/// A note that a check's weight is lost: it has one in a group alone.
void note_weight(const ImportedCheck& check, const ImportFile& from);

/// The checks with those of sets in their place. A set's weight is lost, which is a note.
std::vector<ImportedCheck> with_sets_flat(std::vector<ImportedCheck> checks, const ImportFile& from);

/// Whether the values of a test decide what the check is (depends_on_values).
bool depends_on_values(const ImportedCheck& check, const Variables& values);
/// Whether it can stand in no default test, whatever the values are.
bool needs_values(const ImportedCheck& check);
/// The check for these values, which are written into it where they decide what it is. Nothing if there is
/// none, which is a note. Programs have theirs by finish_programs, before this.
std::optional<ImportedCheck> bound_check(ImportedCheck check, const Variables& values,
                                         const ImportFile& from);

/// All checks of a test as one group, by its threshold. Those that a model judges cannot be in one: then they
/// stay as they are, which is a note. So is that a set passes as a whole or not.
std::vector<ImportedCheck> in_one_group(std::vector<ImportedCheck> checks, double pass_mark,
                                        const ImportFile& from, std::uint32_t line);

}  // namespace sluice
