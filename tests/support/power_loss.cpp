#include "tests/support/power_loss.hpp"

#include "tests/support/paths.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <utility>

#include <sys/stat.h>

namespace sluice::support {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t page_bytes = 4096;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
}

std::string inode_of(const fs::path& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 ? std::to_string(about.st_ino) : "none";
}

/// Of a file or folder that never was synced its name alone is left.
void leave_synced_folder(const fs::path& disk, const std::string& inode, const fs::path& copy) {
  fs::create_directories(copy);
  std::istringstream list(content_of(disk / "names" / inode));
  char type = 0;
  for (std::string entry, name; list >> entry >> type && list.get() == ' ' && std::getline(list, name);) {
    if (type == 'd') {
      leave_synced_folder(disk, entry, copy / name);
    } else {
      write(copy / name, content_of(disk / "contents" / entry));
    }
  }
}

std::string mixture_of(const std::string& synced, const std::string& live, std::mt19937& random) {
  std::string mixed = live;
  for (std::size_t at = 0; at < mixed.size(); at += page_bytes) {
    if ((random() & 1) == 0) continue;
    const std::size_t size = std::min(page_bytes, mixed.size() - at);
    std::string page = at < synced.size() ? synced.substr(at, size) : std::string();
    page.resize(size, '\0');
    mixed.replace(at, size, page);
  }
  return mixed;
}

}  // namespace

PowerLoss::PowerLoss(fs::path root) : root_(std::move(root)) {
  for (const char* folder : {"held", "contents", "names"}) fs::create_directories(disk_.path() / folder);
}

std::map<std::string, std::string> PowerLoss::variables() const {
  return {{"LD_PRELOAD", program_path("libsynced_files.so")},
          {"POWER_LOSS_ROOT", root_.string()},
          {"POWER_LOSS_DISK", disk_.path().string()}};
}

std::size_t PowerLoss::synced_files() const {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(disk_.path() / "contents"), fs::directory_iterator()));
}

void PowerLoss::leave_what_was_synced(const fs::path& copy) const {
  leave_synced_folder(disk_.path(), inode_of(root_), copy);
}

template <class Content>
void PowerLoss::leave_each_file(const fs::path& copy, Content content) const {
  fs::create_directories(copy);
  for (const auto& entry : fs::recursive_directory_iterator(root_)) {
    const auto place = copy / entry.path().lexically_relative(root_);
    if (entry.is_directory()) {
      fs::create_directories(place);
    } else if (entry.is_regular_file()) {
      write(place, content(content_of(disk_.path() / "contents" / inode_of(entry.path())),
                           content_of(entry.path())));
    }
  }
}

void PowerLoss::leave_all_names(const fs::path& copy) const {
  leave_each_file(copy, [](std::string synced, const std::string&) { return synced; });
}

void PowerLoss::leave_a_mixture(const fs::path& copy, std::uint32_t seed) const {
  std::mt19937 random(seed);
  leave_each_file(copy, [&](const std::string& synced, const std::string& live) {
    return mixture_of(synced, live, random);
  });
}

}  // namespace sluice::support
