#pragma once

#include "coordinator/output/sink.hpp"
#include "coordinator/report/document.hpp"

#include <string_view>

namespace sluice {

struct MarkdownStyle {
  std::string_view numeric_column = "---:";  ///< What says that a column stands to the right.
};

/// The document as Markdown for a comment: the most urgent sections first, each list as long as its share,
/// what is of use to some readers folded.
void write_markdown(const document::Document& document, const MarkdownStyle& style, Sink& sink);

}  // namespace sluice
