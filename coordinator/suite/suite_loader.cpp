#include "coordinator/suite/suite_loader.hpp"

#include "common/documents/table_reader.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/fixtures/fixture_folder.hpp"
#include "coordinator/suite/suite_builder.hpp"

#include <map>
#include <string_view>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

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

/// Empty if the working directory is gone.
fs::path without_links(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::current_path(error) / folder, error);
  return error ? fs::path() : whole;
}

fs::path checkout_above(const fs::path& whole) {
  if (whole.empty()) return {};
  std::error_code error;
  for (fs::path above = whole;; above = above.parent_path()) {
    if (fs::exists(above / ".git", error)) return above;
    if (!above.has_relative_path()) return {};
  }
}

}  // namespace

fs::path checkout_of(const fs::path& folder) {
  return checkout_above(without_links(folder));
}

std::string path_in_checkout(const fs::path& folder) {
  const fs::path whole = without_links(folder);
  const fs::path checkout = checkout_above(whole);
  if (checkout.empty()) return "";
  return to_valid_utf8(whole.lexically_relative(checkout).generic_string());
}

tl::expected<Suite, std::vector<Finding>> load_suite(const fs::path& folder,
                                                     const std::vector<std::string>& allowed,
                                                     std::shared_ptr<const SuiteCopy> copy) {
  const auto copier = copy ? nullptr : std::make_shared<SuiteCopier>();
  Result<std::shared_ptr<const SuiteFolder>> files;
  if (copy) {
    files = SuiteFolder::of(std::move(copy), folder);
  } else if (auto finding = check_folder(folder)) {
    return tl::unexpected(std::vector{std::move(*finding)});
  } else {
    copier->begin(whole_path(folder));
    files = SuiteFolder::open(folder, allowed, SuiteFolder::Opening::by_kernel, copier);
  }
  if (!files)
    return tl::unexpected(std::vector<Finding>{{folder.generic_string(), 0, files.error().message}});
  std::vector<Finding> findings;
  SuiteBuilder builder;
  auto manifest = add_fixture_folder(folder, **files, builder, findings);
  builder.find_duplicates(findings);
  if (!findings.empty()) {
    sort_findings(findings);
    return tl::unexpected(std::move(findings));
  }
  Suite suite = builder.finish(name_of(folder), {});
  suite.path_in_checkout = path_in_checkout(folder);
  suite.manifest = std::move(manifest);
  suite.fixture_folders.push_back(folder.generic_string());
  suite.copier = copier;
  return suite;
}

namespace {

/// By the path that the copy has it by; a folder is called as `path` says.
tl::expected<LoadedSuite, std::vector<Finding>> load_copied_suite(const fs::path& path,
                                                                  const std::vector<std::string>& allowed,
                                                                  std::shared_ptr<const SuiteCopy> copy) {
  const fs::path copied = copy->suite;
  if (copy->files.contains(copied.native())) return load_yaml_suite(copied, allowed, std::move(copy));
  auto suite = load_suite(copied, allowed, std::move(copy));
  if (!suite) return tl::unexpected(std::move(suite.error()));
  suite->name = name_of(path);
  suite->path_in_checkout = path_in_checkout(path);
  return LoadedSuite{std::move(*suite), {}};
}

}  // namespace

tl::expected<LoadedSuite, std::vector<Finding>> load_any_suite(const fs::path& path,
                                                               const std::vector<std::string>& allowed,
                                                               std::shared_ptr<const SuiteCopy> copy) {
  if (copy) return load_copied_suite(path, allowed, std::move(copy));
  std::error_code error;
  const auto type = fs::status(path, error).type();
  const fs::path extension = path.extension();
  const bool is_yaml = extension == ".yaml" || extension == ".yml";
  if (is_yaml && type != fs::file_type::directory && type != fs::file_type::not_found)
    return load_yaml_suite(path, allowed);
  if (type == fs::file_type::not_found) {
    std::string what =
        "there is no such file or folder; name a folder of fixtures or a suite (.yaml or .yml)";
    for (const char* usual : {"suite.yaml", "suite.yml"}) {
      if (fs::is_regular_file(usual, error))
        what += std::string("; there is a ") + usual + " here: name it, as in `sluice run " + usual + "`";
    }
    return tl::unexpected(std::vector<Finding>{{path.generic_string(), 0, std::move(what)}});
  }
  if (type == fs::file_type::regular) {
    std::string what = "is neither a folder of fixtures nor a suite (.yaml or .yml)";
    if (extension == ".jsonl" || extension == ".csv")
      what += "; a suite names a file of tests as its \"tests_file\"";
    if (extension == ".json") what += "; rename a suite in JSON to .yaml";
    return tl::unexpected(std::vector<Finding>{{path.generic_string(), 0, std::move(what)}});
  }
  auto suite = load_suite(path, allowed);
  if (!suite) return tl::unexpected(std::move(suite.error()));
  return LoadedSuite{std::move(*suite), {}};
}

std::vector<CategoryCount> count_categories(const Suite& suite) {
  std::map<std::string_view, std::size_t> counts;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) ++counts[suite.cases.category(i)];
  std::vector<CategoryCount> result;
  for (const auto& [category, cases] : counts) result.push_back({std::string(category), cases});
  return result;
}

}  // namespace sluice
