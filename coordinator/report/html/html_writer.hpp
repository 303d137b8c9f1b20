#pragma once

#include "coordinator/output/sink.hpp"
#include "coordinator/report/document.hpp"

namespace sluice {

/// Writes the head, the verdict and the sections of a document as HTML, all foreign text escaped.
void write_html(const document::Document& document, BufferedWriter& writer);

}  // namespace sluice
