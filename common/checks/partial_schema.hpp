#pragma once

#include <nlohmann/json_fwd.hpp>

/// Inside common/checks only.
namespace sluice {

/// What of a JSON Schema holds for each part of a value that fits it: for objects of which members are
/// missing, at every depth. Left out is all that further members could mend (`required`, `not`, `oneOf` but
/// for one that fits), and all that sluice does not assess (keywords of later drafts, patterns of other
/// engines, references to elsewhere). An object with `properties` that says nothing of others has no others.
/// REQUIRES: a document of bounded depth.
nlohmann::json partial_schema(const nlohmann::json& schema);

}  // namespace sluice
