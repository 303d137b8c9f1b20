#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_checks.hpp"
#include "coordinator/import/promptfoo_tests.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

/// The check of the answer itself that says the same as this one says of what a `transform` makes of it: a
/// program runs the transform first, and some transforms can be said otherwise. Nothing if there is none,
/// which is a note; `whose` names the transform there.
std::optional<ImportedCheck> check_of_answer(ImportedCheck check, const DocumentNode& transform,
                                             std::string_view whose, const ImportFile& from);

/// Lets the checks of a test judge answers as they come, by check_of_answer.
void take_transform(ImportedTest& test, const DocumentNode& transform, std::string_view whose,
                    const ImportFile& from);

/// Lets the checks of tests, and of the default test, judge answers as they come. A test with a transform of
/// its own has the default test's checks itself, where these read the answer.
void take_transforms(ImportedTest& shared, std::vector<ImportedTest>& tests, const ImportFile& from);

}  // namespace sluice
