#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice {

/// A folder of its own for a test's suite files.
class SuiteFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice_suite_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file, std::ios::binary) << text;
    return folder_ / file;
  }
  /// Loads suite.yaml; a failed one ends the test.
  LoadedSuite load(const std::string& yaml) const {
    auto loaded = load_any_suite(write("suite.yaml", yaml));
    EXPECT_TRUE(loaded) << join_findings(loaded.error());
    return loaded ? std::move(*loaded) : LoadedSuite{};
  }
  /// An empty one if it cannot be loaded or read, which fails the test.
  static Case first_case(const LoadedSuite& loaded) {
    if (loaded.suite.cases.empty()) return {};
    const auto one = loaded.suite.cases.read(0);
    EXPECT_TRUE(one) << one.error().message;
    return one ? **one : Case{};
  }
  Case first_case(const std::string& yaml) const { return first_case(load(yaml)); }
  /// The findings of suite.yaml, a line each, without the folder's name.
  std::string findings(const std::string& yaml) const {
    const auto loaded = load_any_suite(write("suite.yaml", yaml));
    return loaded ? "(none)\n" : shown(loaded.error());
  }
  std::string shown(const std::vector<Finding>& findings) const {
    std::string text;
    for (const Finding& finding : findings) text += to_text(finding) + "\n";
    const std::string folder = folder_.generic_string() + "/";
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
      text.erase(at, folder.size());
    }
    return text;
  }

  std::filesystem::path folder_;
};

}  // namespace sluice
