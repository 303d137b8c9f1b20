#include "common/text/text.hpp"
#include "coordinator/perturb/language.hpp"
#include "coordinator/perturb/perturbation.hpp"
#include "coordinator/perturb/segments.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using sluice::Language;
using sluice::SegmentKind;

constexpr std::array languages{Language::python, Language::javascript, Language::typescript,
                               Language::rust,   Language::go,         Language::java,
                               Language::c,      Language::cpp,        Language::makefile,
                               Language::toml,   Language::json,       Language::prose};

void require(bool holds) {
  if (!holds) __builtin_trap();
}

/// Without gap or overlap.
sluice::Segmentation cut(Language language, std::string_view text) {
  auto cut = sluice::cut_into_segments(language, text);
  std::size_t end = 0;
  for (const auto& segment : cut.segments) {
    require(segment.begin == end && segment.begin < segment.end);
    end = segment.end;
  }
  require(end == text.size());
  // That a text is no prose is said of it as a whole.
  if (cut.doubt) require((cut.doubt->line > 0 || language == Language::prose) && !cut.doubt->what.empty());
  return cut;
}

/// What no perturbation may touch: the bytes of all but comments, white space apart.
std::string substance(const sluice::Segmentation& segmentation, std::string_view text) {
  std::string result;
  for (const auto& segment : segmentation.segments) {
    if (segment.kind == SegmentKind::line_comment || segment.kind == SegmentKind::block_comment) continue;
    for (const char c : text.substr(segment.begin, segment.end - segment.begin)) {
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') result += c;
    }
  }
  return result;
}

/// Where a tool reads comments (above `import "C"`) the comment on top looks like one of these.
std::string without_comment_on_top(std::string substance) {
  constexpr std::string_view on_top = "//Thisfileispartoftheproject.";
  if (const auto at = substance.find(on_top); at != std::string::npos) substance.erase(at, on_top.size());
  return substance;
}

/// The text of such a directive counts as a string, and a comment that is taken out of it as a blank in it.
bool holds_message(Language language, std::string_view text) {
  if (language != Language::c && language != Language::cpp) return false;
  constexpr std::array<std::string_view, 4> names{"error", "warning", "pragma", "region"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return text.find(name) != std::string_view::npos; });
}

/// Strings to the byte, but for the line ends in them.
std::vector<std::string> strings(const sluice::Segmentation& segmentation, std::string_view text) {
  std::vector<std::string> result;
  for (const auto& segment : segmentation.segments) {
    if (segment.kind != SegmentKind::string) continue;
    auto& one = result.emplace_back();
    for (const char c : text.substr(segment.begin, segment.end - segment.begin)) {
      if (c != '\r' && c != '\n') one += c;
    }
    if (one.empty()) result.pop_back();
  }
  return result;
}

void check(Language language, std::string_view text) {
  const auto before = cut(language, text);
  for (const auto& perturbation : sluice::perturbations()) {
    const auto perturbed = sluice::perturb(perturbation, sluice::to_string(language), text);
    const bool changed = perturbed.outcome == sluice::PerturbationOutcome::changed;
    const bool skipped = perturbed.outcome == sluice::PerturbationOutcome::skipped;
    require(skipped == !perturbed.reason.empty());
    require(changed || perturbed.text.empty());
    if (!changed) continue;
    require(!before.doubt && perturbed.text != text);
    const auto after = cut(language, perturbed.text);
    require(!after.doubt);
    const auto kept = substance(before, text);
    const auto found = substance(after, perturbed.text);
    require(found == kept ||
            (perturbation.name == "comment-on-top" && without_comment_on_top(found) == kept));
    require(holds_message(language, text) || strings(before, text) == strings(after, perturbed.text));
  }
}

std::vector<std::string> kept_of_prose(std::string_view text) {
  std::vector<std::string> kept;
  for (const auto& segment : cut(Language::prose, text).segments) {
    if (segment.kind != SegmentKind::code)
      kept.emplace_back(text.substr(segment.begin, segment.end - segment.begin));
  }
  return kept;
}

/// Of prose all but the words of sentences stays.
void check_prose(std::string_view text) {
  const auto kept = kept_of_prose(text);
  for (const auto& perturbation : sluice::perturbations()) {
    if (!perturbation.of_prose) continue;
    const auto perturbed = sluice::perturb(perturbation, "", text);
    require((perturbed.outcome == sluice::PerturbationOutcome::skipped) == !perturbed.reason.empty());
    if (perturbed.outcome != sluice::PerturbationOutcome::changed) continue;
    require(perturbed.text != text && kept_of_prose(perturbed.text) == kept);
    if (!sluice::invalid_utf8_at(text)) require(!sluice::invalid_utf8_at(perturbed.text));
  }
}

}  // namespace

/// Any bytes may be said to be of any language: they are cut without a crash in a time that grows with their
/// size, and whatever is changed has the same strings and the same code,
/// and in prose the same of all that is no word.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Language language : languages)
    language == Language::prose ? check_prose(text) : check(language, text);
  return 0;
}
