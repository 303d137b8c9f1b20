#include "coordinator/shared_budget/shared_budgets.hpp"

#include "common/hash.hpp"
#include "coordinator/shared_budget/defaults.hpp"

#include <fstream>
#include <map>
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

Result<SharedBudgets> SharedBudgets::open(const fs::path& folder, const std::vector<Provider>& providers,
                                          BootTime patience) {
  SharedBudgets budgets;
  budgets.patience_ = patience;
  remove_old(folder);
  const std::string boot = this_boot();
  std::map<std::string, const Provider*> by_file;
  for (const Provider& provider : providers) by_file.try_emplace(file_name(provider.key, boot), &provider);
  for (const auto& [file_of_key, provider] : by_file) {
    auto file = KeyFile::open(folder / file_of_key);
    if (!file) return fail(std::move(file.error()));
    budgets.shared_.push_back({provider->name, std::move(*file), provider->calls_end_with_process});
  }
  return budgets;
}

template <class Use>
void SharedBudgets::for_each(Governor& governor, BootTime now, const Use& use) {
  std::erase_if(shared_, [&](Shared& one) {
    const Result<void> used = use(one);
    if (used) return false;
    problems_.push_back("the limits of the provider \"" + one.provider +
                        "\" are not shared with other runs any more: " + used.error().message);
    governor.stop_sharing(one.provider, now);
    return true;
  });
}

bool SharedBudgets::begin_turn(Governor& governor, BootTime now) {
  bool is_others_turn = false;
  for_each(governor, now, [&](Shared& one) -> Result<void> {
    if (is_others_turn) return {};
    const auto locked = one.file.lock();
    if (!locked) return fail(locked.error());
    if (*locked) return {};
    if (!waits_since_) waits_since_ = now;
    is_others_turn = now - *waits_since_ < defaults::key_lock_patience;
    if (is_others_turn) return {};
    return fail(Reason::output_failed, "another run was stopped and holds what they share");
  });
  if (is_others_turn) {
    for (Shared& one : shared_) one.file.unlock();
    return false;
  }
  waits_since_.reset();
  for_each(governor, now, [&](Shared& one) { return take_in(one, governor, now); });
  return true;
}

Result<void> SharedBudgets::take_in(Shared& one, Governor& governor, BootTime now) const {
  const auto news = one.file.read(now, patience_);
  if (!news) return fail(news.error());
  if (one.is_new || news->is_cut) governor.share(one.provider, one.file.run(), news->uses, news->is_cut);
  one.is_new = false;
  governor.count(one.provider, news->uses, news->others, now);
  return {};
}

void SharedBudgets::end_turn(Governor& governor, BootTime now) {
  for_each(governor, now, [&](Shared& one) {
    const auto uses = governor.take_use(one.provider, now);
    const auto calls = one.calls_end_with_process && !has_outside_workers_ ? KeyFile::Calls::end_with_process
                                                                           : KeyFile::Calls::may_outlive;
    return one.file.write(uses, governor.places(one.provider, now), calls, now);
  });
}

}  // namespace sluice
