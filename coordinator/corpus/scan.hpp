#pragma once

#include "coordinator/corpus/file_list.hpp"
#include "coordinator/corpus/trigger_rules.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// How much of a tree may be asked about, in tokens as token_bound counts them: of the files' texts alone.
struct ScanBudget {
  std::uint64_t tokens_per_file = 0;
  std::uint64_t tokens_per_scan = 0;
};

/// A file that is asked about.
struct ScannedFile {
  std::string path;
  std::string language;
  std::string text;  ///< With the line ends of Unix.
  std::uint64_t tokens = 0;
  Triggers triggers;
};

/// Why files are not asked about, and how many.
struct LeftOut {
  std::uint64_t other_languages = 0;  ///< Of no language that the rules have, or excluded by name.
  std::uint64_t unreadable = 0;       ///< No regular file of the tree: links that leave it, submodules.
  std::uint64_t not_text = 0;         ///< Binary, or no UTF-8; so are names.
  std::uint64_t without_trigger = 0;
  std::uint64_t same_text = 0;         ///< As a file before it, by path: one answer is that of both.
  std::uint64_t too_long = 0;          ///< Beyond the budget of a file.
  std::uint64_t beyond_scan = 0;       ///< Beyond the budget of the scan.
  std::vector<std::string> longest{};  ///< Paths of the first that are too long.
};

struct Scan {
  std::vector<ScannedFile> files;  ///< By path.
  LeftOut left_out;
  std::uint64_t tokens = 0;  ///< Of the files.
};

/// What of the tree is worth asking about. Where the scan's budget does not hold all, files with the most
/// kinds of triggers go first, then by path; one that does not fit leaves its place to the next that does.
/// REQUIRES: `paths` as list_files sorts them.
Scan scan_tree(const std::vector<std::string>& paths, const TreeReader& tree, const TriggerRules& rules,
               const ScanBudget& budget);

/// The files as the cases of a suite, each by its path: an answer that can be read passes.
Suite suite_of(const Scan& scan, std::string name);

}  // namespace sluice
