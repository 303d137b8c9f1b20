#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// The beginning of a text in quotes with JSON's escapes: one line, short enough that a metric's detail holds
/// a few of them.
std::string quoted_for_detail(std::string_view text);

}  // namespace sluice
