#include "coordinator/corpus/corpus_folder.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "coordinator/corpus/fixture_file.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <system_error>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* rejected_folder = ".rejected";  // Hidden: no suite reads it.

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

/// Whether load_suite would find any fixture.
bool has_fixtures(const fs::path& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (is_hidden(entries->path())) {
      entries.disable_recursion_pending();
    } else if (entries->path().extension() == ".toml" && entries->path() != folder / "manifest.toml") {
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
  return write_whole_file("fixture", file, [&](Sink& sink) -> Result<void> {
    sink.write(text);
    return {};
  });
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
    if (is_there && (!is_sealed(known->second.text) || known->second.file != place.generic_string())) {
      written.kept.push_back(known->second.file);
      continue;
    }
    Case now = fixture;
    if (is_there) now.created = known->second.fixture.created;
    const std::string text = sealed_fixture(now);
    if (is_there && known->second.text == text) {
      ++written.unchanged;
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

Result<void> replace_fixture(const CorpusFixture& fixture, const std::string& text) {
  return write_text(fixture.file, text);
}

Result<void> reject_fixture(const fs::path& folder, const CorpusFixture& fixture) {
  const fs::path rejected = folder / rejected_folder;
  std::error_code error;
  fs::create_directories(rejected, error);
  if (error) return fail(cannot_make(rejected, error));
  const fs::path place = rejected / (fixture.fixture.id + ".toml");
  fs::rename(fixture.file, place, error);
  if (!error) return {};
  return fail(Reason::output_failed,
              fixture.file + " cannot be moved to " + place.generic_string() + ": " + error.message());
}

}  // namespace sluice
