#pragma once

#include "common/error.hpp"
#include "coordinator/suite/case.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// A generated fixture as a TOML file. Its first line, a comment, seals what follows, so that it shows
/// whether anybody has changed the file since.
std::string sealed_fixture(const Case& fixture);

/// Whether the file is as sealed_fixture made it.
bool is_sealed(std::string_view file);

/// Whether any expectation still asks for a review.
bool awaits_review(const Case& fixture);

/// The file with every expectation marked as reviewed, and without its seal; all else, comments too, stays.
/// `name` is how messages call it. fixture_invalid where that cannot be done in its text.
Result<std::string> accepted_fixture(std::string_view file, const std::string& name);

}  // namespace sluice
