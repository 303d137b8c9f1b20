#pragma once

#include "coordinator/perturb/perturbation.hpp"
#include "coordinator/perturb/source.hpp"

#include <string>

namespace sluice {

/// What each perturbation of the catalogue does to a text whose segments are certain. Pure.
Perturbed add_trailing_whitespace(const Source& source);
Perturbed tabs_to_spaces(const Source& source);
Perturbed spaces_to_tabs(const Source& source);
Perturbed add_comment_on_top(const Source& source);
Perturbed remove_comments(const Source& source);
Perturbed to_crlf(const Source& source);
Perturbed add_blank_lines(const Source& source);
Perturbed toggle_final_newline(const Source& source);

/// The same for prose.
Perturbed double_spaces(const Source& source);
Perturbed add_typos(const Source& source);
Perturbed lowercase_starts(const Source& source);
Perturbed remove_final_stop(const Source& source);
Perturbed curl_apostrophes(const Source& source);
/// A word of the prose by which it speaks of letters, spelling or punctuation, which changes of its form
/// might answer; empty for none.
std::string_view word_about_form(const Source& source);

/// changed, or unchanged if the two are equal.
Perturbed changed_from(std::string_view before, std::string after);
Perturbed skipped(std::string reason);

}  // namespace sluice
