#pragma once

#include "common/documents/table_reader.hpp"
#include "coordinator/suite/thresholding.hpp"

namespace sluice {

/// Reads the keys of `thresholding`. A key that has no effect under the mode that stands beside it, or under
/// the `general` one that it is merged with, is a finding.
Thresholding read_thresholding(TableReader reader, const Thresholding& general);
/// Those of the suite, which may set `statistical` as well.
Thresholding read_suite_thresholding(TableReader reader);

}  // namespace sluice
