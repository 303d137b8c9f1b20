// A home that nothing can be written to: an image, a shared cache, somebody else's folder.

#include "tests/support/ledger_rows.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <csignal>
#include <set>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

namespace sluice {
namespace {

using namespace support;
namespace fs = std::filesystem;

class ReadOnlyHome : public Workbench {
 protected:
  void TearDown() override { set_permissions(fs::perms::owner_write, fs::perm_options::add); }

  void set_permissions(fs::perms which, fs::perm_options how) const {
    if (!fs::exists(home())) return;
    std::vector<fs::path> all{home()};
    for (const auto& entry : fs::recursive_directory_iterator(home())) all.push_back(entry.path());
    for (const auto& path : all) fs::permissions(path, which, how);
  }
  void make_read_only() const {
    set_permissions(fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write,
                    fs::perm_options::remove);
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(home())) found.insert(entry.path().string());
    return found;
  }
};

TEST_F(ReadOnlyHome, ServesCachedRunsAndTheLedger) {
  const auto simulator = start_simulator();
  const std::string reference = reference_report();  // May run sluice in this home.
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  const Flags list{"runs", "list", "--format", "json"};
  const auto runs_before = run_sluice(list).output;
  make_read_only();
  const auto before = names();

  const auto replayed = run_sluice_obeying_permissions(cached(simulator));
  EXPECT_EQ(replayed.exit_code, 1) << replayed.errors;
  EXPECT_EQ(comparable_part(replayed.output), reference);
  EXPECT_EQ(parse_report(replayed.output)["run"]["cache_hits"], fixture_count());
  EXPECT_NE(replayed.errors.find("is read-only: the run is not recorded in its ledger"), std::string::npos)
      << replayed.errors;

  const auto listed = run_sluice_obeying_permissions(list);
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  const auto runs = nlohmann::json::parse(listed.output, nullptr, false);
  EXPECT_EQ(listed.output, runs_before) << "the cached run is recorded elsewhere";
  ASSERT_FALSE(runs.empty()) << listed.output;
  EXPECT_EQ(runs[0]["mode"], "live");
  EXPECT_EQ(run_sluice_obeying_permissions({"runs", "show", std::string(runs[0]["run_id"])}).exit_code, 0);
  EXPECT_EQ(run_sluice_obeying_permissions({"cache", "stats"}).exit_code, 0);
  const auto exported =
      run_sluice_obeying_permissions({"cache", "export", "--output", (folder() / "a.cassette").string()});
  EXPECT_EQ(exported.exit_code, 0) << exported.errors;
  EXPECT_EQ(names(), before) << "no lock and no other file";
}

// It was told as a missing answer, and later as a cache in use.
TEST_F(ReadOnlyHome, ReplaysACacheThatAnotherProcessHolds) {
  const auto simulator = start_simulator();
  const std::string reference = reference_report();
  ASSERT_NE(run_sluice(live(simulator)).exit_code, 2);
  make_read_only();
  const auto held = home() / "cache" / "worker-0";
  const int lock = ::open((held / "LOCK.sluice").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(lock, 0);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  const auto replayed = run_sluice_obeying_permissions(cached(simulator));
  ::close(lock);
  EXPECT_EQ(replayed.exit_code, 1) << replayed.errors;
  EXPECT_EQ(comparable_part(replayed.output), reference);
}

// Both named a lock that could not be opened.
TEST_F(ReadOnlyHome, TakesNoCassetteAndLosesNoEntry) {
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  ASSERT_EQ(run_sluice({"cache", "export", "--output", "a.cassette"}).exit_code, 0);
  make_read_only();
  for (const Flags& flags :
       {Flags{"cache", "import", "a.cassette"}, Flags{"cache", "prune", "--older-than", "1h"}}) {
    const auto refused = run_sluice_obeying_permissions(flags);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.errors.find("the home " + home().string() + " is read-only, so that "),
              std::string::npos)
        << refused.errors;
  }
  const auto dry = run_sluice_obeying_permissions({"cache", "prune", "--older-than", "1h", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.errors;
}

// `show` ended with exit code 2 for want of the observations beside it.
TEST_F(ReadOnlyHome, ShowsWhatItsRunsSaved) {
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator) + Flags{"--save-observations"}).exit_code, 1);
  make_read_only();
  const auto before = names();
  for (const Flags& flags : {Flags{"observations", "export"}, Flags{"show", "last", "--grid"}}) {
    const auto shown = run_sluice_obeying_permissions(flags);
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_EQ(shown.errors, "");
    EXPECT_NE(shown.output, "");
  }
  EXPECT_EQ(names(), before);
}

// SQLite wanted to make the index of the log beside it.
TEST_F(ReadOnlyHome, ShowsWhatAKilledRunLeftInItsLog) {
  const auto stalling = start_simulator({R"({"latency_ms": 0, "times": 3})", R"({"fault": "hang"})"}, {});
  {
    auto run = start_sluice(live(stalling));
    ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == 3; })) << run.errors();
    run.signal(SIGKILL);
    finish(run);
  }
  ASSERT_GT(fs::file_size(home() / "ledger.db-wal"), 0u);
  fs::remove(home() / "ledger.db-shm");
  make_read_only();
  const auto before = names();
  const auto listed = run_sluice_obeying_permissions({"runs", "list", "--format", "json"});
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  EXPECT_NE(listed.output.find("\"run_id\""), std::string::npos) << listed.output;
  EXPECT_EQ(names(), before);
}

// `doctor` and `observations` said that a database could not be opened, and others copied the whole ledger.
TEST_F(ReadOnlyHome, ReadsLogsWithoutTheirIndexesWhereTheyAre) {
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator) + Flags{"--save-observations"}).exit_code, 1);
  leave_in_log(home() / "ledger.db", "UPDATE runs SET run_id = run_id");
  leave_in_log(home() / "observations.db",
               "DELETE FROM observations WHERE id = (SELECT min(id) FROM observations)");
  ASSERT_FALSE(fs::exists(home() / "ledger.db-shm") || fs::exists(home() / "observations.db-shm"));
  make_read_only();
  const auto before = names();
  set_variable("TMPDIR", (folder() / "absent").string());  // For no copy.
  for (const Flags& flags : {Flags{"doctor"}, Flags{"runs", "list"}, Flags{"observations", "list"},
                             Flags{"show", "last", "--grid"}}) {
    const auto shown = run_sluice_obeying_permissions(flags);
    EXPECT_EQ(shown.exit_code, 0) << flags.front() << "\n" << shown.output << shown.errors;
    EXPECT_EQ(shown.errors, "");
  }
  const auto exported = run_sluice_obeying_permissions({"observations", "export"});
  EXPECT_EQ(exported.exit_code, 0) << exported.errors;
  EXPECT_EQ(std::ranges::count(exported.output, '\n'), fixture_count() - 1) << "without the one in the log";
  EXPECT_EQ(names(), before);
}

TEST_F(ReadOnlyHome, LosesNoRun) {
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  make_read_only();
  const auto refused = run_sluice_obeying_permissions({"runs", "prune", "--keep", "1"});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_NE(refused.errors.find("is read-only, so that no run can be removed"), std::string::npos)
      << refused.errors;
  EXPECT_EQ(run_sluice_obeying_permissions({"runs", "prune", "--keep", "1", "--dry-run"}).exit_code, 0);
}

TEST_F(ReadOnlyHome, ServesMockRunsAndRefusesLiveOnes) {
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  make_read_only();
  const auto mock = run_sluice_obeying_permissions(run_flags("mock", simulator));
  EXPECT_NE(mock.exit_code, 2) << mock.errors;
  const auto refused = run_sluice_obeying_permissions(live(simulator));
  EXPECT_EQ(refused.exit_code, 2);
  ASSERT_EQ(refused.error_lines().size(), 1u) << refused.errors;
  EXPECT_NE(refused.errors.find("is read-only, so that a live run could not keep the answers"),
            std::string::npos)
      << refused.errors;
}

}  // namespace
}  // namespace sluice
