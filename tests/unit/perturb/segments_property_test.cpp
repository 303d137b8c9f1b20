#include "coordinator/perturb/language.hpp"
#include "coordinator/perturb/perturbation.hpp"
#include "coordinator/perturb/segments.hpp"

#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

constexpr std::array languages{Language::python,   Language::javascript, Language::typescript, Language::rust,
                               Language::go,       Language::java,       Language::c,          Language::cpp,
                               Language::makefile, Language::toml,       Language::json};

/// Texts made of what scanners look for, and of any bytes.
std::string any_source() {
  const auto word = rc::gen::element<std::string>(
      "'", "\"", "`", "'''", "\"\"\"", "/", "//", "///", "/*", "*/", "/**", "#", "#!", "#include <",
      "#error ", "\\", "\n", "\r\n", "\n\n", "\r", "  ", "\t", " ", "{", "}", "${", "(", "$(", ")", "((", "[",
      "]", "<", "</a>", "<a ", ">", "/>", "<<E\n", "E\n", "|\n", ">+\n", "- ", ": ", "key: ", "? ", "---\n",
      "%", "f\"", "r#\"", "R\"x(", ")x\"", "rb'", "1'0", "return ", "if (a) ", "case ", "import \"C\"",
      "//go:build x", "define A\n", "endef\n", "\\u0022", "\xEF\xBB\xBF", "\xC3\xA9", "\xE2\x80\xA8",
      "coding: utf-8", "function ", "class ", "export define A\n", "// Output:", "\f", "*\\\n", "1.", "...",
      "a", "b");
  const auto byte = rc::gen::map(rc::gen::arbitrary<char>(), [](char c) { return std::string(1, c); });
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::weightedOneOf<std::string>({{20, word}, {1, byte}}));
  std::string text;
  for (const auto& piece : pieces) text += piece;
  return text;
}

RC_GTEST_PROP(SegmentsProperty, JoinedAreTheText, ()) {
  const auto text = any_source();
  const auto language = *rc::gen::elementOf(languages);
  std::size_t end = 0;
  for (const auto& segment : cut_into_segments(language, text).segments) {
    RC_ASSERT(segment.begin == end);
    RC_ASSERT(segment.begin < segment.end);
    end = segment.end;
  }
  RC_ASSERT(end == text.size());
}

RC_GTEST_PROP(SegmentsProperty, APrefixIsCutWithoutHarm, ()) {
  const auto text = any_source();
  const auto language = *rc::gen::elementOf(languages);
  const auto size = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
  const auto cut = cut_into_segments(language, std::string_view(text).substr(0, size));
  RC_ASSERT((size == 0) == cut.segments.empty());
}

/// Non-blank bytes that are no comment's, in order: what no perturbation may touch. Above `import "C"` the
/// comment on top looks like one that cgo reads.
std::string substance(Language language, std::string_view text) {
  std::string result;
  for (const auto& segment : cut_into_segments(language, text).segments) {
    const auto part = text.substr(segment.begin, segment.end - segment.begin);
    if (segment.kind == SegmentKind::line_comment || segment.kind == SegmentKind::block_comment) continue;
    for (const char c : part) {
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') result += c;
    }
  }
  constexpr std::string_view on_top = "//Thisfileispartoftheproject.";
  if (const auto at = result.find(on_top); at != std::string::npos) result.erase(at, on_top.size());
  return result;
}

RC_GTEST_PROP(PerturbationProperty, KeepsEverythingButCommentsAndWhiteSpace, ()) {
  const auto text = any_source();
  const auto language = *rc::gen::elementOf(languages);
  RC_LOG() << to_string(language) << '\n';
  for (const auto& perturbation : perturbations()) {
    RC_LOG() << perturbation.name << '\n';
    const auto perturbed = perturb(perturbation, to_string(language), text);
    RC_ASSERT(perturbed == perturb(perturbation, to_string(language), text));
    if (perturbed.outcome != PerturbationOutcome::changed) {
      RC_ASSERT(perturbed.text.empty());
      RC_ASSERT((perturbed.outcome == PerturbationOutcome::skipped) == !perturbed.reason.empty());
      continue;
    }
    RC_ASSERT(perturbed.text != text);
    RC_ASSERT_FALSE(cut_into_segments(language, perturbed.text).doubt.has_value());
    RC_ASSERT(substance(language, perturbed.text) == substance(language, text));
  }
}

}  // namespace
}  // namespace sluice
