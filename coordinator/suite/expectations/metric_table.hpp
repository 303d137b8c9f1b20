#pragma once

#include "common/documents/document.hpp"
#include "common/documents/table_reader.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/expectations/metric_types.hpp"

#include <optional>
#include <string>

namespace sluice {

/// The table of a metric in `expected`, or of a part of one.
struct MetricTable {
  TableReader reader;
  const MetricType& type;
};

/// One whose `type` is known; of another it is said what is wrong. `name` is what findings call it, `suite`
/// the suite's thresholding.
std::optional<MetricTable> open_metric(const DocumentNode& node, const std::string& name,
                                       const DocumentContext& context, const Thresholding& suite);

/// Keys of promptfoo's checks become findings that say what the metric calls them.
void refuse_foreign_keys(TableReader& reader, const MetricType& type);

/// Keys of metrics with other parameters become findings; not the name of a score.
void refuse_other_keys(TableReader& reader, const MetricType& type);

/// Limits of a metric without a score become findings.
void refuse_limits(TableReader& reader, const MetricType& type);

}  // namespace sluice
