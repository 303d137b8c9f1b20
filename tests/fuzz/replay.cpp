// Runs a fuzzer without libFuzzer: `replay COUNT [FILE or FOLDER...]` gives it each file, then COUNT
// mutations of them, the same ones each time. A file *.hex holds bytes in hexadecimal, with comments behind
// #.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;
using Input = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

constexpr std::size_t most_bytes = 64u << 10;
constexpr int made_seeds = 6;
constexpr std::size_t made_seed_bytes = 1500;

std::size_t below(Random& random, std::size_t end) {
  return end == 0 ? 0 : static_cast<std::size_t>(random() % end);
}

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "replay: %s\n", why.c_str());
  std::exit(2);
}

Input bytes_of_hex(const Input& text) {
  std::string digits;
  bool in_comment = false;
  for (const char c : text) {
    in_comment = c != '\n' && (in_comment || c == '#');
    if (!in_comment && std::isxdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  }
  Input bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    std::from_chars(&digits[2 * i], &digits[2 * i] + 2, bytes[i], 16);
  return bytes;
}

Input read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(file.string() + " cannot be read");
  Input bytes{std::istreambuf_iterator<char>(stream), {}};
  return file.extension() == ".hex" ? bytes_of_hex(bytes) : bytes;
}

std::vector<Input> read_seeds(int count, char** paths) {
  std::vector<fs::path> files;
  for (int i = 0; i < count; ++i) {
    if (!fs::exists(paths[i])) fail(std::string(paths[i]) + " does not exist");
    if (!fs::is_directory(paths[i])) {
      files.emplace_back(paths[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(paths[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Input> seeds;
  for (const fs::path& file : files) seeds.push_back(read(file));
  return seeds;
}

std::vector<Input> make_seeds(Random& random) {
  std::vector<Input> seeds(made_seeds, Input(made_seed_bytes));
  for (Input& seed : seeds) std::ranges::generate(seed, [&] { return static_cast<std::uint8_t>(random()); });
  return seeds;
}

void mutate(Input& input, const std::vector<Input>& seeds, Random& random) {
  const std::size_t at = below(random, input.size() + 1);
  const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
  const std::size_t length = below(random, std::min<std::size_t>(input.size() - at, 64) + 1);
  switch (below(random, 5)) {
    case 0:
      if (place != input.end()) *place ^= static_cast<std::uint8_t>(1u << below(random, 8));
      return;
    case 1:
      if (place != input.end()) *place = static_cast<std::uint8_t>(random());
      return;
    case 2:
      input.erase(place, place + static_cast<std::ptrdiff_t>(length));
      return;
    case 3: {
      const Input again(place, place + static_cast<std::ptrdiff_t>(length));
      input.insert(place, again.begin(), again.end());
      return;
    }
    default: {
      const Input& other = seeds[below(random, seeds.size())];
      const std::size_t from = below(random, other.size() + 1);
      const std::size_t taken = below(random, std::min<std::size_t>(other.size() - from, 256) + 1);
      const auto begin = other.begin() + static_cast<std::ptrdiff_t>(from);
      input.insert(place, begin, begin + static_cast<std::ptrdiff_t>(taken));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: replay COUNT [FILE or FOLDER...]\n", stderr);
    return 2;
  }
  Random random(1);
  auto seeds = read_seeds(argc - 2, argv + 2);
  if (seeds.empty()) seeds = make_seeds(random);
  for (const Input& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  char* end = nullptr;
  const long count = std::strtol(argv[1], &end, 10);
  if (end == argv[1] || *end != '\0') fail("the first word must be a number of mutations");
  for (long i = 0; i < count; ++i) {
    Input input = seeds[below(random, seeds.size())];
    for (std::size_t changes = 1 + below(random, 8); changes > 0; --changes) mutate(input, seeds, random);
    if (input.size() > most_bytes) input.resize(most_bytes);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu seeds and %ld mutations of them\n", seeds.size(), count);
  return 0;
}
