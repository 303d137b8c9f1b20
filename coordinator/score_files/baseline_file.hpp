#pragma once

#include "common/documents/finding.hpp"
#include "common/error.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/output/sink.hpp"

#include <filesystem>
#include <istream>
#include <string>

#include <tl/expected.hpp>

namespace sluice {

/// Reads a baseline file, schema version 1 (docs/baselines.md), piece by piece: memory holds the entries
/// alone. A finding names the place (line, and the path of the key like `entries[3].score`): truncated or no
/// JSON, another schema_version (with what to do), a missing, mistyped, duplicate or over-long field, a score
/// that is not a number in 0..1 (NaN, 1e400), a pair (test_id, metric) twice, nesting beyond 32 levels, more
/// than 1 GiB. Unknown keys are left out, so that files of newer minor versions load. `file` is for findings.
/// The first problem ends the reading.
tl::expected<Baseline, Finding> parse_baseline(std::istream& text, const std::string& file);
/// The same from a file; one that cannot be read, or is a folder, is a finding.
tl::expected<Baseline, Finding> load_baseline(const std::filesystem::path& file);

/// Writes the file's text: keys in the documented order, entries sorted, one a line, numbers in their
/// shortest form that reads back as the same double. Equal baselines give equal bytes. REQUIRES: sealed.
void write_baseline(const Baseline& baseline, Sink& sink);
/// Dates the baseline as the file is, if the file would otherwise be written as it is: its date says when
/// these scores were first pinned. No other file, and none, dates it.
void keep_date_if_unchanged(Baseline& baseline, const std::filesystem::path& file);

}  // namespace sluice
