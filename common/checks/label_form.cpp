#include "common/checks/label_form.hpp"

#include "common/model/expectation.hpp"
#include "common/text/any_case.hpp"
#include "common/text/quotation_marks.hpp"
#include "common/text/trimmed.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sluice {
namespace {

/// Each takes one thing off the text; false if it is not there.
using Peel = bool (*)(std::string_view& text);

bool peel_full_stop(std::string_view& text) {
  if (!text.ends_with('.')) return false;
  text.remove_suffix(1);
  return true;
}

bool peel_pair(std::string_view& text, std::string_view open, std::string_view close) {
  if (text.size() < open.size() + close.size() || !text.starts_with(open) || !text.ends_with(close))
    return false;
  text = text.substr(open.size(), text.size() - open.size() - close.size());
  return true;
}

bool peel_quotes(std::string_view& text) {
  return peel_pair(text, "\"", "\"") || peel_pair(text, "'", "'") ||
         std::ranges::any_of(quotation_marks,
                             [&](const auto& marks) { return peel_pair(text, marks.first, marks.second); });
}

/// `**refund**`, `_refund_`, and code, be it in a fence, whose first line says at most the language.
bool peel_markdown(std::string_view& text) {
  constexpr std::size_t longest = 3;
  constexpr std::string_view marks = "*_`";
  if (text.empty() || marks.find(text.front()) == std::string_view::npos) return false;
  const char mark = text.front();
  const auto run = std::min(text.find_first_not_of(mark), text.size());
  const auto end = text.find_last_not_of(mark);
  if (run > longest || end == std::string_view::npos || text.size() - end - 1 != run) return false;
  text = text.substr(run, end + 1 - run);
  const auto line_end = mark == '`' && run == longest ? text.find('\n') : std::string_view::npos;
  if (line_end != std::string_view::npos) text.remove_prefix(line_end + 1);
  return true;
}

}  // namespace

Result<std::string> label_form(std::string_view text) {
  std::array<Peel, 3> peels{peel_full_stop, peel_quotes, peel_markdown};
  text = trimmed(text);
  // Each once, whichever is outermost.
  for (auto peel = peels.begin(); peel != peels.end();) {
    if (*peel == nullptr || !(*peel)(text)) {
      ++peel;
      continue;
    }
    *peel = nullptr;
    text = trimmed(text);
    peel = peels.begin();
  }
  constexpr std::size_t far_longer = 4 * most_label_bytes;
  if (text.size() > far_longer) return std::string();
  return in_small_letters(text);
}

}  // namespace sluice
