#include "worker/cache/entry.hpp"

#include "common/model/embedding.hpp"
#include "common/wire/archive.hpp"
#include "common/wire/shape.hpp"
#include "common/wire/value_layout.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace sluice {

template <class Archive, wire::Of<Completion> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.text, m.finish_reason, m.served_model, m.usage, m.created_at_ms, m.non_answer);
}

/// An answer that calls tools: the calls stand beside it, so that all other answers are stored as ever.
struct CallingAnswer {
  Completion answer;
  std::vector<ToolCall> calls;
};

template <class Archive, wire::Of<CallingAnswer> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.answer, m.calls);
}

/// An answer whose latency a test asks for. No other has one: whoever answers sooner stores the same.
struct TimedAnswer {
  CallingAnswer calling;
  std::uint32_t latency_ms = 0;
};

template <class Archive, wire::Of<TimedAnswer> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.calling.answer, m.calling.calls, m.latency_ms);
}

namespace cache_entry {

namespace {

static_assert(std::endian::native == std::endian::little, "times are written as they lie in memory");

constexpr char reply_format = 1;
constexpr char embedding_format = 2;
constexpr char calling_format = 3;
constexpr char timed_format = 4;
constexpr std::size_t payload_at = 1 + sizeof(Digest);

Digest checksum(const Digest& key, std::string_view payload) {
  thread_local FieldHasher hasher;
  return hasher.field(bytes_of(key)).field(payload).finish();
}

std::string begin_entry(char format, std::size_t expected_payload) {
  std::string bytes;
  bytes.reserve(payload_at + expected_payload);
  bytes += format;
  bytes.append(sizeof(Digest), '\0');
  return bytes;
}

void seal(const Digest& key, std::string& bytes) {
  const auto sum = checksum(key, std::string_view(bytes).substr(payload_at));
  bytes.replace(1, sum.size(), bytes_of(sum));
}

tl::unexpected<Error> damaged(const Digest& key, const std::string& what,
                              Reason reason = Reason::message_malformed) {
  return fail(reason, "the cache entry " + to_hex(key) + " " + what +
                          "; run with --refresh to fetch its answer again");
}

/// The payload of an entry whose checksum fits.
Result<std::string_view> open_entry(char format, const Digest& key, std::string_view bytes) {
  if (bytes.size() < payload_at) return damaged(key, "is cut off");
  if (bytes.front() != format) {
    return damaged(key,
                   "is of format " + std::to_string(static_cast<std::uint8_t>(bytes.front())) +
                       ", which this version of sluice does not know (a later one may have stored it)",
                   Reason::cache_failed);
  }
  const auto payload = bytes.substr(payload_at);
  const auto sum = checksum(key, payload);
  if (bytes.substr(1, sum.size()) != bytes_of(sum))
    return damaged(key, "is damaged: its checksum does not fit");
  return payload;
}

}  // namespace

std::string encode(const Digest& key, const Completion& completion) {
  const char format = completion.latency_ms      ? timed_format
                      : completion.calls.empty() ? reply_format
                                                 : calling_format;
  auto bytes = begin_entry(format, completion.text.size() + 128);
  wire::Writer writer(bytes);
  if (format == reply_format) {
    layout(writer, completion);
  } else {
    const TimedAnswer timed{{completion, completion.calls}, completion.latency_ms.value_or(0)};
    format == timed_format ? layout(writer, timed) : layout(writer, timed.calling);
  }
  seal(key, bytes);
  return bytes;
}

std::string encode(const Digest& key, const Embedding& embedding) {
  const std::string values = pack_embedding(embedding.values);
  auto bytes = begin_entry(embedding_format, sizeof embedding.created_at_ms + values.size());
  bytes.append(reinterpret_cast<const char*>(&embedding.created_at_ms), sizeof embedding.created_at_ms);
  bytes += values;
  seal(key, bytes);
  return bytes;
}

Result<Completion> decode(const Digest& key, std::string_view bytes) {
  const bool calls = bytes.starts_with(calling_format);
  const bool is_timed = bytes.starts_with(timed_format);
  const auto payload = open_entry(is_timed ? timed_format
                                  : calls  ? calling_format
                                           : reply_format,
                                  key, bytes);
  if (!payload) return fail(payload.error());
  const auto value = wire::read_value(*payload);
  if (!value) return damaged(key, "is damaged: " + value.error().message);
  wire::Reader reader(value->get());
  TimedAnswer read;
  CallingAnswer& calling = read.calling;
  if (!(is_timed ? reader.read(read) : calls ? reader.read(calling) : reader.read(calling.answer)))
    return damaged(key, "is damaged: " + reader.problem());
  if (calls && calling.calls.empty()) return damaged(key, "is damaged: its calls of tools are missing");
  calling.answer.calls = std::move(calling.calls);
  if (is_timed) calling.answer.latency_ms = read.latency_ms;
  return std::move(calling.answer);
}

Result<Embedding> decode_embedding(const Digest& key, std::string_view bytes) {
  const auto payload = open_entry(embedding_format, key, bytes);
  if (!payload) return fail(payload.error());
  Embedding embedding;
  constexpr auto head = sizeof embedding.created_at_ms;
  if (payload->size() < head) return damaged(key, "is damaged: it is no embedding");
  std::memcpy(&embedding.created_at_ms, payload->data(), head);
  // A cassette may come from anywhere; compared by a vector without direction, an answer would score 0.
  auto values = unpack_embedding(payload->substr(head));
  if (!values) return damaged(key, "is damaged: its embedding has no direction");
  embedding.values = std::move(*values);
  return embedding;
}

Result<Rank> rank(EntryKind kind, const Digest& key, std::string_view bytes) {
  if (kind == EntryKind::embedding) {
    const auto embedding = decode_embedding(key, bytes);
    if (!embedding) return fail(embedding.error());
    return Rank{embedding->created_at_ms, sha256(pack_embedding(embedding->values))};
  }
  const auto completion = decode(key, bytes);
  if (!completion) return fail(completion.error());
  if (completion->non_answer.has_value() != (kind == EntryKind::outcome)) {
    return damaged(key, "is damaged: it stands among entries of another kind");
  }
  return Rank{completion->created_at_ms, answer_digest(*completion)};
}

}  // namespace cache_entry
}  // namespace sluice
