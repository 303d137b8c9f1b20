#include "coordinator/corpus/corpus_folder.hpp"

#include "common/files.hpp"
#include "common/settings/load_settings.hpp"
#include "common/text/text.hpp"
#include "coordinator/corpus/fixture_file.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/suite/fixtures/fixture.hpp"
#include "coordinator/suite/fixtures/fixture_folder.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* rejected_folder = ".rejected";  // Hidden: no suite reads it.

/// Whether load_suite would find any fixture.
bool has_fixtures(const fs::path& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    const bool is_other = path == folder / "manifest.toml" || path == folder / default_settings_file;
    if (is_hidden(path)) {
      entries.disable_recursion_pending();
    } else if (path.extension() == ".toml" && !is_other) {
      return true;
    }
  }
  return false;
}

Error cannot_make(const fs::path& folder, const std::error_code& error) {
  return {Reason::output_failed,
          "the folder \"" + folder.generic_string() + "\" cannot be made: " + error.message()};
}

Result<void> write_text(const std::string& file, const std::string& text) {
  return write_whole_file("fixture", file, text);
}

/// Whether an id, which may be anything in a file that a person changed, names a file of its folder.
bool is_file_name(std::string_view id) {
  return !id.empty() && id != "." && id != ".." && id.find_first_of(std::string_view("/\0", 2)) == id.npos;
}

/// Unlike rename, never over another file. 0, or the errno.
int move_to_new(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // Not every file system can do that at once.
  return ::link(from.c_str(), to.c_str()) == 0 && ::unlink(from.c_str()) == 0 ? 0 : errno;
}

/// Whether nobody but generations has been where a fixture goes; `known`: the one of its id, if any.
bool is_untouched(const fs::path& place, const CorpusFixture* known) {
  std::error_code error;
  if (known == nullptr) return fs::symlink_status(place, error).type() == fs::file_type::not_found;
  return is_sealed(known->text) && known->file == place.generic_string() && is_as_read(*known);
}

Error changed_meanwhile(const CorpusFixture& fixture) {
  return {Reason::output_failed,
          fixture.file + " was changed or moved since it was read, and stays as it is now; review it again"};
}

}  // namespace

tl::expected<Corpus, std::vector<Finding>> read_corpus(const fs::path& folder) {
  Corpus corpus;
  std::error_code error;
  const fs::path rejected = folder / rejected_folder;
  for (fs::directory_iterator entries(rejected, error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    if (entries->path().extension() == ".toml") corpus.rejected.insert(entries->path().stem().string());
  }
  // Otherwise what was rejected would come back.
  if (error && error != std::errc::no_such_file_or_directory) {
    return tl::unexpected(std::vector<Finding>{
        {rejected.generic_string(), 0, "the folder cannot be read: " + error.message()}});
  }
  const auto status = fs::status(folder, error);
  const bool is_empty_folder = fs::is_directory(status) && !has_fixtures(folder);
  if (!fs::exists(status) || is_empty_folder) return corpus;
  const auto suite = load_suite(folder);
  if (!suite) return tl::unexpected(suite.error());
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < suite->cases.size(); ++i) {
    const auto one = suite->cases.read(i);
    if (!one) {
      findings.push_back({folder.generic_string(), 0, one.error().message});
      continue;
    }
    const std::string file = (folder / (*one)->source).generic_string();
    auto text = read_file(file, defaults::max_fixture_bytes);
    if (!text) {
      findings.push_back({file, 0, "the fixture " + text.error().message});
      continue;
    }
    corpus.fixtures.emplace((*one)->id, CorpusFixture{**one, file, std::move(*text)});
  }
  if (!findings.empty()) return tl::unexpected(std::move(findings));
  return corpus;
}

Result<WrittenFixtures> write_fixtures(const fs::path& folder, const Corpus& corpus,
                                       std::span<const Case> fixtures) {
  WrittenFixtures written;
  for (const Case& fixture : fixtures) {
    const fs::path place = folder / fixture.category / (fixture.id + ".toml");
    const auto known = corpus.fixtures.find(fixture.id);
    const bool is_there = known != corpus.fixtures.end();
    if (!is_untouched(place, is_there ? &known->second : nullptr)) {
      written.kept.push_back(is_there ? known->second.file : place.generic_string());
      continue;
    }
    Case now = fixture;
    if (is_there) now.created = known->second.fixture.created;
    const std::string text = sealed_fixture(now);
    if (is_there && known->second.text == text) {
      ++written.unchanged;
      continue;
    }
    if (text.size() > defaults::max_fixture_bytes || !parse_fixture(text, place.string()).findings.empty()) {
      ++written.left_out;
      continue;
    }
    std::error_code error;
    fs::create_directories(place.parent_path(), error);
    if (error) return fail(cannot_make(place.parent_path(), error));
    if (auto done = write_text(place.string(), text); !done) return fail(std::move(done.error()));
    ++(is_there ? written.renewed : written.added);
  }
  return written;
}

bool is_as_read(const CorpusFixture& fixture) {
  const auto now = read_file(fixture.file, defaults::max_fixture_bytes);
  return now && *now == fixture.text;
}

Result<void> replace_fixture(const CorpusFixture& fixture, const std::string& text) {
  if (!is_as_read(fixture)) return fail(changed_meanwhile(fixture));
  return write_text(fixture.file, text);
}

Result<void> reject_fixture(const fs::path& folder, const CorpusFixture& fixture) {
  const std::string& id = fixture.fixture.id;
  if (!is_file_name(id))
    return fail(Reason::output_failed, fixture.file + " cannot be rejected: its id \"" + excerpt(id, 80) +
                                           "\" is no name of a file; change the id, or move it by hand");
  if (!is_as_read(fixture)) return fail(changed_meanwhile(fixture));
  const fs::path rejected = folder / rejected_folder;
  std::error_code error;
  fs::create_directories(rejected, error);
  if (error) return fail(cannot_make(rejected, error));
  const fs::path place = rejected / (id + ".toml");
  const int code = move_to_new(fixture.file, place);
  if (code == 0) return {};
  return fail(Reason::output_failed, fixture.file + " cannot be moved to " + place.generic_string() + ": " +
                                         std::generic_category().message(code) +
                                         (code == EEXIST ? "; one of its id was rejected before" : ""));
}

}  // namespace sluice
