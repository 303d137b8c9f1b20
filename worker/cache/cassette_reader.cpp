#include "worker/cache/cassette_reader.hpp"

#include "common/files.hpp"
#include "common/hash.hpp"
#include "worker/cache/cassette_format.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

namespace sluice {

namespace {

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

template <class Number>
Number read_number(const char* bytes) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  }
  return number;
}

tl::unexpected<Error> unreadable(const std::filesystem::path& path, const std::string& why) {
  return fail(Reason::file_unreadable, "the cassette " + path.string() + " cannot be read: " + why);
}

/// An open regular file whose length does not change while it is read.
class File {
 public:
  static Result<File> open(const std::filesystem::path& path) {
    // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    File file(path, FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
    struct stat facts {};
    if (!file.descriptor_.is_open() || ::fstat(file.descriptor_.number(), &facts) != 0) {
      return unreadable(path, std::string(std::strerror(errno)) + "; check the name and its permissions");
    }
    if (!S_ISREG(facts.st_mode)) return unreadable(path, "it is no regular file; name a file");
    file.size_ = static_cast<std::uint64_t>(facts.st_size);
    return file;
  }
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Exactly so many bytes from there; REQUIRES that the file has them.
  Result<void> read(std::uint64_t offset, char* out, std::size_t count) const {
    while (count > 0) {
      const ssize_t got = ::pread(descriptor_.number(), out, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return unreadable(path_, std::strerror(errno));
      if (got == 0) return unreadable(path_, "it was cut off meanwhile; try again when nobody writes it");
      out += got;
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::size_t>(got);
    }
    return {};
  }

 private:
  File(std::filesystem::path path, FileDescriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::filesystem::path path_;
  FileDescriptor descriptor_;
  std::uint64_t size_ = 0;
};

tl::unexpected<Error> damaged(const File& file, const std::string& what) {
  return fail(Reason::file_unreadable, "the cassette " + file.path().string() + " is damaged: " + what +
                                           "; fetch an undamaged copy, or export it again");
}

/// The content of the one zstd frame between the header and the checksum, taken in pieces.
class Content {
 public:
  explicit Content(const File& file) : file_(file), end_(file.size() - cassette::checksum_bytes) {
    if (context_) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, cassette::window_log);
  }

  /// Exactly so many bytes. `out` grows only as they come: a length is believed once its bytes were seen.
  Result<void> read(std::string& out, std::size_t count) {
    out.clear();
    while (out.size() < count) {
      if (taken_ == filled_) {
        if (auto more = decompress(); !more) return more;
        if (taken_ == filled_ && at_end_) return damaged(file_, "its content ends early");
      }
      const auto part = std::min(count - out.size(), filled_ - taken_);
      out.append(plain_.data() + taken_, part);
      taken_ += part;
    }
    return {};
  }

  /// Error unless all was taken and nothing comes after.
  Result<void> expect_end() {
    while (!at_end_ && taken_ == filled_) {
      if (auto more = decompress(); !more) return more;
    }
    if (taken_ != filled_ || in_.pos != in_.size || next_ != end_) {
      return damaged(file_, "something follows its end");
    }
    return {};
  }

 private:
  Result<void> decompress() {
    filled_ = taken_ = 0;
    if (at_end_) return {};
    if (!context_) return unreadable(file_.path(), "there is no memory to decompress it");
    if (in_.pos == in_.size && !more_inside_) {
      if (next_ == end_) return damaged(file_, "its content ends early");
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(compressed_.size(), end_ - next_));
      if (auto read = file_.read(next_, compressed_.data(), part); !read) return read;
      next_ += part;
      in_ = {compressed_.data(), part, 0};
    }
    ZSTD_outBuffer out{plain_.data(), plain_.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in_);
    if (ZSTD_isError(left)) {
      return damaged(file_, std::string("it cannot be decompressed (") + ZSTD_getErrorName(left) + ")");
    }
    filled_ = out.pos;
    more_inside_ = out.pos == out.size;  // Then zstd may hold back what did not fit.
    at_end_ = left == 0;
    return {};
  }

  const File& file_;
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context_{ZSTD_createDCtx()};
  std::vector<char> compressed_ = std::vector<char>(defaults::cassette_piece_bytes);
  std::vector<char> plain_ = std::vector<char>(defaults::cassette_piece_bytes);
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::uint64_t next_ = cassette::header_bytes;  ///< First byte of the file that was not read yet.
  std::uint64_t end_;
  std::size_t taken_ = 0;
  std::size_t filled_ = 0;
  bool more_inside_ = false;
  bool at_end_ = false;
};

bool is_kind(std::uint8_t number, std::uint8_t version) {
  const auto last = version == cassette::version_without_votes ? EntryKind::embedding : EntryKind::vote;
  return number >= static_cast<std::uint8_t>(EntryKind::answer) && number <= static_cast<std::uint8_t>(last);
}

}  // namespace

struct CassetteReader::State {
  File file;
  std::uint8_t version;

  Result<void> check_sum() const;
};

Result<CassetteReader> CassetteReader::open(const std::filesystem::path& path) {
  auto file = File::open(path);
  if (!file) return fail(file.error());
  std::string head(std::min<std::uint64_t>(file->size(), cassette::header_bytes), '\0');
  if (auto read = file->read(0, head.data(), head.size()); !read) return fail(read.error());
  if (head.substr(0, cassette::magic.size()) != cassette::magic) {
    return fail(Reason::file_unreadable,
                path.string() + " is no cassette; name a file that `sluice cache export` wrote");
  }
  if (file->size() < cassette::header_bytes + cassette::checksum_bytes) {
    return damaged(*file, "it is cut off");
  }
  const auto version = static_cast<std::uint8_t>(head.back());
  if (version < cassette::version_without_votes || version > cassette::version) {
    return fail(Reason::file_unreadable,
                "the cassette " + path.string() + " is of format " + std::to_string(version) +
                    ", and this sluice reads formats up to " + std::to_string(cassette::version) +
                    "; use the sluice that wrote it");
  }
  return CassetteReader(std::unique_ptr<State>(new State{std::move(*file), version}));
}

CassetteReader::CassetteReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
CassetteReader::CassetteReader(CassetteReader&&) noexcept = default;
CassetteReader& CassetteReader::operator=(CassetteReader&&) noexcept = default;
CassetteReader::~CassetteReader() = default;

Result<void> CassetteReader::State::check_sum() const {
  Sha256Stream stream;
  std::vector<char> piece(defaults::cassette_piece_bytes);
  const auto end = file.size() - cassette::checksum_bytes;
  for (std::uint64_t at = 0; at < end;) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), end - at));
    if (auto read = file.read(at, piece.data(), part); !read) return read;
    stream.update({piece.data(), part});
    at += part;
  }
  Digest stored{};
  if (auto read = file.read(end, reinterpret_cast<char*>(stored.data()), stored.size()); !read) return read;
  if (stream.finish() != stored) return damaged(file, "its checksum does not fit (cut off, or changed)");
  return {};
}

Result<void> CassetteReader::verify() {
  if (auto sum = state_->check_sum(); !sum) return sum;
  return visit([](const CassetteEntry&) { return Result<void>(); });
}

Result<void> CassetteReader::visit(const std::function<Result<void>(const CassetteEntry&)>& visit) {
  const auto& file = state_->file;
  Content content(file);
  std::string bytes;
  std::uint64_t entries = 0;
  std::optional<std::pair<EntryKind, Digest>> last;
  while (true) {
    if (auto read = content.read(bytes, 1); !read) return read;
    const auto kind = static_cast<std::uint8_t>(bytes.front());
    if (kind == cassette::end_mark) break;
    const auto which = "entry " + std::to_string(entries + 1);
    if (!is_kind(kind, state_->version)) return damaged(file, which + " is of an unknown kind");
    CassetteEntry entry;
    entry.kind = static_cast<EntryKind>(kind);
    if (auto read = content.read(bytes, cassette::entry_head_bytes - 1); !read) return read;
    std::memcpy(entry.key.data(), bytes.data(), entry.key.size());
    const auto length = read_number<std::uint32_t>(bytes.data() + entry.key.size());
    if (last && *last >= std::pair(entry.kind, entry.key)) {
      return damaged(file, which + " is not in its place");
    }
    if (length > defaults::max_entry_bytes) return damaged(file, which + " is longer than any answer");
    if (auto read = content.read(bytes, length); !read) return read;
    const auto rank = cache_entry::rank(entry.kind, entry.key, bytes);
    if (!rank) return damaged(file, which + " has a checksum or form of its own that does not fit");
    entry.bytes = bytes;
    entry.rank = *rank;
    if (auto visited = visit(entry); !visited) return visited;
    last.emplace(entry.kind, entry.key);
    ++entries;
  }
  if (auto read = content.read(bytes, sizeof(std::uint64_t)); !read) return read;
  if (read_number<std::uint64_t>(bytes.data()) != entries) {
    return damaged(file, "it does not have as many entries as it says");
  }
  return content.expect_end();
}

}  // namespace sluice
