#include "coordinator/suite/suite_loader.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "common/table_reader.hpp"
#include "common/text.hpp"
#include "coordinator/suite/fixture.hpp"
#include "coordinator/suite/manifest.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Below this a second thread costs more than it saves.
constexpr std::size_t files_worth_a_thread = 500;

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

/// The fixture files below a folder, sorted, so that findings come in the same order on every file system.
class FixtureFinder {
 public:
  FixtureFinder(const fs::path& root, std::vector<Finding>& findings) : root_(root), findings_(findings) {}

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
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    while (!error && entries != fs::directory_iterator()) {
      take(*entries);
      entries.increment(error);
    }
    if (error)
      findings_.push_back({folder.generic_string(), 0, "the folder cannot be read: " + error.message()});
  }

  void take(const fs::directory_entry& entry) {
    if (is_hidden(entry.path())) return;
    std::error_code error;
    if (entry.is_directory(error)) {
      // A link to a folder could lead back to where it stands.
      if (!entry.is_symlink(error)) pending_.push_back(entry.path());
    } else if (entry.path().extension() == ".toml") {
      files_.push_back(entry.path());
    }
  }

  const fs::path& root_;
  std::vector<Finding>& findings_;
  std::vector<fs::path> pending_;
  std::vector<fs::path> files_;
};

ParsedFixture load_fixture(const fs::path& path, const fs::path& root) {
  const std::string file = path.generic_string();
  const auto text = read_file(path, defaults::max_fixture_bytes);
  if (!text) {
    ParsedFixture result;
    result.findings.push_back({file, 0, "the fixture " + text.error().message});
    return result;
  }
  ParsedFixture result = parse_fixture(*text, file);
  result.fixture.source = path.lexically_relative(root).generic_string();
  return result;
}

std::vector<ParsedFixture> load_fixtures(const std::vector<fs::path>& files, const fs::path& root) {
  std::vector<ParsedFixture> fixtures(files.size());
  const auto load_range = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) fixtures[i] = load_fixture(files[i], root);
  };
  const std::size_t half = files.size() > files_worth_a_thread ? files.size() / 2 : files.size();
  std::jthread other;
  if (half != files.size()) other = std::jthread(load_range, half, files.size());
  load_range(0, half);
  if (other.joinable()) other.join();
  return fixtures;
}

void check_ids(const std::vector<ParsedFixture>& fixtures, const std::vector<fs::path>& files,
               std::vector<Finding>& findings) {
  std::unordered_map<std::string_view, std::size_t> first_with;
  for (std::size_t i = 0; i < fixtures.size(); ++i) {
    const std::string& id = fixtures[i].fixture.id;
    if (id.empty()) continue;
    const auto [first, inserted] = first_with.emplace(id, i);
    if (inserted) continue;
    const std::size_t other = first->second;
    findings.push_back({files[i].generic_string(), fixtures[i].id_line,
                        "the id \"" + excerpt(id, 80) + "\" is already used in " +
                            files[other].generic_string() + ":" + std::to_string(fixtures[other].id_line)});
  }
}

std::optional<Manifest> load_manifest(const fs::path& path, std::size_t fixtures,
                                      std::vector<Finding>& findings) {
  const std::string file = path.generic_string();
  const auto text = read_file(path, defaults::max_fixture_bytes);
  if (!text) {
    findings.push_back({file, 0, "the manifest " + text.error().message});
    return std::nullopt;
  }
  ParsedManifest parsed = parse_manifest(*text, file);
  const auto total = parsed.manifest.total_fixtures;
  if (total && *total != fixtures) {
    parsed.findings.push_back({file, parsed.total_line,
                               "\"total_fixtures\" in [corpus] is " + std::to_string(*total) +
                                   ", but there are " + std::to_string(fixtures) +
                                   " fixtures in the folder"});
  }
  std::move(parsed.findings.begin(), parsed.findings.end(), std::back_inserter(findings));
  return std::move(parsed.manifest);
}

std::optional<Finding> check_folder(const fs::path& folder) {
  std::error_code error;
  const auto status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) {
    return Finding{folder.generic_string(), 0,
                   "there is no such folder; name the fixtures' folder with --fixtures"};
  }
  if (error) return Finding{folder.generic_string(), 0, "the folder cannot be read: " + error.message()};
  if (status.type() != fs::file_type::directory) {
    return Finding{folder.generic_string(), 0,
                   "is not a folder; --fixtures takes the folder of the fixtures"};
  }
  return std::nullopt;
}

std::string name_of(const fs::path& folder) {
  std::error_code error;
  const auto whole = fs::weakly_canonical(folder, error);
  return to_valid_utf8((error ? folder.lexically_normal() : whole).filename().string());
}

}  // namespace

tl::expected<Suite, std::vector<Finding>> load_suite(const fs::path& folder) {
  if (auto finding = check_folder(folder)) return tl::unexpected(std::vector{std::move(*finding)});

  std::vector<Finding> findings;
  std::vector<fs::path> files = FixtureFinder(folder, findings).find();
  const fs::path manifest_path = folder / "manifest.toml";
  const bool has_manifest = std::erase(files, manifest_path) != 0;
  if (files.empty() && findings.empty()) {
    findings.push_back({folder.generic_string(), 0, "there is no fixture (*.toml) in the folder"});
  }

  std::vector<ParsedFixture> fixtures = load_fixtures(files, folder);
  for (ParsedFixture& parsed : fixtures) {
    std::move(parsed.findings.begin(), parsed.findings.end(), std::back_inserter(findings));
  }
  check_ids(fixtures, files, findings);

  Suite suite;
  suite.name = name_of(folder);
  if (has_manifest) suite.manifest = load_manifest(manifest_path, files.size(), findings);
  if (!findings.empty()) {
    sort_findings(findings);
    return tl::unexpected(std::move(findings));
  }
  suite.cases.reserve(fixtures.size());
  for (ParsedFixture& parsed : fixtures) suite.cases.push_back(std::move(parsed.fixture));
  std::sort(suite.cases.begin(), suite.cases.end(), [](const Case& a, const Case& b) { return a.id < b.id; });
  return suite;
}

std::vector<CategoryCount> count_categories(const Suite& suite) {
  std::map<std::string_view, std::size_t> counts;
  for (const Case& one : suite.cases) ++counts[one.category];
  std::vector<CategoryCount> result;
  for (const auto& [category, cases] : counts) result.push_back({std::string(category), cases});
  return result;
}

Result<Suite> select(Suite suite, const std::vector<std::string>& categories,
                     std::optional<std::size_t> max_fixtures) {
  std::vector<std::string> known;
  for (auto& count : count_categories(suite)) known.push_back(std::move(count.category));
  for (const std::string& category : categories) {
    if (std::binary_search(known.begin(), known.end(), category)) continue;
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    return fail(Reason::usage_invalid, "the suite \"" + suite.name + "\" has no category \"" + category +
                                           "\"" + did_you_mean(category, candidates) + "; it has " +
                                           quoted_list(known));
  }
  if (!categories.empty()) {
    std::erase_if(suite.cases, [&](const Case& one) {
      return std::find(categories.begin(), categories.end(), one.category) == categories.end();
    });
  }
  if (max_fixtures && *max_fixtures < suite.cases.size()) suite.cases.resize(*max_fixtures);
  return suite;
}

}  // namespace sluice
