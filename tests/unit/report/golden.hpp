#pragma once

#include "tests/support/paths.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace sluice {

/// Compares with tests/unit/report/golden/NAME. SLUICE_UPDATE_GOLDEN=1 writes the file instead: read the
/// difference before it is kept.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = support::source_path("tests/unit/report/golden/" + name);
  if (std::getenv("SLUICE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    FAIL() << name << " was written anew; run again without SLUICE_UPDATE_GOLDEN";
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << "no golden file " << path;
  const std::string golden((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, golden);
}

}  // namespace sluice
