#pragma once

#include "common/documents/document.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A `transform` in JavaScript that can be said without it: what it does to the answer.
struct ForeignTransform {
  bool trims = false;               ///< `output.trim()`
  bool lowers = false;              ///< `output.toLowerCase()`
  std::vector<std::string> path{};  ///< `JSON.parse(output).a.b`: the members; else empty.
};
/// Nothing for any other.
std::optional<ForeignTransform> read_transform(std::string_view script);

/// Whether it is no `transform`: null, or an empty text.
bool keeps_answer(const DocumentNode& transform);
/// Whether it takes off the white space at the answer's ends, and does nothing else.
bool only_trims(const DocumentNode& transform);

/// The check that says of the answer itself what `check` says of the transformed one, whose white space at
/// the ends still has to be taken off where it trims (CheckSource::is_trimmed); nothing if there is none that
/// is equal.
std::optional<ForeignCheck> check_of_answer(ForeignCheck check, const ForeignTransform& transform);

}  // namespace sluice
