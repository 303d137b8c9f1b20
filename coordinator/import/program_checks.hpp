#pragma once

#include "coordinator/import/foreign_program.hpp"
#include "coordinator/import/promptfoo_checks.hpp"
#include "coordinator/import/promptfoo_tests.hpp"

#include <set>
#include <string>
#include <vector>

namespace sluice {

/// Whether one of them, or of their parts, is a program.
bool run_programs(const std::vector<ImportedCheck>& checks);

/// The variables that a test has, by itself or by the default test. A program may read any of them.
std::set<std::string, std::less<>> variables_of(const ImportedTest& test, const ImportedTest& defaults);

/// What the programs of a test read. Values that are texts are handed over as `{{name}}`, others as they are:
/// a program gets the types of the configuration.
ProgramInput program_input(const ImportedTest& test, const ImportedTest& defaults, bool is_json);

/// Gives the programs among a check and its parts their entries of `expected`, and the variables that these
/// hold. The groups that they are in are made anew by bound_check.
void finish_programs(ImportedCheck& check, const ProgramInput& input);

/// Whether `input` of the tests asks for answers by a schema: there their programs get no text, but its
/// value.
bool answers_are_values(const DocumentNode& input);

/// A note of each part of a group that is a program.
void note_lost_scores(const std::vector<ImportedCheck>& parts, const ImportFile& from);

}  // namespace sluice
