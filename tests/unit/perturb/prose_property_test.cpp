// What the perturbations of prose keep, whatever the text.
#include "common/text/text.hpp"
#include "coordinator/perturb/perturbation.hpp"
#include "coordinator/perturb/segments.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

/// Words and sentences, and among them what the scanner looks for.
std::string any_prose() {
  const auto word = rc::gen::element<std::string>(
      "What ", "The ", "capital ", "country ", "important ", "don't ", "isn't ", "people. ", "people.",
      "Why? ", "of ", "a ", "following\n", "Please ", "planets, ", "Über ", "schön. ", "哪里", "J. ", "(see ",
      "below). ", "number-like ", ".", " ", ":");
  const auto other = rc::gen::element<std::string>(
      "\n", "\r\n", "\n\n", "\r\n\r\n", "```", "```\n", "~~~\n", "`", "\"", "'", " '", "' ", "{", "}", "[",
      "](", ")", "<b>", "</b>", "<", "\u201C", "\u201D", "\u2018", "\u2019", "\u201E", "| ", "> ", "    ",
      "\t", "- ", "# ", "1. ", "42 ", "jo@example.com ", "https://a.b/c ", "/usr/lib ", "some_name ", "NASA ",
      "...", "x = 1;\n", "format: ", "\xEF\xBB\xBF", "<!-- ", " -->", "<% ", " %>", "<?", "?>", "\u201A",
      "\u2039", "\u203A", "\u300E", "\u300F", "- name: ", "runs-on: ", "Dr. ");
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::weightedOneOf<std::string>({{6, word}, {1, other}}));
  std::string text;
  for (const auto& piece : pieces) text += piece;
  return text;
}

/// What is no word of a sentence, piece by piece.
std::vector<std::string> kept(std::string_view text) {
  std::vector<std::string> pieces;
  std::size_t end = 0;
  for (const auto& segment : cut_into_segments(Language::prose, text).segments) {
    RC_ASSERT(segment.begin == end && segment.begin < segment.end);
    end = segment.end;
    if (segment.kind != SegmentKind::code)
      pieces.emplace_back(text.substr(segment.begin, segment.end - segment.begin));
  }
  RC_ASSERT(end == text.size());
  return pieces;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string sorted(std::string text) {
  std::ranges::sort(text);
  return text;
}

/// The changed text differs from the text by nothing but what the perturbation is for.
bool is_as_declared(std::string_view name, const std::string& text, const std::string& changed) {
  if (name == "double-spaces") {
    const auto single = [](std::string one) { return replaced(std::move(one), "  ", " "); };
    return changed.size() > text.size() && single(single(changed)) == single(single(text));
  }
  if (name == "typos") return changed.size() == text.size() && sorted(changed) == sorted(text);
  if (name == "lowercase-start") return to_lower(changed) == to_lower(text);
  if (name == "curly-apostrophes") return replaced(changed, "\u2019", "'") == replaced(text, "\u2019", "'");
  const auto last = text.find_last_not_of(" \t\r\n");
  return name == "final-stop" && text[last] == '.' && std::string(text).erase(last, 1) == changed;
}

RC_GTEST_PROP(ProseProperty, WhatIsNoWordIsKept, ()) {
  const auto text = any_prose();
  const auto before = kept(text);
  for (const auto& perturbation : perturbations()) {
    if (!perturbation.of_prose) continue;
    RC_LOG() << perturbation.name << '\n';
    const auto perturbed = perturb(perturbation, "", text);
    RC_ASSERT(perturbed == perturb(perturbation, "", text));
    RC_ASSERT((perturbed.outcome == PerturbationOutcome::skipped) == !perturbed.reason.empty());
    if (perturbed.outcome != PerturbationOutcome::changed) continue;
    RC_ASSERT(kept(perturbed.text) == before);
    RC_ASSERT(is_as_declared(perturbation.name, text, perturbed.text));
    RC_ASSERT(invalid_utf8_at(text).has_value() || !invalid_utf8_at(perturbed.text).has_value());
    RC_ASSERT(std::ranges::count(perturbed.text, '\r') == std::ranges::count(text, '\r'));
  }
}

/// But for typos: a second round finds nothing to change.
RC_GTEST_PROP(ProseProperty, OnceIsEnough, ()) {
  const auto text = any_prose();
  for (const auto& perturbation : perturbations()) {
    if (!perturbation.of_prose || perturbation.name == "typos") continue;
    const auto once = perturb(perturbation, "", text);
    if (once.outcome != PerturbationOutcome::changed) continue;
    RC_ASSERT(perturb(perturbation, "", once.text).outcome != PerturbationOutcome::changed);
  }
}

/// Enough of the texts above are prose, and change.
TEST(ProsePropertyTest, AnOrdinaryTextChangesInEachWay) {
  const std::string text = "What is the capital? The people don't know.";
  for (const auto& perturbation : perturbations()) {
    if (!perturbation.of_prose) continue;
    EXPECT_EQ(perturb(perturbation, "", text).outcome, PerturbationOutcome::changed) << perturbation.name;
  }
}

}  // namespace
}  // namespace sluice
