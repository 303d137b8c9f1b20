#include "worker/cache/entry.hpp"

#include "common/wire/archive.hpp"
#include "common/wire/layout.hpp"
#include "common/wire/shape.hpp"

#include <cstdint>

namespace sluice {

template <class Archive, wire::Of<Completion> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.text, m.finish_reason, m.served_model, m.usage, m.created_at_ms, m.non_answer);
}

namespace cache_entry {

namespace {

constexpr char version = 1;
constexpr std::size_t payload_at = 1 + sizeof(Digest);

std::string_view view_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Digest checksum(const Digest& key, std::string_view payload) {
  thread_local FieldHasher hasher;
  return hasher.field(view_of(key)).field(payload).finish();
}

tl::unexpected<Error> damaged(const Digest& key, const std::string& what) {
  return fail(Reason::cache_failed, "the cache entry " + to_hex(key) + " " + what +
                                        "; run with --refresh to fetch its answer again");
}

}  // namespace

std::string encode(const Digest& key, const Completion& completion) {
  std::string bytes;
  bytes.reserve(payload_at + completion.text.size() + 128);
  bytes += version;
  bytes.append(sizeof(Digest), '\0');
  wire::Writer writer(bytes);
  layout(writer, completion);
  const auto sum = checksum(key, std::string_view(bytes).substr(payload_at));
  bytes.replace(1, sum.size(), view_of(sum));
  return bytes;
}

Result<Completion> decode(const Digest& key, std::string_view bytes) {
  if (bytes.size() < payload_at) return damaged(key, "is cut off");
  if (bytes.front() != version) {
    return damaged(key, "is of format " + std::to_string(static_cast<std::uint8_t>(bytes.front())) +
                            ", which this version of sluice does not know");
  }
  const auto payload = bytes.substr(payload_at);
  const auto sum = checksum(key, payload);
  if (bytes.substr(1, sum.size()) != view_of(sum))
    return damaged(key, "is damaged: its checksum does not fit");
  const auto value = wire::read_value(payload);
  if (!value) return damaged(key, "is damaged: " + value.error().message);
  wire::Reader reader(value->get());
  Completion completion;
  if (!reader.read(completion)) return damaged(key, "is damaged: " + reader.problem());
  return completion;
}

}  // namespace cache_entry
}  // namespace sluice
