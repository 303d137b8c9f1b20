// The bytes of every message, pinned: a change of the wire without a new protocol_version shows here. With
// SLUICE_UPDATE_GOLDEN set the files are written anew; read the difference before you keep it.
#include "tests/support/paths.hpp"
#include "tests/wire/samples.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

std::string hex_lines(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
    if (i % 32 == 31 && i + 1 < bytes.size()) text += '\n';
  }
  return text + '\n';
}

void expect_golden(const std::string& name, const std::string& text) {
  const auto path = support::source_path("tests/wire/golden/" + name + ".hex");
  if (std::getenv("SLUICE_UPDATE_GOLDEN")) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, golden) << path;
}

TEST(Golden, EveryMessageHasItsBytes) {
  for (const auto& sample : samples::all()) {
    const auto frames = samples::frames_of(sample);
    expect_golden(sample.name, hex_lines(frames.header) + hex_lines(frames.body));
  }
}

TEST(Golden, AResultOfTheLedgerHasItsBytes) {
  expect_golden("result", hex_lines(encode_result(samples::scored_result())));
}

TEST(Golden, HeaderIsMagicVersionAndType) {
  EXPECT_EQ(encode(Goodbye{"x"}).header, std::string_view("SL\x09\x05", 4));
  EXPECT_EQ(encode(Drain{"r", "x"}).header, std::string_view("SL\x09\x15", 4));
}

}  // namespace
}  // namespace sluice::wire
