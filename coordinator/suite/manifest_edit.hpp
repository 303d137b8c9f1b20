#pragma once

#include "common/error.hpp"
#include "coordinator/suite/case.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// The text of a manifest.toml with another baseline. Only the values of the baseline's keys change, whether
/// it is written as a [baseline] table, as dotted keys or as an inline table of one line; keys that are new
/// stand after the last one that was there, keys that have no value any more go with their line, and a table
/// that is not there yet is appended. Everything else stays byte by byte: comments, order, line ends.
/// fixture_invalid, with file and line: the text is no valid manifest, or its baseline is written in a way
/// that cannot be edited so. REQUIRES: scores in 0..1. Pure.
Result<std::string> with_baseline(std::string_view manifest, const AggregateBaseline& baseline,
                                  const std::string& file);

}  // namespace sluice
