#include "common/fleet/allow_list.hpp"

#include "common/documents/finding.hpp"
#include "common/fleet/fleet_key.hpp"
#include "common/fleet/private_file.hpp"
#include "common/text/trimmed.hpp"

#include <algorithm>
#include <utility>

#include <sys/stat.h>

namespace sluice {

Result<AllowList> AllowList::parse(std::string_view text, const std::string& file) {
  AllowList list;
  std::vector<Finding> findings;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const auto blank = std::min(line.find_first_of(" \t"), line.size());
    Entry entry{std::string(line.substr(0, blank)), std::string(trimmed(line.substr(blank))), number};
    if (!is_fleet_name(entry.name)) {
      findings.push_back(
          {file, number, "a line is `NAME PUBLIC_KEY`, and a name letters, digits, `.`, `_` and `-`"});
    } else if (!is_fleet_key(entry.public_key)) {
      findings.push_back(
          {file, number, "behind the name stands a public key, as `sluice keys list` prints it"});
    } else {
      list.entries_.push_back(std::move(entry));
    }
  }
  std::ranges::stable_sort(list.entries_, {}, &Entry::public_key);
  for (std::size_t i = 1; i < list.entries_.size(); ++i) {
    const Entry& one = list.entries_[i - 1];
    const Entry& other = list.entries_[i];
    if (one.public_key == other.public_key && one.name != other.name)
      findings.push_back(
          {file, other.line,
           "has the key of \"" + one.name + "\", line " + std::to_string(one.line) + ": a key has one name"});
  }
  if (findings.empty()) return list;
  sort_findings(findings);
  shorten_findings(findings, file, "more lines that are wrong");
  return fail(Reason::settings_invalid, join_findings(findings));
}

Result<AllowList> AllowList::read(const std::filesystem::path& file) {
  const auto text = read_private_file(file, Privacy::nobody_else_writes);
  if (!text) return fail(text.error());
  return parse(*text, file.string());
}

std::optional<std::string> AllowList::name_of(std::string_view public_key) const {
  const auto found = std::ranges::lower_bound(entries_, public_key, {}, &Entry::public_key);
  if (found == entries_.end() || found->public_key != public_key) return std::nullopt;
  return found->name;
}

WatchedAllowList::WatchedAllowList(std::filesystem::path file) : file_(std::move(file)), state_(state()) {}

Result<WatchedAllowList> WatchedAllowList::open(const std::filesystem::path& file) {
  WatchedAllowList watched(file);
  auto list = AllowList::read(file);
  if (!list) return fail(list.error());
  watched.list_ = std::move(*list);
  return watched;
}

std::optional<WatchedAllowList::State> WatchedAllowList::state() const {
  struct stat facts {};
  if (::stat(file_.c_str(), &facts) != 0) return std::nullopt;
  const auto nanoseconds = [](const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; };
  return State{nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim), facts.st_mode,
               static_cast<std::uint64_t>(facts.st_size), facts.st_ino};
}

Result<bool> WatchedAllowList::refresh() {
  const auto now = state();
  if (now == state_) return false;
  auto list = AllowList::read(file_);
  if (!list) {
    // It is tried again even if the file stays: what is lacking may be the process' own, such as descriptors.
    Failure failure{now, list.error().message};
    if (failure == failure_) return false;
    failure_ = std::move(failure);
    return fail(list.error());
  }
  state_ = now;
  failure_.reset();
  const bool differs = list->entries() != list_.entries();
  list_ = std::move(*list);
  return differs;
}

}  // namespace sluice
