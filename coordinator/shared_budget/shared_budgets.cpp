#include "coordinator/shared_budget/shared_budgets.hpp"

#include "common/hash.hpp"
#include "coordinator/shared_budget/defaults.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// The boot clock means nothing after another boot, nor on another machine with the same home.
std::string this_boot() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(in, id);
  return id;
}

std::string file_name(const std::string& key, const std::string& boot) {
  return to_hex(FieldHasher().field(key).field(boot).finish()).substr(0, 32) + ".key";
}

/// Files of boots that are long past.
void remove_old(const fs::path& folder) {
  const auto old = fs::file_time_type::clock::now() - defaults::key_file_lifetime;
  std::error_code error;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    std::error_code ignored;
    const auto written = fs::last_write_time(entries->path(), ignored);
    if (!ignored && entries->path().extension() == ".key" && written < old)
      fs::remove(entries->path(), ignored);
  }
}

}  // namespace

Result<SharedBudgets> SharedBudgets::open(const fs::path& folder, const std::vector<Provider>& providers) {
  SharedBudgets budgets;
  remove_old(folder);
  const std::string boot = this_boot();
  std::set<std::string> names;
  for (const Provider& provider : providers) {
    const std::string name = file_name(provider.key, boot);
    // Sections that name one key have a budget each, of which the first is shared.
    if (!names.insert(name).second) continue;
    auto file = KeyFile::open(folder / name);
    if (!file) return fail(std::move(file.error()));
    budgets.shared_.push_back({provider.name, std::move(*file)});
  }
  return budgets;
}

void SharedBudgets::unlock(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) shared_[i].file.unlock();
}

Result<bool> SharedBudgets::begin_turn(Governor& governor, BootTime now) {
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const auto locked = shared_[i].file.lock();
    if (!locked) return fail(locked.error());
    if (*locked) continue;
    unlock(i);
    if (!waits_since_) waits_since_ = now;
    if (now - *waits_since_ < defaults::key_lock_patience) return false;
    return fail(Reason::output_failed, "another run with the key of the provider \"" + shared_[i].provider +
                                           "\" was stopped and holds what they share");
  }
  waits_since_.reset();
  for (Shared& one : shared_) {
    if (auto taken = take_in(one, governor, now); !taken) return fail(taken.error());
  }
  return true;
}

Result<void> SharedBudgets::take_in(Shared& one, Governor& governor, BootTime now) const {
  const auto news = one.file.read(now);
  if (!news) return fail(news.error());
  if (one.is_new) {
    governor.share(one.provider, news->uses, news->is_cut);
    one.is_new = false;
  } else if (news->is_cut) {
    governor.empty(one.provider, now);
  }
  governor.count(one.provider, news->uses, news->others, now);
  return {};
}

Result<void> SharedBudgets::end_turn(Governor& governor, BootTime now) {
  for (Shared& one : shared_) {
    const auto uses = governor.take_use(one.provider);
    if (auto written = one.file.write(uses, governor.places(one.provider, now)); !written) return written;
  }
  return {};
}

}  // namespace sluice
