// Damaged homes with the built programs: named, never shown as if they were sound, and repaired.

#include "tests/support/ledger_rows.hpp"
#include "tests/support/nested_json.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/wait.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::doctor_test {

using namespace support;
using nlohmann::json;
namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

class DoctorHome : public Workbench {
 protected:
  fs::path ledger() const { return home() / "ledger.db"; }

  /// A home with a live run that saved observations.
  void make_home(const SimulatorProcess& simulator) {
    const auto run = run_sluice(live(simulator) + Flags{"--save-observations"});
    ASSERT_EQ(run.exit_code, 1) << run.errors;
    run_id_ = parse_report(run.output)["run_id"].get<std::string>();
  }
  Finished doctor(const Flags& flags = {}) { return run_sluice(Flags{"doctor"} + flags); }
  json findings() {
    const auto finished = doctor({"--json"});
    EXPECT_TRUE(finished.exit_code == 0 || finished.exit_code == 1) << finished.errors;
    return json::parse(finished.output, nullptr, false)["findings"];
  }
  /// Over a file, at a place that the seed names.
  static void damage(const fs::path& file, std::mt19937& random) {
    std::string bytes = bytes_of(file);
    const std::size_t at = random() % bytes.size();
    if (random() % 6 == 0) {
      bytes.resize(at);
    } else {
      for (std::size_t i = at; i < std::min(bytes.size(), at + 40); ++i)
        bytes[i] = static_cast<char>(~bytes[i]);
    }
    write_bytes(file, bytes);
  }

  std::string run_id_;
};

TEST_F(DoctorHome, ASoundHomeIsSound) {
  const auto simulator = start_simulator();
  make_home(simulator);
  const auto finished = doctor();
  EXPECT_EQ(finished.exit_code, 0) << finished.output << finished.errors;
  EXPECT_NE(finished.output.find("all is sound"), std::string::npos) << finished.output;
  EXPECT_EQ(doctor({"--repair"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(home() / "set-aside"));
  const auto nowhere = doctor({"--home", (folder() / "nowhere").string()});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_NE(nowhere.errors.find("there is no home"), std::string::npos) << nowhere.errors;
}

// Every account of the machine could read what was asked and answered, and hold all runs up.
TEST_F(DoctorHome, ANewHomeIsItsOwnersAloneAndOneThatOthersEnterIsNamed) {
  const auto simulator = start_simulator();
  EXPECT_EQ(left_to_others(home(), [&] { make_home(simulator); }), fs::perms::none);
  EXPECT_EQ(doctor().output.find("other accounts"), std::string::npos);
  fs::permissions(home(), fs::perms::group_exec, fs::perm_options::add);
  const auto finished = doctor();
  EXPECT_EQ(finished.exit_code, 0) << "people share homes on purpose";
  EXPECT_NE(finished.output.find("other accounts can enter it"), std::string::npos) << finished.output;
  EXPECT_EQ(json::parse(doctor({"--json"}).output)["others_may_enter"], true);
}

// A cached run asked for answers that the ledger knew, and doctor said that all was sound and no more.
TEST_F(DoctorHome, PinnedAnswersOfACacheThatWasRemovedAreCounted) {
  const auto simulator = start_simulator();
  make_home(simulator);
  const std::string words = "are in caches that are not in this home";
  EXPECT_EQ(doctor().output.find(words), std::string::npos) << "they are there";
  fs::rename(home() / "cache" / "worker-0", folder() / "away");
  const auto finished = doctor();
  EXPECT_EQ(finished.exit_code, 0) << "workers elsewhere may hold them";
  const auto counted = json::parse(doctor({"--json"}).output, nullptr, false);
  const auto pins = counted["pins"].get<std::size_t>();
  EXPECT_GT(pins, 0u) << counted;
  EXPECT_EQ(counted["pins_elsewhere"], pins);
  EXPECT_NE(
      finished.output.find(std::to_string(pins) + " of " + std::to_string(pins) + " pinned answers " + words),
      std::string::npos)
      << finished.output;
  EXPECT_NE(finished.output.find("`--mode live` asks for them again"), std::string::npos) << finished.output;
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  EXPECT_EQ(doctor().output.find(words), std::string::npos) << "they were asked for again";
}

// All was sound, with 0 entries, and the next run removed the table that held the answers.
TEST_F(DoctorHome, ACacheWhoseListOfTablesWasCutOffIsFoundAndRepaired) {
  const auto simulator = start_simulator();
  make_home(simulator);
  const fs::path database = home() / "cache" / "worker-0" / "db";
  fs::path manifest;
  fs::path table;
  for (const auto& entry : fs::directory_iterator(database)) {
    if (entry.path().filename().string().starts_with("MANIFEST")) manifest = entry.path();
    if (entry.path().extension() == ".sst") table = entry.path();
  }
  ASSERT_FALSE(manifest.empty() || table.empty());
  const std::string bytes = bytes_of(manifest);
  // Behind the names of all kinds of entries, and before the table's.
  write_bytes(manifest, bytes.substr(0, bytes.find("votes") + 5));
  const auto found = doctor();
  EXPECT_EQ(found.exit_code, 1) << found.output << found.errors;
  EXPECT_NE(found.output.find(table.filename().string()), std::string::npos) << found.output;
  for (int i = 0; i < 2; ++i) {
    const auto refused = run_sluice(live(simulator));
    EXPECT_EQ(refused.exit_code, 2) << refused.errors;
    EXPECT_NE(refused.errors.find("`sluice doctor --repair`"), std::string::npos) << refused.errors;
  }
  ASSERT_TRUE(fs::exists(table));
  EXPECT_EQ(doctor({"--repair"}).exit_code, 0);
  EXPECT_EQ(comparable_part(run_sluice(cached(simulator)).output), reference_report());
}

TEST_F(DoctorHome, ADamagedBlockIsNamedOnceAndARepairSaysWhatItCost) {
  const auto simulator = start_simulator();
  make_home(simulator);
  for (const auto& entry : fs::directory_iterator(home() / "cache" / "worker-0" / "db")) {
    if (entry.path().extension() != ".sst") continue;
    std::string bytes = bytes_of(entry.path());
    bytes.replace(1000, 30, std::string(30, '\x5a'));
    write_bytes(entry.path(), bytes);
  }
  const auto found = findings();
  ASSERT_EQ(found.size(), 1u) << found;
  const std::string what = found[0]["what"];
  EXPECT_EQ(what.find(home().string()), std::string::npos) << what << " is named before it";
  const auto repaired = doctor({"--repair"});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.errors;
  EXPECT_NE(repaired.output.find(" entries, all that could be read; left out: what stood in "),
            std::string::npos)
      << repaired.output;
  EXPECT_NE(repaired.output.find("entries may be lost"), std::string::npos) << repaired.output;
  EXPECT_EQ(repaired.output.find("rebuilt with 0 entries"), std::string::npos) << repaired.output;
  // The ledger still knows them.
  const auto counted = json::parse(doctor({"--json"}).output, nullptr, false);
  EXPECT_GT(counted["pins_lost"].get<std::size_t>(), 0u) << counted;
  EXPECT_LT(counted["pins_lost"], counted["pins"]);
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  EXPECT_EQ(json::parse(doctor({"--json"}).output, nullptr, false)["pins_lost"], 0);
}

TEST_F(DoctorHome, PinnedAnswersThatTheirCacheLacksAreCounted) {
  const auto simulator = start_simulator();
  make_home(simulator);
  fs::rename(home() / "cache" / "worker-0" / "db", folder() / "db");
  ASSERT_EQ(run_sluice({"cache", "prune", "--older-than", "1h"}).exit_code, 0) << "it makes a new database";
  const auto finished = doctor();
  EXPECT_EQ(finished.exit_code, 0) << "somebody may have removed them";
  EXPECT_NE(finished.output.find(" pinned answers are not in the cache that the ledger names"),
            std::string::npos)
      << finished.output;
}

TEST_F(DoctorHome, ARunThatLostResultsIsGoneOnWithAfterARepair) {
  const auto simulator = start_simulator();
  make_home(simulator);
  // The results of a third of the ledger's pages are noise.
  std::string bytes = bytes_of(ledger());
  const std::size_t pages = bytes.size() / 4096;
  for (std::size_t page = pages / 3; page < pages / 3 + 3; ++page)
    for (std::size_t i = 0; i < 4096; i += 3) bytes[page * 4096 + i] = '\x5a';
  write_bytes(ledger(), bytes);
  const auto found = doctor();
  EXPECT_EQ(found.exit_code, 1) << found.errors;
  EXPECT_NE(found.output.find("ledger.db: "), std::string::npos) << found.output;
  EXPECT_NE(found.output.find("`sluice doctor --repair` restores"), std::string::npos) << found.output;

  const auto repaired = doctor({"--repair"});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.output << repaired.errors;
  EXPECT_NE(repaired.output.find("ledger.db: restored with "), std::string::npos) << repaired.output;
  EXPECT_EQ(doctor().exit_code, 0);
  ASSERT_TRUE(fs::exists(home() / "set-aside"));
  const auto before = simulator.count("start");
  const auto resumed = run_sluice({"run", "--resume"});
  if (repaired.output.find("lacks results now") != std::string::npos) {
    EXPECT_EQ(resumed.exit_code, 1) << resumed.errors;
    EXPECT_EQ(comparable_part(resumed.output), reference_report());
    EXPECT_EQ(simulator.count("start"), before) << "the answers are in the cache";
  }
  const auto again = run_sluice(cached(simulator));
  EXPECT_EQ(comparable_part(again.output), reference_report()) << again.errors;
}

TEST_F(DoctorHome, MissingAndForeignFilesAreNamed) {
  const auto simulator = start_simulator();
  make_home(simulator);
  write_bytes(home() / "notes.txt", "foreign");
  write_bytes(home() / "cache" / "notes.txt", "foreign");
  write_bytes(home() / "damaged.cassette", "no cassette");
  const auto foreign = doctor({"--repair"});
  EXPECT_EQ(foreign.exit_code, 1) << "nobody but its owner moves it away";
  for (const char* name : {"notes.txt", "cache/notes.txt", "damaged.cassette"})
    EXPECT_NE(foreign.output.find(name), std::string::npos) << foreign.output;
  fs::remove(home() / "notes.txt");
  fs::remove(home() / "cache" / "notes.txt");
  fs::remove(home() / "damaged.cassette");
  fs::remove(ledger());
  const auto missing = doctor({"--repair"});
  EXPECT_EQ(missing.exit_code, 0) << missing.output << missing.errors;
  EXPECT_NE(missing.output.find("ledger.db: it is missing"), std::string::npos) << missing.output;
  EXPECT_EQ(comparable_part(run_sluice(cached(simulator)).output), reference_report());
}

// `doctor`, `doctor --repair` and `observations list` waited for whoever might open the other end.
TEST_F(DoctorHome, PipesInTheirPlacesAreNamedAndWaitedForByNobody) {
  const auto simulator = start_simulator();
  make_home(simulator);
  for (const char* name : {"ledger.db", "observations.db", "runs.lock"}) {
    SCOPED_TRACE(name);
    const fs::path file = home() / name;
    fs::rename(file, folder() / name);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    const bool is_lock = file.filename() == "runs.lock";
    for (const Flags& flags : {Flags{}, Flags{"--repair"}}) {
      const auto finished = doctor(flags);
      EXPECT_EQ(finished.exit_code, is_lock ? 0 : 1) << finished.output << finished.errors;
      EXPECT_EQ(finished.output.find("it is a pipe or a device: move it away") != std::string::npos, !is_lock)
          << finished.output;
    }
    for (const Flags& command : {Flags{"runs", "list"}, Flags{"observations", "list"}, Flags{"show", "last"}})
      EXPECT_TRUE(run_sluice(command).exit_code.has_value()) << command.front();
    fs::remove(file);
    fs::rename(folder() / name, file);
  }
  EXPECT_EQ(doctor().exit_code, 0);
}

// A run and `doctor` waited likewise.
TEST_F(DoctorHome, PipesInACacheAreNamedAndWaitedForByNobody) {
  const auto simulator = start_simulator();
  make_home(simulator);
  const fs::path cache = home() / "cache" / "worker-0";
  for (const char* name : {"ID", "ID.new", "LOCK.sluice", "db/CURRENT", "db/IDENTITY", "db/000999.sst"}) {
    SCOPED_TRACE(name);
    const fs::path file = cache / name;
    const bool is_there = fs::exists(file);
    if (is_there) fs::rename(file, folder() / "kept");
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    const auto finished = doctor();
    EXPECT_EQ(finished.exit_code, 1) << finished.output << finished.errors;
    EXPECT_NE(
        finished.output.find(fs::path(name).filename().string() + " is a pipe or a device: move it away"),
        std::string::npos)
        << finished.output;
    const auto run = run_sluice(cached(simulator));
    EXPECT_EQ(run.exit_code, 2) << run.errors;
    EXPECT_NE(run.errors.find("is a pipe or a device: move it away"), std::string::npos) << run.errors;
    EXPECT_TRUE(run_sluice({"cache", "stats"}).exit_code.has_value());
    fs::remove(file);
    if (is_there) fs::rename(folder() / "kept", file);
  }
  EXPECT_EQ(doctor().exit_code, 0);
}

TEST_F(DoctorHome, AHomeInUseIsRefusedByTheRunsName) {
  const auto stalling = start_simulator({R"({"fault": "hang"})"}, {});
  auto run = start_sluice(live(stalling));
  ASSERT_TRUE(eventually([&] { return stalling.count("start") > 0; })) << run.errors();
  const json runs = json::parse(run_sluice({"runs", "list", "--format", "json"}).output, nullptr, false);
  const std::string id = runs[0]["run_id"];
  for (const Flags& flags : {Flags{}, Flags{"--repair"}}) {
    const auto refused = doctor(flags);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.errors.find("run " + id.substr(0, 8) + " is under way in "), std::string::npos)
        << refused.errors;
  }
  run.signal(SIGKILL);
  run.wait();
  EXPECT_EQ(doctor().exit_code, 0);
}

TEST_F(DoctorHome, ARepairThatWasCutOffIsGoneOnWith) {
  const auto simulator = start_simulator();
  make_home(simulator);
  fs::copy_file(ledger(), home() / "ledger.db.restored");
  write_bytes(ledger(), "damaged");
  const auto refused = run_sluice(live(simulator));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.error_lines().size(), 1u) << refused.errors;
  const auto found = doctor();
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_NE(found.output.find("ledger.db: its repair was cut off"), std::string::npos) << found.output;
  const auto repaired = doctor({"--repair"});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.errors;
  EXPECT_EQ(doctor().exit_code, 0);
  EXPECT_EQ(run_sluice({"runs", "show", run_id_}).exit_code, 0);
}

TEST_F(DoctorHome, WhatWasRepairedIsSaidThoughTheNextFileCannotBe) {
  const auto simulator = start_simulator();
  make_home(simulator);
  write_bytes(ledger(), "damaged");
  write_bytes(home() / "observations.db", "damaged");
  fs::create_directories(home() / "observations.db.draft" / "in the way");
  const auto repaired = doctor({"--repair"});
  EXPECT_EQ(repaired.exit_code, 2);
  EXPECT_NE(repaired.output.find("ledger.db: restored with "), std::string::npos) << repaired.output;
  EXPECT_EQ(repaired.error_lines().size(), 1u) << repaired.errors;
  EXPECT_EQ(bytes_of(home() / "observations.db"), "damaged");
  fs::remove_all(home() / "observations.db.draft");
  EXPECT_EQ(doctor({"--repair"}).exit_code, 0);
  EXPECT_EQ(doctor().exit_code, 0);
}

TEST_F(DoctorHome, ObservationsOnAnotherDiskAreRepairedThere) {
  const TemporaryFolder elsewhere("/dev/shm");
  const auto simulator = start_simulator();
  const fs::path file = elsewhere.path() / "observations.db";
  set_variable("SLUICE_DATABASE_PATH", file.string());
  make_home(simulator);
  write_bytes(file, "damaged");
  const auto repaired = doctor({"--repair"});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.output << repaired.errors;
  EXPECT_EQ(doctor().exit_code, 0);
}

TEST_F(DoctorHome, WhatStandsInADamagedFileBreaksNoJson) {
  const auto simulator = start_simulator();
  make_home(simulator);
  std::string bytes = bytes_of(ledger());
  const auto at = bytes.find("CREATE TABLE limits");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 6] = '\xff';
  write_bytes(ledger(), bytes);
  const auto repaired = doctor({"--repair", "--json"});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.output << repaired.errors;
  const json document = json::parse(repaired.output, nullptr, false);
  ASSERT_TRUE(document.is_object()) << repaired.output;
  EXPECT_NE(document["repaired"][0]["left_out"].dump().find("malformed database schema"), std::string::npos)
      << repaired.output;
}

TEST_F(DoctorHome, JsonThatNestsTooDeeplyIsNamedWithWhatToDo) {
  make_home(start_simulator());
  const std::string deep = " = '" + nested_json + "', checksum = NULL";
  leave_in_log(ledger(), "UPDATE runs SET flags" + deep);
  leave_in_log(home() / "observations.db", "UPDATE observations SET parsed_claims" + deep);
  const auto finished = doctor({"--repair"});
  EXPECT_EQ(finished.exit_code, 1) << "nothing repairs it";
  EXPECT_NE(
      finished.output.find("ledger.db: its table runs: the JSON of run " + run_id_.substr(0, 8) +
                           " in the column flags nests deeper than 128 levels, and is read as none: "
                           "commands that show, repeat or resume that run may refuse it: begin a new one"),
      std::string::npos)
      << finished.output;
  EXPECT_NE(finished.output.find(" in the column parsed_claims nests deeper"), std::string::npos)
      << finished.output;
  EXPECT_NE(finished.output.find("`sluice observations prune` removes it"), std::string::npos)
      << finished.output;
  EXPECT_FALSE(fs::exists(home() / "set-aside"));
}

TEST_F(DoctorHome, AHomeThatNeverHadALedgerLacksNone) {
  fs::create_directories(home() / "cache" / "worker-0" / "db");
  EXPECT_EQ(doctor({"--repair"}).exit_code, 0);
  const auto sound = doctor();
  EXPECT_EQ(sound.exit_code, 0) << sound.output;
  write_bytes(ledger(), "");  // Of a run that was killed as it made it.
  const auto empty = doctor();
  EXPECT_EQ(empty.exit_code, 0) << empty.output;
}

TEST_F(DoctorHome, NoRunOpensALedgerThatIsBeingReplaced) {
  fs::create_directories(home());
  const int lock = ::open((home() / "runs.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct flock all {};
  all.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(lock, F_OFD_SETLK, &all), 0);
  auto waiting = start_sluice({"run", "--mode", "mock", "--fixtures", shipped_fixtures().string()});
  EXPECT_TRUE(support::eventually([&] {
    return waiting.errors().find("the run begins when that is done") != std::string::npos;
  })) << waiting.errors();
  EXPECT_FALSE(fs::exists(ledger())) << "it was open before anybody asked for the lock";
  ::close(lock);
  EXPECT_EQ(waiting.wait(), 1) << "nothing is found in mock mode: " << waiting.errors();
  EXPECT_TRUE(fs::exists(ledger()));
}

// Whatever is damaged, wherever: no crash, nothing wrong shown, found, and repaired to a home that works.
TEST_F(DoctorHome, NoDamageCrashesOrGivesAWrongReport) {
  const auto simulator = start_simulator();
  make_home(simulator);
  ASSERT_EQ(run_sluice({"cache", "export", "--output", "a.cassette"}).exit_code, 0);
  const fs::path whole = folder() / "whole";
  fs::copy(home(), whole, fs::copy_options::recursive);
  std::vector<fs::path> files{"ledger.db", "observations.db"};
  for (const auto& entry : fs::recursive_directory_iterator(whole / "cache")) {
    const auto name = entry.path().filename().string();
    const bool counts = name.ends_with(".sst") || name.ends_with(".log") || name.starts_with("MANIFEST") ||
                        name == "CURRENT" || name == "ID";
    if (counts && entry.file_size() > 0) files.push_back(fs::relative(entry.path(), whole));
  }
  std::mt19937 random(20261124);
  const auto is_an_exit = [](const Finished& finished) {
    return finished.exit_code && *finished.exit_code >= 0 && *finished.exit_code <= 2;
  };
  constexpr int mutations = 24;
  int found = 0;
  for (int i = 0; i < mutations; ++i) {
    fs::remove_all(home());
    fs::copy(whole, home(), fs::copy_options::recursive);
    const fs::path file = files[static_cast<std::size_t>(i) % files.size()];
    damage(home() / file, random);
    const std::string where = std::to_string(i) + ": " + file.string();
    const auto checked = doctor();
    ASSERT_TRUE(is_an_exit(checked)) << where << checked.errors;
    if (checked.exit_code == 1) {
      ++found;
      // A folder stands for the files of a cache.
      const auto named = file.begin()->string() == "cache" ? std::string("cache/") : file.string() + ": ";
      EXPECT_NE(checked.output.find(named), std::string::npos) << where << checked.output;
    }
    const auto shown = run_sluice({"show", run_id_, "--filter", "*", "--json"});
    ASSERT_TRUE(is_an_exit(shown)) << where << shown.errors;
    const auto replayed = run_sluice(cached(simulator));
    ASSERT_TRUE(is_an_exit(replayed)) << where << replayed.errors;
    const json report = json::parse(replayed.output, nullptr, false);
    const bool lacks_some = report.is_object() && report["metrics"]["errors"] != 0;
    if (replayed.exit_code != 2 && lacks_some) {
      for (const auto& message : report["run"]["errors"])
        EXPECT_NE(message.get<std::string>().find("entry"), std::string::npos) << where << message;
    } else if (replayed.exit_code != 2) {
      EXPECT_EQ(comparable_part(replayed.output), reference_report()) << where;
    } else {
      EXPECT_FALSE(replayed.error_lines().empty()) << where;
    }
    const auto repaired = doctor({"--repair"});
    EXPECT_EQ(repaired.exit_code, 0) << where << repaired.output << repaired.errors;
    EXPECT_EQ(doctor().exit_code, 0) << where;
    const auto live_again = run_sluice(live(simulator));
    EXPECT_EQ(comparable_part(live_again.output), reference_report()) << where << live_again.errors;
  }
  EXPECT_GT(found, mutations / 2);
  const std::string cassette = bytes_of(folder() / "a.cassette");
  for (int i = 0; i < 4; ++i) {
    damage(folder() / "a.cassette", random);
    const auto checked = doctor({"a.cassette"});
    EXPECT_EQ(checked.exit_code, 1) << checked.errors;
    EXPECT_NE(checked.output.find("a.cassette"), std::string::npos) << checked.output;
    write_bytes(folder() / "a.cassette", cassette);
  }
  EXPECT_EQ(doctor({"a.cassette"}).exit_code, 0);
  const auto absent = doctor({"b.cassette"});
  EXPECT_EQ(absent.exit_code, 2) << "a slip in the name is no damage";
  EXPECT_NE(absent.errors.find("there is no cassette b.cassette"), std::string::npos) << absent.errors;
  // The others were not checked.
  damage(folder() / "a.cassette", random);
  const auto beside = doctor({"a.cassette", "b.cassette"});
  EXPECT_EQ(beside.exit_code, 2);
  EXPECT_NE(beside.output.find("a.cassette"), std::string::npos) << beside.output;
}

}  // namespace sluice::doctor_test
