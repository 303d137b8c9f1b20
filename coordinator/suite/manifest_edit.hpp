#pragma once

#include "common/error.hpp"
#include "coordinator/suite/case.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// The text of a manifest.toml with another baseline, in a plain [baseline] table: a key a line, without
/// quotes around keys. Only the values of its keys change; keys that are new stand after the last one that
/// was there, keys that have no value any more go with their line, and a table that is not there yet is
/// appended. Everything else stays byte by byte: comments, order, line ends. fixture_invalid: the text is no
/// valid manifest (with file and line), or its baseline is written in another way (with what to write by
/// hand). REQUIRES: scores in 0..1. Pure.
Result<std::string> with_baseline(std::string_view manifest, const AggregateBaseline& baseline,
                                  const std::string& file);

}  // namespace sluice
