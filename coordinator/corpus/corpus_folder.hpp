#pragma once

#include "common/documents/finding.hpp"
#include "common/error.hpp"
#include "coordinator/suite/case.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A fixture that is there, with its file.
struct CorpusFixture {
  Case fixture;
  std::string file;  ///< Its path.
  std::string text;
};

/// A folder of fixtures that programs and people work on.
struct Corpus {
  std::map<std::string, CorpusFixture, std::less<>> fixtures;  ///< By id.
  std::set<std::string, std::less<>> rejected;                 ///< Ids.
};

/// Reads the folder; one that is not there yet, or holds no fixture, is empty. What keeps its fixtures from
/// loading is a finding: whatever is written beside them would not load either.
tl::expected<Corpus, std::vector<Finding>> read_corpus(const std::filesystem::path& folder);

/// What became of generated fixtures.
struct WrittenFixtures {
  std::uint64_t added = 0;
  std::uint64_t renewed = 0;      ///< Were there as generated, with something else in them.
  std::uint64_t unchanged = 0;    ///< Were there as generated.
  std::uint64_t left_out = 0;     ///< Would not load: too large, as one.
  std::vector<std::string> kept;  ///< Files that somebody has changed, accepted or moved.
};

/// Writes each fixture to FOLDER/CATEGORY/ID.toml, each file whole or not at all. A file that is not as it
/// was generated, or changes meanwhile, stays as it is, whatever its id. What would not load is not
/// written, since it would keep the folder from loading. output_failed, with what was written before.
Result<WrittenFixtures> write_fixtures(const std::filesystem::path& folder, const Corpus& corpus,
                                       std::span<const Case> fixtures);

/// Whether the file still holds what was read: somebody else may be at work on it.
bool is_as_read(const CorpusFixture& fixture);

/// Replaces the file of a fixture. output_failed, also if the file is not as it was read.
Result<void> replace_fixture(const CorpusFixture& fixture, const std::string& text);

/// Moves the fixture to FOLDER/.rejected/, which no suite reads: no generation brings it back as long as it
/// lies there. output_failed, also if the file is not as it was read, the id is no name of a file, or another
/// of its name lies there.
Result<void> reject_fixture(const std::filesystem::path& folder, const CorpusFixture& fixture);

}  // namespace sluice
