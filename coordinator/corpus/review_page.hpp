#pragma once

#include "coordinator/suite/case.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// A fixture as `sluice review` shows it: what it expects, and the code with numbers of lines, in lines of at
/// most `columns`. `place` is how the heading counts it ("2 of 9"), `file` where it lies.
std::string review_page(const Case& fixture, std::string_view place, std::string_view file,
                        std::size_t columns);

}  // namespace sluice
