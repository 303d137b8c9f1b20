#pragma once

#include "common/error.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// What of a text is compared where it is read as a label: without white space around it, one full stop at
/// its end, one pair of quotes, and Markdown's emphasis or code around it, in any order; in small letters.
/// Texts of the same form are the same label. Empty: it is no label, as nothing is that is far longer than
/// labels are. Errors as of in_small_letters.
Result<std::string> label_form(std::string_view text);

}  // namespace sluice
