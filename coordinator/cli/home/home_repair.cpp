#include "coordinator/cli/home/home_repair.hpp"

#include "common/disk.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/ledger/file_check.hpp"
#include "coordinator/ledger/file_swap.hpp"
#include "coordinator/ledger/run_lock.hpp"
#include "coordinator/session/resume_run.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// `2026-11-24T03-40-12`: no file system minds it.
std::string name_of_time(std::int64_t now_ms) {
  std::string text = wording::rfc3339(now_ms).substr(0, 19);
  std::ranges::replace(text, ':', '-');
  return text;
}

/// Those that `sluice run --resume` would take if they had no end.
Result<RestoredFile> restore_resumable_ledger(const fs::path& damaged, const fs::path& restored) {
  return restore_ledger_file(damaged, restored, [](PastRun run) {
    run.summary.reset();
    run.under_way = false;  // By whoever repairs: it holds the locks of all.
    return is_unfinished(run);
  });
}

class Repairs {
 public:
  Repairs(const fs::path& home, const CacheTools& caches, std::int64_t now_ms)
      : folder_(home / set_aside_folder), time_(name_of_time(now_ms)), caches_(caches) {}

  Result<RepairedFile> repair(const HomeFinding& finding) {
    if (!make_folders_on_disk(folder_))
      return fail(Reason::output_failed,
                  "cannot repair " + finding.file.string() + ": the folder " + folder_.string() +
                      " cannot be made; check the space and the permissions of its home");
    RepairedFile done;
    done.file = finding.file;
    done.aside = folder_ / (finding.file.filename().string() + "-" + time_);
    if (finding.repair == Repair::cache) return rebuild(std::move(done));
    return restore(std::move(done),
                   finding.repair == Repair::ledger ? restore_resumable_ledger : restore_observations_file);
  }

 private:
  Result<RepairedFile> rebuild(RepairedFile done) {
    const auto rebuilt = caches_.rebuild({done.file, done.aside});
    if (!rebuilt) return fail(rebuilt.error());
    done.what = "rebuilt with " + wording::grouped(rebuilt->kept) +
                (rebuilt->kept == 1 ? " entry" : " entries") +
                (rebuilt->places > 0 ? ", all that could be read" : "");
    if (rebuilt->left_out > 0)
      done.left_out.push_back(std::to_string(rebuilt->left_out) + " that did not verify");
    if (rebuilt->places > 0)
      done.left_out.push_back("what stood in " + wording::counted(rebuilt->places, "damaged place") +
                              ": entries may be lost, and `--mode live` asks for them again");
    return done;
  }

  Result<RepairedFile> restore(RepairedFile done,
                               Result<RestoredFile> (*restore_file)(const fs::path&, const fs::path&)) {
    if (is_half_replaced(done.file)) {
      if (auto replaced = finish_replacing(done.file, done.aside); !replaced) return fail(replaced.error());
      done.what = "replaced by what a repair had restored that was cut off";
      return done;
    }
    auto restored = restore_file(done.file, draft_beside(done.file));
    Result<void> replaced;
    if (restored) replaced = replace_by_draft(done.file, done.aside);
    if (!restored || !replaced) {
      remove_draft(done.file);
      return fail(restored ? replaced.error() : restored.error());
    }
    done.what = "restored with " + wording::counted(restored->rows, "row");
    done.left_out = std::move(restored->left_out);
    done.unfinished = std::move(restored->reopened);
    return done;
  }

  fs::path folder_;
  std::string time_;
  const CacheTools& caches_;
};

}  // namespace

HomeRepair repair_home(const fs::path& home, std::span<const HomeFinding> findings, const CacheTools& caches,
                       std::int64_t now_ms) {
  HomeRepair repair;
  const auto lock = RunLock::take_all(home);
  if (!lock) {
    repair.problem = lock.error();
    return repair;
  }
  Repairs repairs(home, caches, now_ms);
  std::set<fs::path> seen;
  for (const HomeFinding& finding : findings) {
    if (finding.repair == Repair::none || !seen.insert(finding.file).second) continue;
    auto done = repairs.repair(finding);
    if (!done) {
      repair.problem = std::move(done.error());
      break;
    }
    repair.done.push_back(std::move(*done));
  }
  return repair;
}

}  // namespace sluice
