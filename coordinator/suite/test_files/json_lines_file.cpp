#include "coordinator/suite/test_files/json_lines_file.hpp"

#include "common/defaults.hpp"
#include "common/leading_bits.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "coordinator/suite/documents/json_document.hpp"
#include "coordinator/suite/documents/line_reader.hpp"
#include "coordinator/suite/halves.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace sluice {
namespace {

/// Made where it stays: a test is read several times in a run, and to move it takes a tenth of that.
struct ReadTest {
  ReadTest(std::string_view line, const DocumentNode& node, const TestSource& source)
      : check(leading_bits(sha256(line))), parsed(parse_test(node, checked(source, check))) {}
  ReadTest(const ReadTest&) = delete;
  ReadTest& operator=(const ReadTest&) = delete;

  std::uint64_t check;  ///< Of the line, and of the files that it names: they may change too.
  ParsedTest parsed;

 private:
  static TestSource checked(const TestSource& source, std::uint64_t& check) {
    TestSource checked = source;
    checked.read_file = [&](const std::string& path, std::vector<FileIdentity>* opened) {
      constexpr std::uint64_t odd = 31;  // A sum alone would forget a file that is named twice.
      auto text = source.read_file(path, opened);
      check = check * odd + (text ? leading_bits(sha256(*text)) : 0);
      return text;
    };
    return checked;
  }
};

using ReadTestRef = tl::expected<std::shared_ptr<ReadTest>, DocumentError>;

ReadTestRef read_test(std::string_view line, std::uint32_t number, const TestSource& source) {
  const auto node = parse_json(line, number);
  if (!node) return tl::unexpected(node.error());
  return std::make_shared<ReadTest>(line, *node, source);
}

/// Reads pieces of a file; blocks of it where they follow one another, as tests do when all are visited: a
/// call of the kernel costs more than a test's bytes. Thread-safe.
class PieceReader {
 public:
  explicit PieceReader(FileDescriptor file) : file_(std::move(file)) {}

  int descriptor() const { return file_.number(); }

  /// An errno, or 0 where the file ends before the piece does.
  tl::expected<std::string, int> read(std::uint64_t offset, std::size_t length) {
    const std::lock_guard lock(mutex_);
    Block& block = block_for(offset, length);
    if (!block.holds(offset, length)) {
      const bool follows = block.offset <= offset && offset <= block.end() + skipped_bytes;
      auto bytes = read_bytes(offset, follows ? std::max(length, block_bytes) : length);
      if (!bytes) return tl::unexpected(bytes.error());
      block.offset = offset;
      block.bytes = *std::move(bytes);
    }
    if (!block.holds(offset, length)) return tl::unexpected(0);
    block.used = ++uses_;
    return block.bytes.substr(offset - block.offset, length);
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t{64} * 1024;
  /// A piece so far behind a block still follows it: some tests are not chosen.
  static constexpr std::size_t skipped_bytes = 4096;

  struct Block {
    std::uint64_t offset = 0;
    std::string bytes{};
    std::uint64_t used = 0;

    std::uint64_t end() const { return offset + bytes.size(); }
    bool holds(std::uint64_t from, std::size_t length) const {
      return offset <= from && from + length <= end();
    }
  };

  /// The one that holds the piece, else the one that it follows, else the one that was used longest ago.
  Block& block_for(std::uint64_t offset, std::size_t length) {
    const auto holder =
        std::ranges::find_if(blocks_, [&](const Block& one) { return one.holds(offset, length); });
    if (holder != blocks_.end()) return *holder;
    const auto before = std::ranges::find_if(blocks_, [&](const Block& one) {
      return one.offset <= offset && offset <= one.end() + skipped_bytes;
    });
    return before != blocks_.end() ? *before : *std::ranges::min_element(blocks_, {}, &Block::used);
  }

  /// Fewer at the end of the file.
  tl::expected<std::string, int> read_bytes(std::uint64_t offset, std::size_t length) const {
    std::string bytes(length, '\0');
    std::size_t filled = 0;
    while (filled < length) {
      const ssize_t got =
          ::pread(descriptor(), bytes.data() + filled, length - filled, static_cast<off_t>(offset + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return tl::unexpected(errno);
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
  }

  FileDescriptor file_;
  std::mutex mutex_;
  /// Of two threads that read a half each, and of those that lease and judge.
  std::array<Block, 4> blocks_;
  std::uint64_t uses_ = 0;
};

class JsonLinesFile : public CaseFile {
 public:
  JsonLinesFile(FileDescriptor file, TestSource source)
      : pieces_(std::move(file)), source_(std::move(source)) {
    source_.checker = nullptr;  // Patterns and schemas are checked once, when the file is indexed.
    source_.opened = nullptr;
  }

  int descriptor() const { return pieces_.descriptor(); }

  Result<std::shared_ptr<Case>> read(std::uint64_t offset, std::uint32_t length,
                                     std::uint64_t check) const override {
    const auto line = pieces_.read(offset, length);
    if (!line && line.error() == 0) return changed(offset);
    if (!line)
      return fail(Reason::file_unreadable, source_.file + " " + unreadable_file(line.error()).message);
    const auto read = read_test(*line, 1, source_);
    if (!read) return changed(offset);
    const auto& test = *read;
    if (test->check != check || !test->parsed.findings.empty()) return changed(offset);
    return std::shared_ptr<Case>(test, &test->parsed.test);
  }

 private:
  tl::unexpected<Error> changed(std::uint64_t offset) const {
    return fail(Reason::file_unreadable,
                source_.file + " (the test at byte " + std::to_string(offset) +
                    "), or a file that it names, was changed while it was in use: start again, and leave it "
                    "alone until the run has ended");
  }

  mutable PieceReader pieces_;
  TestSource source_;
};

/// Passes on the first findings and counts the others.
class FindingLimit {
 public:
  FindingLimit(const std::string& file, std::vector<Finding>& findings) : file_(file), findings_(findings) {}

  void add(Finding finding) {
    if (finding.file != file_) {  // Each line finds the same in the default test.
      if (std::ranges::find(findings_, finding) == findings_.end()) findings_.push_back(std::move(finding));
      return;
    }
    if (++count_ > defaults::max_file_findings) return;
    last_line_ = finding.line;
    findings_.push_back(std::move(finding));
  }
  void finish() {
    if (count_ <= defaults::max_file_findings) return;
    const std::string more = std::to_string(count_ - defaults::max_file_findings);
    findings_.push_back({file_, last_line_, "and " + more + " more findings from here on"});
  }

 private:
  const std::string& file_;
  std::vector<Finding>& findings_;
  std::size_t count_ = 0;
  std::uint32_t last_line_ = 0;
};

/// A line, and what it came to.
struct IndexedLine {
  std::string text;
  std::uint64_t offset = 0;
  std::uint32_t number = 0;
  ReadTestRef test;
  CaseFingerprints fingerprints{};
};

bool is_judged(const Case& test) {
  return std::ranges::any_of(test.expectations, [](const Expectation& one) { return one.judge.has_value(); });
}

/// Reads lines on two threads, some at a time, and adds them in their order.
class Indexer {
  /// Parsed, lines take several times as much.
  static constexpr std::size_t held_at_once = defaults::line_block_bytes / 4;

 public:
  Indexer(std::shared_ptr<JsonLinesFile> file, const TestSource& source, SuiteBuilder& builder,
          std::vector<Finding>& findings)
      : file_(std::move(file)),
        source_(source),
        builder_(builder),
        number_(builder.add_file(source.file)),
        limit_(source.file, findings) {
    const auto rubrics = source.rubrics->copy();
    for (Half& half : halves_) {
      half.source = source;
      half.source.rubrics = rubrics;
      half.source.checker = &half.checker;
      half.source.opened = &half.opened;
    }
  }

  void run() {
    LineReader lines(file_->descriptor(), defaults::max_json_line_bytes);
    for (auto line = lines.next();; line = lines.next()) {
      const bool has_text = line && *line && !(*line)->too_long;
      if (has_text) hold(**line);
      const bool is_block = held_bytes_ >= held_at_once;
      if (has_text && !is_block) continue;
      take_held();
      if (has_text) continue;
      if (!line) add(0, "the tests file " + line.error().message);
      if (!line || !*line) break;
      const auto limit = std::to_string(defaults::max_json_line_bytes);
      add((*line)->number, "the line is too long: at most " + limit + " bytes are read");
    }
    limit_.finish();
    for (const Half& half : halves_) {
      if (source_.opened != nullptr)
        source_.opened->insert(source_.opened->end(), half.opened.begin(), half.opened.end());
      if (source_.checker != nullptr) source_.checker->take_formats(half.checker);
    }
  }

 private:
  /// What a thread reads with.
  struct Half {
    CheckCompiler checker;
    std::vector<FileIdentity> opened;
    TestSource source;
  };

  void hold(const FileLine& line) {
    std::string_view text = line.offset == 0 ? without_byte_order_mark(line.text) : line.text;
    const std::uint64_t offset = line.offset + (line.text.size() - text.size());
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.find_first_not_of(" \t") == std::string_view::npos) return;
    held_.push_back({std::string(text), offset, line.number, {}, {}});
    held_bytes_ += text.size();
  }

  void take_held() {
    in_halves(held_.size(), [this](std::size_t from, std::size_t to, std::size_t half) {
      for (std::size_t i = from; i < to; ++i) read(held_[i], halves_[half].source);
    });
    for (IndexedLine& line : held_) take(line);
    held_.clear();
    held_bytes_ = 0;
  }

  static void read(IndexedLine& line, const TestSource& source) {
    line.test = read_test(line.text, line.number, source);
    if (line.test) line.fingerprints = case_fingerprints((*line.test)->parsed.test);
  }

  void take(IndexedLine& line) {
    if (!line.test) return add(line.test.error().line, line.test.error().message);
    // Rubrics are numbered in the order of the lines that use them.
    if (is_judged((*line.test)->parsed.test)) read(line, source_);
    ReadTest& test = **line.test;
    for (Finding& finding : test.parsed.findings) limit_.add(std::move(finding));
    const CaseList::Place place{line.offset, static_cast<std::uint32_t>(line.text.size()), test.check,
                                line.number};
    builder_.add(file_, place, test.parsed.test, line.fingerprints, {number_, line.number});
  }

  void add(std::uint32_t line, std::string message) { limit_.add({source_.file, line, std::move(message)}); }

  std::shared_ptr<JsonLinesFile> file_;
  const TestSource& source_;
  SuiteBuilder& builder_;
  std::uint32_t number_;
  FindingLimit limit_;
  std::array<Half, 2> halves_;
  std::vector<IndexedLine> held_;
  std::size_t held_bytes_ = 0;
};

}  // namespace

void index_json_lines(FileDescriptor file, const TestSource& source, SuiteBuilder& builder,
                      std::vector<Finding>& findings) {
  Indexer(std::make_shared<JsonLinesFile>(std::move(file), source), source, builder, findings).run();
}

}  // namespace sluice
