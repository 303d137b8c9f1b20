#pragma once

#include "coordinator/defaults.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Foreign text as plain words of Markdown: no markup, no HTML, no table cell's end, and no mention or issue
/// link. It is cut so that the result has at most `max_bytes`.
std::string markdown_words(std::string_view text, std::size_t max_bytes = defaults::span_bytes);
/// Foreign text as code, in a fence longer than any row of backticks inside; cut like words.
std::string markdown_code(std::string_view text, std::size_t max_bytes = defaults::span_bytes);
/// Words in which a pair of backticks sets code apart (a command, a name), so that it can be copied as it
/// stands; what only looks like one of a pair is a word. Cut like words.
std::string markdown_sentence(std::string_view text, std::size_t max_bytes = defaults::span_bytes);

/// A list that takes entries while there is room. Once one does not fit, none after it is taken: a list with
/// holes would look whole.
class BoundedText {
 public:
  explicit BoundedText(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// `counts` is how much is left out with it, at least 1.
  void add(std::string_view entry, std::uint64_t counts = 1);

  const std::string& text() const { return text_; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  std::size_t max_bytes_;
  std::string text_;
  std::uint64_t left_out_ = 0;
};

}  // namespace sluice
