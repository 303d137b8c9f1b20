#pragma once

#include "coordinator/import/promptfoo_config.hpp"
#include "coordinator/import/suite_yaml.hpp"
#include "coordinator/suite/suite_loader.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace sluice {

/// A configuration of promptfoo in a folder of its own, and the suite that it becomes.
class Promptfoo : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  /// What the configuration comes to; its suite must load.
  ImportedSuite import(const std::string& config, const std::string& name = "promptfooconfig.yaml") const {
    write(name, config);
    auto imported = import_promptfoo(folder_.path() / name, {});
    EXPECT_TRUE(imported) << join_findings(imported.error());
    if (!imported) return {};
    write("suite.yaml", suite_yaml(imported->suite));
    const auto loaded = load_any_suite(folder_.path() / "suite.yaml");
    EXPECT_TRUE(loaded) << join_findings(loaded.error()) << "\n" << suite_yaml(imported->suite);
    return std::move(*imported);
  }
  /// The suite behind its first line, with the notes as comments.
  std::string suite(const std::string& config, const std::string& name = "promptfooconfig.yaml") const {
    const ImportedSuite imported = import(config, name);
    std::string text = suite_yaml(imported.suite);
    text.erase(0, text.find('\n') + 1);
    for (const Finding& note : imported.notes)
      text += "# " + std::to_string(note.line) + ": " + note.message + "\n";
    return text;
  }
  std::string notes(const std::string& config) const { return notes_of(import(config)); }
  static std::string notes_of(const ImportedSuite& imported) {
    std::string text;
    for (const Finding& note : imported.notes) text += to_text(note) + "\n";
    return text;
  }

  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static std::size_t lost(const ImportedSuite& imported, Loss loss) {
    return imported.losses[static_cast<std::size_t>(loss)];
  }

  support::TemporaryFolder folder_;
};

}  // namespace sluice
