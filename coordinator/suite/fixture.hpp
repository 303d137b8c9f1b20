#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/suite/case.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What the text of a fixture came to. The case is meant for use only if there are no findings.
struct ParsedFixture {
  Case fixture;
  std::uint32_t id_line = 0;  ///< Where the id stands, for messages about duplicates.
  std::vector<Finding> findings;
};

/// Reads a TOML fixture and collects everything that is wrong with it. Required are
/// `id` and `category` in [metadata] and `content` in [input] (which may be empty); without [expected] the
/// case expects no claims; weight is 1 and min_confidence 0 unless [scoring] says otherwise. `file` names the
/// text in findings and becomes the case's source. CR LF counts as LF. Pure; any bytes may come in.
ParsedFixture parse_fixture(std::string_view toml, const std::string& file);

class TableReader;
/// The optional `known_failure` of a fixture or a test: true, or why it fails; false is as good as without
/// it.
std::optional<std::string> read_known_failure(TableReader& reader);
/// The optional `weight` of a fixture or a test: more than 0 and at most 1000, by default 1.
double read_weight(TableReader& reader);

}  // namespace sluice
