// Caches that were damaged: files of a sound one with some of their bytes changed, cut off or taken away.
// What can be read is what was stored, and nothing else ever is; what cannot is named in one sentence; a
// repair makes a cache that is sound.
#include "tests/fuzz/fuzzed_input.hpp"
#include "worker/cache/answer_cache.hpp"
#include "worker/cache/cache_tools.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

using namespace sluice;
namespace fs = std::filesystem;

constexpr int entries = 24;

fs::path folder() {
  static const auto made = [] {
    const auto base = fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    auto dir = base / ("fuzz-cache-" + std::to_string(getpid()));
    fs::create_directories(dir);
    return dir;
  }();
  return made;
}

Digest key_of(int number) {
  return sha256("key " + std::to_string(number));
}
Completion answer_of(int number) {
  return {"answer " + std::to_string(number) + std::string(200, 'a'),
          "stop",
          "m",
          {10, 5},
          1'700'000'000'000,
          {}};
}
std::vector<float> embedding_of(int number) {
  return {static_cast<float>(number), 0.5f};
}

template <class T>
void require(const Result<T>& result) {
  SLUICE_PROMISE(result.has_value());
}

template <class T>
bool holds(const Result<T>& result) {
  if (result) return true;
  const auto& message = result.error().message;
  SLUICE_PROMISE(!message.empty() && message.find('\n') == std::string::npos);
  return false;
}

void fill(AnswerCache& cache, int from, int to) {
  for (int i = from; i < to; ++i) {
    Completion refused = answer_of(i);
    refused.non_answer = Error{Reason::refusal, "no"};
    require(cache.put(key_of(i), i % 4 == 3 ? refused : answer_of(i)));
    require(cache.put_embedding(key_of(i), embedding_of(i), 1));
    require(cache.put_vote(key_of(i), answer_of(i)));
  }
}

/// The files of a sound cache by name: half of its entries in tables, half in the log.
const std::vector<std::pair<fs::path, std::string>>& sound_files() {
  static const auto files = [] {
    const auto dir = folder() / "sound";
    {
      auto cache = AnswerCache::open(dir);
      require(cache);
      fill(*cache, 0, entries / 2);
      require(cache->compact());
      fill(*cache, entries / 2, entries);
    }
    std::map<fs::path, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(dir)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      all[entry.path().lexically_relative(dir)] = std::string(std::istreambuf_iterator<char>(in), {});
    }
    return std::vector<std::pair<fs::path, std::string>>(all.begin(), all.end());
  }();
  return files;
}

void damage(std::string& bytes, fuzz::FuzzedInput& input) {
  switch (input.below(8)) {
    case 0:
      bytes.resize(bytes.size() * input.byte() / 256);
      return;
    case 1:
      bytes = std::string(input.rest());
      return;
    case 2:
      bytes.append(input.byte(), static_cast<char>(input.byte()));
      return;
    default:
      break;
  }
  for (int changes = 1 + input.below(8); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t offset = std::size_t{input.byte()} * 256 + input.byte();
    bytes[offset % bytes.size()] = static_cast<char>(input.byte());
  }
}

void write_damaged(const fs::path& dir, fuzz::FuzzedInput& input) {
  auto files = sound_files();
  std::vector<bool> missing(files.size());
  for (int damages = 1 + input.below(3); damages > 0; --damages) {
    const auto which = input.byte() % files.size();
    if (input.below(8) == 7) {
      missing[which] = true;
    } else {
      damage(files[which].second, input);
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto path = dir / files[i].first;
    fs::create_directories(path.parent_path());
    if (!missing[i]) std::ofstream(path, std::ios::binary) << files[i].second;
  }
}

/// What is read is what was stored.
void read_all(const AnswerCache& cache) {
  for (int i = 0; i < entries; ++i) {
    const auto key = key_of(i);
    if (const auto answer = cache.get(key); holds(answer) && *answer)
      SLUICE_PROMISE(**answer == answer_of(i) && i % 4 != 3);
    if (const auto refused = cache.get_outcome(key); holds(refused) && *refused)
      SLUICE_PROMISE((*refused)->non_answer && i % 4 == 3);
    if (const auto embedding = cache.get_embedding(key); holds(embedding) && *embedding)
      SLUICE_PROMISE((*embedding)->values == embedding_of(i));
    if (const auto vote = cache.get_vote(key); holds(vote) && *vote) SLUICE_PROMISE(**vote == answer_of(i));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::FuzzedInput input(data, size);
  const auto home = folder() / "home";
  fs::remove_all(home);
  const auto dir = home / "cache" / "worker-0";
  write_damaged(dir, input);
  holds(check_caches(home));
  if (const auto reading = AnswerCache::open_read_only(dir); holds(reading)) read_all(*reading);
  if (input.flag()) {
    if (auto cache = AnswerCache::open(dir); holds(cache)) {
      read_all(*cache);
      // It takes what comes, or says that it does not.
      if (holds(cache->put(key_of(0), answer_of(0)))) SLUICE_PROMISE(cache->get(key_of(0)).has_value());
    }
  }
  if (holds(rebuild_cache({dir, home / "aside"}))) {
    const auto checked = check_caches(home);
    require(checked);
    for (const auto& one : checked->damage) SLUICE_PROMISE(one.is_foreign);
    auto cache = AnswerCache::open(dir);
    require(cache);
    read_all(*cache);
  }
  return 0;
}
