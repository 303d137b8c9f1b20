#include "coordinator/cli/home/home_check.hpp"

#include "common/files.hpp"
#include "common/fleet/allow_list.hpp"
#include "common/fleet/fleet_key.hpp"
#include "common/fleet/fleet_security.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/facts/database_files.hpp"
#include "coordinator/ledger/file_check.hpp"
#include "coordinator/ledger/file_swap.hpp"
#include "coordinator/ledger/run_lock.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* move_away = "move it away, if it is nobody's";
constexpr const char* restore_ledger =
    "`sluice doctor --repair` restores what verifies, and says which runs to go on with";
constexpr const char* restore_observations = "`sluice doctor --repair` restores what verifies";
constexpr const char* begin_anew =
    "commands that show, repeat or resume that run may refuse it: begin a new one, and `sluice runs prune` "
    "removes the old one";
constexpr const char* save_anew =
    "`sluice observations prune` removes it, and a new run with --save-observations saves the case again";
constexpr const char* rebuild_cache = "`sluice doctor --repair` rebuilds it of what verifies";
constexpr const char* new_keys = "make new ones with `sluice keys new`, or fetch an undamaged copy";

bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

/// The run that is under way, as well as can be told of a ledger that may be damaged.
std::string run_under_way(const fs::path& home) {
  constexpr std::size_t newest = 100;
  const auto ledger = is_there(home / "ledger.db") ? Ledger::open_read_only(home / "ledger.db")
                                                   : fail(Reason::ledger_failed, "");
  const auto runs = ledger ? ledger->list_runs(newest) : fail(Reason::ledger_failed, "");
  if (runs) {
    const auto running = std::ranges::find(*runs, true, &PastRun::under_way);
    if (running != runs->end()) return "run " + short_id(running->run.run_id);
  }
  return "a run";
}

class Check {
 public:
  Check(const Settings& settings, const CacheTools& caches)
      : home_(settings.home.value), observations_(observations_file(settings)), caches_(caches) {}

  Result<HomeCheck> run(const std::vector<std::string>& cassettes) {
    if (!is_there(home_))
      return fail(Reason::usage_invalid, "there is no home " + home_.string() + "; name another --home");
    if (const auto holder = RunLock::holder_in(home_); holder != RunLock::Holder::nobody) {
      const std::string who =
          holder == RunLock::Holder::one ? run_under_way(home_) : "a prune or repair of the ledger";
      return fail(Reason::usage_invalid, who + " is under way in " + home_.string() +
                                             "; check again when it has ended, or end it first");
    }
    for (const auto part :
         {&Check::check_ledger, &Check::check_observations, &Check::check_caches, &Check::count_pins}) {
      if (auto checked = (this->*part)(); !checked) return fail(checked.error());
    }
    constexpr auto others = fs::perms::group_exec | fs::perms::others_exec;
    std::error_code unknown;
    check_.others_may_enter = (fs::status(home_, unknown).permissions() & others) != fs::perms::none;
    check_fleet();
    check_others();
    for (const std::string& file : cassettes)
      is_there(file) ? check_cassette(file) : check_.missing_cassettes.push_back(file);
    return std::move(check_);
  }

 private:
  void note(const fs::path& file, std::string what, std::string remedy, Repair repair = Repair::none) {
    check_.findings.push_back({file, std::move(what), std::move(remedy), repair});
  }

  void note_all(const fs::path& file, const CheckedFile& checked, const char* remedy, Repair repair) {
    for (const std::string& what : checked.damage) {
      checked.is_foreign ? note(file, what, "move it away, or use the sluice that wrote it")
                         : note(file, what, remedy, repair);
    }
  }

  /// Nothing is in a file whose process died as it made it.
  static bool has_content(const fs::path& file) {
    std::error_code error;
    return fs::file_size(file, error) > 0 && !error;
  }

  /// A file that was there leaves its log of commits behind, or other traces.
  static bool is_missing(const fs::path& file, bool is_expected) {
    return !has_content(file) && (has_content(file.string() + "-wal") || is_expected);
  }
  static std::string missing(const fs::path& file) {
    return is_there(file) ? "it is empty" : "it is missing";
  }

  /// Nobody reads what is no file, nor one whose repair was cut off, until that is done.
  bool note_unreadable(const fs::path& file, Repair repair) {
    if (is_pipe_or_device(file)) {
      note(file, "it is a pipe or a device", "move it away");
      return true;
    }
    if (!is_half_replaced(file)) return false;
    note(file, "its repair was cut off", "`sluice doctor --repair` puts in its place what was restored",
         repair);
    return true;
  }

  Result<void> check_ledger() {
    const fs::path file = home_ / "ledger.db";
    if (note_unreadable(file, Repair::ledger)) return {};
    if (is_missing(file, RunLock::is_ledger_expected(home_))) {
      note(file, missing(file) + ", and with it all that is known of past runs",
           "put it back from a copy; `sluice doctor --repair` begins a new one, and answers come out of the "
           "caches",
           Repair::ledger);
    }
    if (!has_content(file)) return {};
    ++check_.files;
    const auto checked = check_ledger_file(file);
    if (!checked) return fail(checked.error());
    note_all(file, *checked, restore_ledger, Repair::ledger);
    for (const std::string& what : checked->nested) note(file, what, begin_anew);
    return {};
  }

  Result<void> check_observations() {
    if (note_unreadable(observations_, Repair::observations)) return {};
    if (is_missing(observations_, false)) {
      note(observations_, missing(observations_) + " beside its log of commits",
           "put it back from a copy; `sluice doctor --repair` begins a new one", Repair::observations);
    }
    if (!has_content(observations_)) return {};
    ++check_.files;
    const auto checked = check_observations_file(observations_);
    if (!checked) return fail(checked.error());
    note_all(observations_, *checked, restore_observations, Repair::observations);
    for (const std::string& what : checked->nested) note(observations_, what, save_anew);
    return {};
  }

  Result<void> check_caches() {
    const auto checked = caches_.check(home_);
    if (!checked) return fail(checked.error());
    if (!checked->in_use.empty())
      return fail(Reason::cache_in_use, "the cache " + checked->in_use.front().string() +
                                            " is in use by another process; check again when it has ended");
    check_.files += checked->caches;
    check_.entries = checked->entries;
    cache_ids_ = checked->ids;
    for (const auto& [directory, what, is_foreign] : checked->damage) {
      is_foreign ? note(directory, what, move_away) : note(directory, what, rebuild_cache, Repair::cache);
    }
    return {};
  }

  Result<void> count_pins() {
    const fs::path file = home_ / "ledger.db";
    if (!check_.findings.empty()) return {};
    check_.pins = 0;
    if (!has_content(file)) return {};
    const auto ledger = Ledger::open_read_only(file);
    const auto pins = ledger ? ledger->pins_by_cache() : fail(ledger.error());
    if (!pins) return fail(pins.error());
    for (const auto& [cache, count] : *pins) {
      *check_.pins += count;
      const bool is_here = std::ranges::find(cache_ids_, cache) != cache_ids_.end();
      if (!is_here) check_.pins_elsewhere += count;
      const auto counted = is_here ? count_lost_pins(*ledger, cache) : Result<void>();
      if (!counted) return counted;
    }
    return {};
  }

  /// That they are lost is no damage: `sluice cache prune --pinned` removes them, and leaves the pins.
  Result<void> count_lost_pins(const Ledger& ledger, const std::string& cache) {
    const auto keys = ledger.keys_pinned_in(cache);
    if (!keys) return fail(keys.error());
    const auto found = caches_.find({home_, *keys, /*with_outcomes=*/true});
    if (!found) return fail(found.error());
    check_.pins_lost += static_cast<std::uint64_t>(std::ranges::count(found->held, false));
    return {};
  }

  void check_cassette(const fs::path& file) {
    ++check_.files;
    if (auto read = caches_.check_cassette(file); !read)
      note(file, read.error().message, "export it again, or fetch an undamaged copy");
  }

  void check_fleet() {
    const FleetFiles files = fleet_files_in(home_.string());
    for (const fs::path& file : paths_in(home_ / "fleet")) {
      ++check_.files;
      if (file.extension() == ".key") {
        if (auto key = read_fleet_key(file); !key) note(file, key.error().message, new_keys);
      } else if (file == fs::path(files.allowed)) {
        if (auto list = AllowList::read(file); !list) note(file, list.error().message, "mend the line");
      } else if (file != fs::path(lease_secret_file(home_.string())) && file.extension() != ".lock") {
        note(file, "it is no file of a fleet", move_away);
      }
    }
    if (is_there(files.allowed) && !is_there(files.key))
      note(files.key, "it is missing beside the list of workers", new_keys);
  }

  /// What sluice has never put there.
  void check_others() {
    constexpr std::array<std::string_view, 6> ours{"cache",     "fleet",     "keys",
                                                   "runs.lock", "ledger.db", set_aside_folder};
    const std::string observations = observations_.filename().string();
    for (const fs::path& path : paths_in(home_)) {
      std::string name = path.filename().string();
      const auto leave_out = [&name](std::string_view ending) {
        if (name.ends_with(ending)) name.resize(name.size() - ending.size());
      };
      std::ranges::for_each(database_endings, leave_out);
      for (const std::string_view of_a_repair : {".draft", ".restored"}) leave_out(of_a_repair);
      if (std::ranges::find(ours, name) != ours.end() || name == observations || name == "observations.db")
        continue;
      if (path.extension() == ".cassette") {
        check_cassette(path);
      } else {
        note(path, "it is no file of sluice's", move_away);
      }
    }
  }

  fs::path home_;
  fs::path observations_;
  const CacheTools& caches_;
  std::vector<std::string> cache_ids_;
  HomeCheck check_;
};

}  // namespace

Result<HomeCheck> check_home(const Settings& settings, const CacheTools& caches,
                             const std::vector<std::string>& cassettes) {
  return Check(settings, caches).run(cassettes);
}

}  // namespace sluice
