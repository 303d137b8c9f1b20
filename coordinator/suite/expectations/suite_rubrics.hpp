#pragma once

#include "common/documents/finding.hpp"
#include "common/hash.hpp"
#include "common/model/judge.hpp"
#include "coordinator/suite/expectations/rubric_file.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A rubric that a test may name.
struct KnownRubric {
  Rubric rubric;
  Digest hash{};
  std::vector<std::string> placeholders;
  bool is_shipped = false;
  std::string file;  ///< As findings name it.

  bool shows(std::string_view placeholder) const;
  /// "faithfulness v1"
  std::string name() const { return rubric.id + " " + rubric.version; }
};

/// The shipped rubrics and those of a suite's folders, and which of them its tests use. Adding is not
/// thread-safe; then `use` is, and what it returns stays as long as this.
class SuiteRubrics {
 public:
  /// Those under config/rubrics; a finding names what is wrong with one.
  void add_shipped(std::vector<Finding>& findings);
  /// ID/VERSION.toml below a folder that `files` has found. What is hidden, and links to folders, is passed
  /// over. `opened` gets every file that was read. REQUIRES: the shipped ones are there, and none is in use.
  void add_folder(const std::filesystem::path& folder, const SuiteFolder& files,
                  std::vector<FileIdentity>& opened, std::vector<Finding>& findings);

  struct Use {
    std::uint32_t number = 0;  ///< Position in `used`; the same whenever the rubric is used again.
    const KnownRubric* known = nullptr;
  };
  /// That there is no such rubric, or no such version of it.
  struct Missing {
    bool is_version = false;
    std::string message;  ///< Begins with "names".
  };
  /// The rubric of that version; without one the newest of the suite's own, or else the newest shipped one.
  tl::expected<Use, Missing> use(std::string_view id, const std::optional<std::string>& version);
  std::vector<Rubric> used() const;
  /// The same rubrics, none of them used: for who only looks.
  std::shared_ptr<SuiteRubrics> copy() const;

 private:
  using Versions = std::vector<KnownRubric>;  ///< Shipped ones first, then the oldest.

  void add_file(const std::filesystem::path& path, const SuiteFolder& files,
                std::vector<FileIdentity>& opened, std::vector<Finding>& findings);
  void add(RubricFile read, std::string file, bool is_shipped, std::vector<Finding>& findings);
  Missing missing(std::string_view id) const;

  std::map<std::string, Versions, std::less<>> by_id_;
  mutable std::mutex
      mutex_;  ///< Guards the following. Tests of a JSON Lines file are read again by any thread.
  std::vector<const KnownRubric*> used_;
};

}  // namespace sluice
