#include "coordinator/suite/expectations/suite_rubrics.hpp"

#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/text/text.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/fixtures/fixture_folder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

RubricPlace place_of(const fs::path& path, std::string file) {
  return {std::move(file), path.parent_path().filename().string(), path.stem().string()};
}

/// What stands in a folder, but for what is hidden, by name.
std::vector<FolderEntry> entries_of(const fs::path& folder, const SuiteFolder& files,
                                    std::vector<Finding>& findings) {
  auto entries = files.entries(folder);
  if (!entries) {
    findings.push_back({folder.generic_string(), 0, "the folder " + entries.error().message});
    return {};
  }
  std::erase_if(*entries, [](const FolderEntry& entry) { return is_hidden(entry.path); });
  std::ranges::sort(*entries, {}, [](const FolderEntry& entry) { return entry.path.native(); });
  return std::move(*entries);
}

bool is_folder(const FolderEntry& entry) {
  return entry.kind == FolderEntry::Kind::folder;
}

}  // namespace

bool KnownRubric::shows(std::string_view placeholder) const {
  return std::ranges::find(placeholders, placeholder) != placeholders.end();
}

void SuiteRubrics::add_shipped(std::vector<Finding>& findings) {
  for (const embedded::EmbeddedFile& file : embedded::rubrics) {
    const std::string name = "built-in " + std::string(file.path);
    auto read = parse_rubric(file.text, place_of(file.path, name));
    if (read) {
      add(std::move(*read), name, true, findings);
    } else {
      std::ranges::move(read.error(), std::back_inserter(findings));
    }
  }
}

void SuiteRubrics::add_folder(const fs::path& folder, const SuiteFolder& files,
                              std::vector<FileIdentity>& opened, std::vector<Finding>& findings) {
  std::vector<fs::path> paths;
  const std::size_t findings_before = findings.size();
  for (const FolderEntry& entry : entries_of(folder, files, findings)) {
    if (is_folder(entry)) {
      for (const FolderEntry& below : entries_of(entry.path, files, findings)) {
        if (below.path.extension() == ".toml" && !is_folder(below)) paths.push_back(below.path);
      }
    } else if (entry.path.extension() == ".toml") {
      findings.push_back({entry.path.generic_string(), 0,
                          "must stand in a folder of the rubric's id: rubrics are files ID/VERSION.toml"});
    }
  }
  if (paths.empty() && findings.size() == findings_before) {
    findings.push_back({folder.generic_string(), 0, "there is no rubric (ID/VERSION.toml) in the folder"});
  }
  for (const fs::path& path : paths) add_file(path, files, opened, findings);
}

void SuiteRubrics::add_file(const fs::path& path, const SuiteFolder& files, std::vector<FileIdentity>& opened,
                            std::vector<Finding>& findings) {
  const std::string file = path.generic_string();
  const auto text = files.read(files.name_of(path), defaults::max_rubric_bytes, &opened);
  if (!text) {
    findings.push_back({file, 0, "the rubric " + text.error().message});
    return;
  }
  auto read = parse_rubric(*text, place_of(path, file));
  if (read) {
    add(std::move(*read), file, false, findings);
  } else {
    std::ranges::move(read.error(), std::back_inserter(findings));
  }
}

void SuiteRubrics::add(RubricFile read, std::string file, bool is_shipped, std::vector<Finding>& findings) {
  Versions& versions = by_id_[read.rubric.id];
  const auto same = std::ranges::find(versions, read.rubric.version,
                                      [](const KnownRubric& known) { return known.rubric.version; });
  if (same != versions.end()) {
    const std::string other = same->is_shipped ? "of a shipped rubric" : "of " + same->file;
    findings.push_back({std::move(file), read.version_line,
                        "\"version\" is that " + other + " with the same id: give it another"});
    return;
  }
  KnownRubric known;
  known.rubric = std::move(read.rubric);
  known.hash = rubric_hash(known.rubric);
  known.placeholders = placeholders_of(known.rubric);
  known.is_shipped = is_shipped;
  known.file = std::move(file);
  const auto is_older = [](const KnownRubric& a, const KnownRubric& b) {
    if (a.is_shipped != b.is_shipped) return a.is_shipped;
    return compare_versions(a.rubric.version, b.rubric.version) < 0;
  };
  const auto place = std::ranges::upper_bound(versions, known, is_older);
  versions.insert(place, std::move(known));
}

SuiteRubrics::Missing SuiteRubrics::missing(std::string_view id) const {
  std::vector<std::string> ids;
  for (const auto& [known, versions] : by_id_) ids.push_back(known);
  const std::vector<std::string_view> candidates(ids.begin(), ids.end());
  return {false, "names the rubric \"" + excerpt(id, defaults::quoted_bytes) +
                     "\", which there is not; there are " + quoted_list(ids) + did_you_mean(id, candidates)};
}

tl::expected<SuiteRubrics::Use, SuiteRubrics::Missing> SuiteRubrics::use(
    std::string_view id, const std::optional<std::string>& version) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return tl::unexpected(missing(id));
  const Versions& versions = found->second;
  auto wanted = std::prev(versions.end());
  if (version) {
    wanted =
        std::ranges::find(versions, *version, [](const KnownRubric& known) { return known.rubric.version; });
  }
  if (wanted == versions.end()) {
    std::vector<std::string> names;
    for (const KnownRubric& known : versions) names.push_back(known.rubric.version);
    return tl::unexpected(Missing{true, "names \"" + excerpt(*version, defaults::quoted_bytes) +
                                            "\", which the rubric \"" + found->first +
                                            "\" does not have; it has " + quoted_list(names)});
  }
  const KnownRubric* known = &*wanted;
  const std::lock_guard lock(mutex_);
  auto use = std::ranges::find(used_, known);
  if (use == used_.end()) use = used_.insert(use, known);
  return Use{static_cast<std::uint32_t>(use - used_.begin()), known};
}

std::shared_ptr<SuiteRubrics> SuiteRubrics::copy() const {
  auto same = std::make_shared<SuiteRubrics>();
  same->by_id_ = by_id_;
  return same;
}

std::vector<Rubric> SuiteRubrics::used() const {
  const std::lock_guard lock(mutex_);
  std::vector<Rubric> rubrics;
  for (const KnownRubric* known : used_) rubrics.push_back(known->rubric);
  return rubrics;
}

}  // namespace sluice
