#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace sluice {

/// Typographic quotation marks, beginning and end. Some begin with the same one; the more usual is first.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 13> quotation_marks{
    {{"\u201C", "\u201D"},
     {"\u201E", "\u201C"},
     {"\u201E", "\u201D"},
     {"\u201D", "\u201D"},
     {"\u2018", "\u2019"},
     {"\u201A", "\u2018"},
     {"\u00AB", "\u00BB"},
     {"\u00BB", "\u00AB"},
     {"\u2039", "\u203A"},
     {"\u203A", "\u2039"},
     {"\u300A", "\u300B"},
     {"\u300C", "\u300D"},
     {"\u300E", "\u300F"}}};

}  // namespace sluice
