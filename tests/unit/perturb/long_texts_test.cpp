#include "coordinator/perturb/perturbation.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes) text += piece;
  return text;
}

struct Piece {
  std::string_view language;
  std::string_view text;
};

/// What passes over the text, or over a line of it, for each piece does not come to an end here.
TEST(LongTexts, ArePassedOverOnce) {
  const std::vector<Piece> pieces{
      {"python", "#\n"},
      {"python", "# a comment of the usual length or more\n"},
      {"go", "\"C\","},
      {"go", "/**/"},
      {"c", "/**/ "},
      {"javascript", "/* */ 1;"},
      {"toml", "'a',"},
      {"toml", "\"a\",'''b''',"},
      {"javascript", "`${a}` "},
      {"javascript", "'</"},
      {"c", "*\\\n"},
      {"makefile", "define "},
      {"", "word "},
      {"", "What? 'a "},
      {"", "Say \"a\" "},
      {"", "it's (\n"},
      {"", "[a] {b} <c "},
      {"", "- \u201Ca\u201D "},
  };
  for (const auto& piece : pieces) {
    SCOPED_TRACE(std::string(piece.language) + ": " + std::string(piece.text));
    const auto text = repeated(piece.text, 1 << 20);
    for (const auto& perturbation : perturbations()) {
      const auto perturbed = perturb(perturbation, piece.language, text);
      EXPECT_EQ(perturbed.outcome == PerturbationOutcome::skipped, !perturbed.reason.empty());
    }
  }
}

TEST(LongTexts, ThatNestDeeplyAreADoubt) {
  const auto& perturbation = **perturbation_named("comments-removed");
  for (const std::string_view piece : {"f'{", "f'{a:{", "f\"{f'{", "(", "["}) {
    perturb(perturbation, "python", repeated(piece, 1 << 20));
  }
  EXPECT_EQ(perturb(perturbation, "javascript", repeated("`${", 1 << 20)).outcome,
            PerturbationOutcome::skipped);
}

}  // namespace
}  // namespace sluice
