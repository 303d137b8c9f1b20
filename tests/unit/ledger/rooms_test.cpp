#include "tests/support/paths.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Adds every header that the file reaches, each as it is named in its `#include`.
void follow(const fs::path& file, std::set<std::string>& reached) {
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("#include ")) continue;
    const auto end = line.find_first_of("\">", 10);
    const std::string named = line.substr(10, end == std::string::npos ? end : end - 10);
    if (reached.insert(named).second && line[9] == '"') follow(support::source_path(named), reached);
  }
}

TEST(Rooms, NothingPureReachesTheLedger) {
  std::size_t files = 0;
  for (const char* room : {"dispatch", "facts", "gate", "governor", "merge", "observations", "perturb",
                           "plan", "report", "run", "session", "statistics", "suite"}) {
    for (const auto& entry :
         fs::directory_iterator(support::source_path(std::string("coordinator/") + room))) {
      if (!entry.is_regular_file()) continue;
      ++files;
      std::set<std::string> reached;
      follow(entry.path(), reached);
      for (const std::string& header : reached) {
        EXPECT_FALSE(header.starts_with("coordinator/ledger/") || header.starts_with("SQLiteCpp/"))
            << entry.path() << " reaches " << header;
      }
    }
  }
  EXPECT_GT(files, 100u);
}

TEST(Rooms, FactsHaveNothingToCompile) {
  for (const auto& entry : fs::directory_iterator(support::source_path("coordinator/facts"))) {
    EXPECT_EQ(entry.path().extension(), ".hpp") << entry.path();
  }
}

}  // namespace
}  // namespace sluice
