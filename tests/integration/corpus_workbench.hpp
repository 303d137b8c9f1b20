#pragma once

#include "tests/support/workbench.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace sluice::corpus_test {

using namespace support;
namespace fs = std::filesystem;

/// A workbench with a tree of code, and the corpus that is made of it.
class CorpusWorkbench : public Workbench {
 protected:
  fs::path tree() const { return folder() / "tree"; }
  fs::path out() const { return folder() / "out"; }

  Flags generate(const SimulatorProcess& simulator, const Flags& more = {}) const {
    return Flags{"generate-corpus",      "--scan-path", tree().string(), "--output-dir", out().string(),
                 "--provider",           "openai",      "--model",       "sim-1",        "--base-url",
                 simulator.url() + "/v1"} +
           more;
  }

  /// One finding each, of one category: `count` files whose names and texts begin with the language's own.
  void write_files(const std::string& extension, const std::string& comment, const std::string& line,
                   int count) const {
    for (int i = 0; i < count; ++i) {
      const std::string name = "part" + std::to_string(i % 7) + "/file" + std::to_string(i) + "." + extension;
      write_text(tree() / name, comment + " number " + std::to_string(i) + "\n" + line + "\n");
    }
  }

  /// 520 files in five languages with one finding each, and 30 without a trigger.
  void write_tree() const {
    write_files("py", "#", "response = requests.get(url, verify=False)", 240);
    write_files("go", "//", "const hook = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"", 120);
    write_files("js", "//", "const user = jwt.decode(token);", 90);
    write_files("java", "//", "http.anyRequest().permitAll();", 50);
    write_files("c", "//", "srand(time(0));", 20);
    write_files("cpp", "//", "int nothing = 1;", 30);
  }

  /// The fixtures below a folder by their category, each path relative to it.
  static std::map<std::string, std::set<std::string>> written(const fs::path& folder) {
    std::map<std::string, std::set<std::string>> files;
    if (!fs::exists(folder)) return files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path relative = entry.path().lexically_relative(folder);
      if (entry.path().extension() == ".toml" && !relative.native().starts_with('.'))
        files[relative.parent_path().string()].insert(relative.filename().string());
    }
    return files;
  }
  static std::map<std::string, std::size_t> counts(const fs::path& folder) {
    std::map<std::string, std::size_t> sizes;
    for (const auto& [category, files] : written(folder)) sizes[category] = files.size();
    return sizes;
  }
  static std::string all_text(const fs::path& folder) {
    std::string text;
    for (const auto& [category, files] : written(folder)) {
      for (const std::string& file : files) text += file + "\n" + read_text(folder / category / file);
    }
    return text;
  }
};

}  // namespace sluice::corpus_test
