#pragma once

#include <string_view>

namespace sluice {

// The words and bytes by which JavaScript and TypeScript are cut.

/// Behind it an expression begins.
bool is_operator_word(std::string_view word);
/// A name in one place and an operator in another.
bool is_unsure_word(std::string_view word);
/// Behind its parenthesis a statement begins.
bool is_statement_head(std::string_view word);
/// Behind its parenthesis braces are a statement's block.
bool is_block_head(std::string_view word);

bool is_name_byte(char c);
/// Of an element's name.
bool is_tag_byte(char c);
/// A space that is none of ASCII's stands in a word (ECMA-262, 12.2 and 12.3): its bytes look like a
/// letter's.
bool holds_wide_space(std::string_view word);

}  // namespace sluice
