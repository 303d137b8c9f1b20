#pragma once

#include <string_view>

namespace sluice {

/// The share of a text's bytes that are marks of Markdown: of headings, lists, quotes, code, emphasis, tables
/// and links. 0..1; 0 of an empty text. A rough measure, to put answers in an order: a star between spaces is
/// none, a bar always is one.
double markup_share(std::string_view text);

}  // namespace sluice
