#include "coordinator/report/document.hpp"

#include "coordinator/display/numbers.hpp"

namespace sluice::document {

std::string with_line_signs(std::string_view text) {
  constexpr std::string_view line_end = "⏎";
  constexpr std::string_view carriage_return = "␍";
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\r') {
      out += carriage_return;
    } else if (text[at] == '\n') {
      out += line_end;
      // Where words begin behind it, the line may be broken.
      const bool goes_on =
          at + 1 < text.size() && std::string_view(" \t\r\n").find(text[at + 1]) == std::string_view::npos;
      if (goes_on) out += ' ';
    } else {
      out += text[at];
    }
  }
  return out;
}

Rest more_in_json() {
  return [](std::uint64_t count) { return wording::grouped(count) + " more; `--format json` has all"; };
}

Rest and_more(std::string_view noun) {
  return [noun = "more " + std::string(noun)](std::uint64_t count) {
    return "and " + wording::counted(count, noun) + "; `--format json` has all";
  };
}

std::string titled(const std::string& heading, const std::optional<std::uint64_t>& count) {
  return count ? heading + " (" + wording::grouped(*count) + ")" : heading;
}

}  // namespace sluice::document
