// Whether two past runs were held against one baseline.
#include "coordinator/cli/past_runs/baseline_of_run.hpp"

#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace sluice::baseline_of_run_test {
namespace {

/// `text`: what the copy of the run has of the file; empty: it has none.
BaselineOfRun held(const std::string& file, const std::string& text = "") {
  RunRecord run;
  run.flags = file.empty() ? R"({"mode": ["live"]})" : R"({"baseline": [")" + file + R"("]})";
  auto copy = std::make_shared<SuiteCopy>();
  if (!text.empty()) copy->files[file] = text;
  return baseline_of(run, copy);
}

TEST(BaselineOfRun, IsKnownByWhatItHeldWhereverItLies) {
  EXPECT_TRUE(are_same_baseline(held("/a/base.json", "one"), held("/b/other.json", "one")));
  EXPECT_FALSE(are_same_baseline(held("/a/base.json", "one"), held("/a/base.json", "two")))
      << "it was written anew between the runs";
  EXPECT_TRUE(are_same_baseline(held(""), held("")));
  EXPECT_FALSE(are_same_baseline(held(""), held("/a/base.json", "one")));
}

TEST(BaselineOfRun, IsKnownByItsPlaceWhereNobodyKnowsWhatItHeld) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "base.json";
  std::ofstream(file) << "{}";
  std::filesystem::create_symlink(file, folder.path() / "link.json");
  const std::string link = (folder.path() / "link.json").string();
  EXPECT_TRUE(are_same_baseline(held(file.string()), held(link)));
  EXPECT_TRUE(are_same_baseline(held(file.string(), "one"), held(link)));
  EXPECT_TRUE(are_same_baseline(held("/a/./base.json"), held("/a/base.json"))) << "of a file that is gone";
  EXPECT_FALSE(are_same_baseline(held(file.string()), held("/a/base.json")));
}

}  // namespace
}  // namespace sluice::baseline_of_run_test
