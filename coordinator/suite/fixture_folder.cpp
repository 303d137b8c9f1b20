#include "coordinator/suite/fixture_folder.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/suite/fingerprint.hpp"
#include "coordinator/suite/fixture.hpp"
#include "coordinator/suite/halves.hpp"
#include "coordinator/suite/manifest.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// The fixture files below a folder, sorted, so that findings come in the same order on every file system.
class FixtureFinder {
 public:
  FixtureFinder(const fs::path& root, const SuiteFolder& files, std::vector<Finding>& findings)
      : root_(root), folder_(files), findings_(findings) {}

  std::vector<fs::path> find() {
    pending_.push_back(root_);
    while (!pending_.empty()) {
      const fs::path folder = std::move(pending_.back());
      pending_.pop_back();
      read_folder(folder);
    }
    // By their text: comparing paths takes them apart each time.
    std::sort(files_.begin(), files_.end(),
              [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
    return std::move(files_);
  }

 private:
  void read_folder(const fs::path& folder) {
    auto entries = folder_.entries(folder);
    if (!entries)
      return findings_.push_back({folder.generic_string(), 0, "the folder " + entries.error().message});
    for (FolderEntry& entry : *entries) take(std::move(entry));
  }

  void take(FolderEntry entry) {
    if (is_hidden(entry.path)) return;
    // A link to a folder could lead back to where it stands.
    if (entry.kind == FolderEntry::Kind::linked_folder) return;
    if (entry.kind == FolderEntry::Kind::folder) {
      pending_.push_back(std::move(entry.path));
    } else if (entry.path.extension() == ".toml") {
      files_.push_back(std::move(entry.path));
    }
  }

  const fs::path& root_;
  const SuiteFolder& folder_;
  std::vector<Finding>& findings_;
  std::vector<fs::path> pending_;
  std::vector<fs::path> files_;
};

/// What the suite calls the files that were found below a folder. Names are cut out of the paths' text: paths
/// take each other apart.
class NamesBelow {
 public:
  NamesBelow(const fs::path& folder, const SuiteFolder& files)
      : begin_(folder.native().size() + (folder.native().ends_with('/') ? 0 : 1)) {
    const std::string name = files.name_of(folder).generic_string();
    if (name != ".") prefix_ = name + (name.ends_with('/') ? "" : "/");
  }
  std::string of(const fs::path& path) const { return prefix_ + path.native().substr(begin_); }

 private:
  std::size_t begin_;
  std::string prefix_;
};

struct LoadedFixture {
  ParsedFixture parsed;
  CaseFingerprints fingerprints;
};

LoadedFixture load_fixture(const fs::path& path, const NamesBelow& names, const SuiteFolder& files) {
  const std::string& file = path.native();
  std::string name = names.of(path);
  const auto text = files.read(name, defaults::max_fixture_bytes);
  LoadedFixture loaded;
  if (!text) {
    loaded.parsed.findings.push_back({file, 0, "the fixture " + text.error().message});
    return loaded;
  }
  loaded.parsed = parse_fixture(*text, file);
  loaded.parsed.fixture.source = std::move(name);
  loaded.fingerprints = case_fingerprints(loaded.parsed.fixture);
  return loaded;
}

std::vector<LoadedFixture> load_fixtures(const std::vector<fs::path>& paths, const NamesBelow& names,
                                         const SuiteFolder& files) {
  std::vector<LoadedFixture> fixtures(paths.size());
  in_halves(paths.size(), [&](std::size_t from, std::size_t to, std::size_t) {
    for (std::size_t i = from; i < to; ++i) fixtures[i] = load_fixture(paths[i], names, files);
  });
  return fixtures;
}

std::optional<Manifest> load_manifest(const fs::path& path, const SuiteFolder& files, std::size_t fixtures,
                                      std::vector<Finding>& findings) {
  const std::string file = path.generic_string();
  const auto text = files.read(files.name_of(path), defaults::max_fixture_bytes);
  if (!text) {
    findings.push_back({file, 0, "the manifest " + text.error().message});
    return std::nullopt;
  }
  ParsedManifest parsed = parse_manifest(*text, file);
  const auto total = parsed.manifest.total_fixtures;
  if (total && *total != fixtures) {
    parsed.findings.push_back(
        {file, parsed.total_line,
         "\"total_fixtures\" in [corpus] is " + std::to_string(*total) +
             (fixtures == 1 ? ", but there is 1 fixture in the folder"
                            : ", but there are " + std::to_string(fixtures) + " fixtures in the folder")});
  }
  std::move(parsed.findings.begin(), parsed.findings.end(), std::back_inserter(findings));
  return std::move(parsed.manifest);
}

}  // namespace

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

std::optional<Manifest> add_fixture_folder(const fs::path& folder, const SuiteFolder& files,
                                           SuiteBuilder& builder, std::vector<Finding>& findings) {
  const std::size_t findings_before = findings.size();
  std::vector<fs::path> paths = FixtureFinder(folder, files, findings).find();
  const fs::path manifest_path = folder / "manifest.toml";
  const bool has_manifest = std::erase(paths, manifest_path) != 0;
  if (paths.empty() && findings.size() == findings_before) {
    std::string suite = ".yaml";
    for (const char* usual : {"suite.yaml", "suite.yml"}) {
      if (files.open_file(usual)) suite = (folder / usual).generic_string();
    }
    findings.push_back(
        {folder.generic_string(), 0,
         "there is no fixture (*.toml) in the folder; of a suite name the file (" + suite + ")"});
  }
  auto fixtures = load_fixtures(paths, NamesBelow(folder, files), files);
  for (std::size_t i = 0; i < fixtures.size(); ++i) {
    ParsedFixture& parsed = fixtures[i].parsed;
    std::move(parsed.findings.begin(), parsed.findings.end(), std::back_inserter(findings));
    const std::uint32_t number = builder.add_file(paths[i].generic_string());
    builder.add(std::move(parsed.fixture), fixtures[i].fingerprints, {number, parsed.id_line});
  }
  if (!has_manifest) return std::nullopt;
  return load_manifest(manifest_path, files, paths.size(), findings);
}

}  // namespace sluice
