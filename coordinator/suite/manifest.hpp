#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/suite/case.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What the text of a manifest.toml came to.
struct ParsedManifest {
  Manifest manifest;
  std::uint32_t total_line = 0;  ///< Where total_fixtures stands.
  std::vector<Finding> findings;
};

/// Reads a manifest.toml: [corpus] and [baseline], all of it optional. Pure.
ParsedManifest parse_manifest(std::string_view toml, const std::string& file);

}  // namespace sluice
