#pragma once

#include "common/documents/finding.hpp"
#include "common/model/judge.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A rubric as its file has it.
struct RubricFile {
  Rubric rubric;
  std::uint32_t version_line = 0;
};

/// Where a rubric's file stands: ID/VERSION.toml.
struct RubricPlace {
  std::string file;     ///< As findings name it.
  std::string id;       ///< Its folder's name.
  std::string version;  ///< Its own, without ".toml".
};

/// Reads a rubric's TOML text (docs/judges.md). Either the rubric or everything that is wrong: a missing or
/// unknown key, an id or version that is not its place's, an unknown placeholder, one outside of `user`, a
/// `user` that does not show the answer.
tl::expected<RubricFile, std::vector<Finding>> parse_rubric(std::string_view toml, const RubricPlace& place);

/// Older versions are less. Runs of digits count as numbers (v9 < v10, 2026-05-03 < 2026-11-01), all else
/// byte by byte, and what goes on longer is newer. Different texts are never equal.
std::strong_ordering compare_versions(std::string_view a, std::string_view b);

}  // namespace sluice
