// Workers that join by keys: who comes in, who does not and what is said, and what becomes of a key that is
// removed.
#include "tests/support/report_text.hpp"
#include "tests/support/wait.hpp"
#include "tests/support/workbench.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace sluice::fleet_keys_test {

using namespace support;

std::size_t occurrences(const std::string& text, const std::string& words) {
  std::size_t number = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + words.size()))
    ++number;
  return number;
}

const std::string any_port = "tcp://127.0.0.1:0";

class FleetKeys : public Workbench {
 protected:
  std::string key_of(const std::string& worker) const {
    return (home() / "fleet" / (worker + ".key")).string();
  }
  std::string coordinator_key() const { return key_of("coordinator"); }

  void make_key(const std::string& worker) {
    const auto made = run_sluice({"keys", "new", worker});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    EXPECT_NE(made.output.find("--fleet-key " + worker + ".key"), std::string::npos) << made.output;
  }
  Flags keyed(const SimulatorProcess& simulator) {
    return live(simulator) + Flags{"--listen", any_port, "--fleet-key", coordinator_key()};
  }
};

TEST_F(FleetKeys, AFleetWithKeysGivesTheReportOfASingleWorker) {
  make_key("gpu-7");
  make_key("pool");
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(keyed(simulator) + Flags{"--expect-workers", "3"});
  const auto endpoint = endpoint_of(coordinator);
  auto one = start_worker(endpoint, {"--fleet-key", key_of("gpu-7"), "--name", "gpu-7"});
  auto two = start_worker(endpoint, {"--fleet-key", key_of("pool"), "--name", "a"});
  set_variable("SLUICE_FLEET_KEY", key_of("pool"));
  auto three = start_worker(endpoint, {"--name", "gpu-7-too"});
  const auto finished = finish(coordinator);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
  // Nobody is called otherwise than by his key.
  for (const char* name :
       {"worker gpu-7 is there", "worker pool/a is there", "worker pool/gpu-7-too is there"})
    EXPECT_NE(finished.errors.find(name), std::string::npos) << finished.errors;
}

// The key stayed, and was in the way once the list was mended, though no `keys remove` knew it.
TEST_F(FleetKeys, NoKeyIsMadeThatTheListDoesNotTake) {
  make_key("gpu-7");
  const auto list = home() / "fleet" / "allowed";
  const auto sound = read_text(list);
  std::ofstream(list, std::ios::app) << "gpu-8 no-key\n";
  const auto refused = run_sluice({"keys", "new", "gpu-9"});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_FALSE(std::filesystem::exists(key_of("gpu-9")));
  std::ofstream(list) << sound;
  make_key("gpu-9");
}

TEST_F(FleetKeys, AStrangerIsToldWhyAndGetsNothing) {
  make_key("gpu-7");
  make_key("gpu-8");
  ASSERT_EQ(run_sluice({"keys", "remove", "gpu-8"}).exit_code, 0);
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(keyed(simulator));
  const auto endpoint = endpoint_of(coordinator);
  const Flags soon{"--coordinator-timeout", "3"};
  const auto plain = run_worker(endpoint, soon);
  EXPECT_EQ(plain.exit_code, 2);
  EXPECT_NE(plain.errors.find("admits workers by their keys"), std::string::npos) << plain.errors;
  const auto removed = run_worker(endpoint, soon + Flags{"--fleet-key", key_of("gpu-8")});
  EXPECT_EQ(removed.exit_code, 2);
  EXPECT_NE(removed.errors.find("does not list this worker's key"), std::string::npos) << removed.errors;
  EXPECT_NE(removed.errors.find("sluice keys allow gpu-8 '"), std::string::npos) << removed.errors;
  EXPECT_EQ(removed.errors.find("a message to the coordinator was not sent"), std::string::npos)
      << "it was said why: " << removed.errors;
  // Whether the coordinator hears why before the worker hangs up is luck at each connection.
  const auto patient = start_worker(endpoint, {});
  EXPECT_TRUE(has_logged(coordinator, "a connection was refused: its worker shows no key"));
  EXPECT_TRUE(has_logged(coordinator, "a connection from 127.0.0.1 was refused: this key is not listed"));
  EXPECT_EQ(simulator.count("start"), 0u);
}

// The log named neither the key nor the command that admits it.
TEST_F(FleetKeys, TheLogSaysByWhichCommandAKeyIsAdmitted) {
  const std::string list = (folder() / "workers of mine").string();
  ASSERT_EQ(run_sluice({"keys", "new", "gpu-7", "--fleet-allow", list}).exit_code, 0);
  ASSERT_EQ(run_sluice({"keys", "remove", "gpu-7", "--fleet-allow", list}).exit_code, 0);
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(keyed(simulator) + Flags{"--fleet-allow", list});
  const auto worker = start_worker(endpoint_of(coordinator), {"--fleet-key", key_of("gpu-7")});
  ASSERT_TRUE(has_logged(coordinator, " --fleet-allow '" + list + "'` here"));
  EXPECT_TRUE(has_logged(worker, "does not list this worker's key"));
  const std::string log = coordinator.errors();
  const std::string command = "run `sluice keys allow NAME '";
  const auto key = log.substr(log.find(command) + command.size(), 40);
  ASSERT_EQ(run_sluice({"keys", "allow", "gpu-7", key, "--fleet-allow", list}).exit_code, 0) << key;
  const auto finished = finish(coordinator);
  EXPECT_EQ(comparable_part(finished.output), reference_report()) << finished.errors;
  EXPECT_EQ(occurrences(finished.errors, command), 1u) << finished.errors;
}

TEST_F(FleetKeys, AWorkerJoinsItsOwnCoordinatorAlone) {
  make_key("gpu-7");
  std::filesystem::rename(key_of("gpu-7"), folder() / "gpu-7.key");
  // Another coordinator, whose list has the worker's key.
  std::filesystem::remove(coordinator_key());
  const auto list = run_sluice({"keys", "new", "gpu-9"});
  ASSERT_EQ(list.exit_code, 0) << list.errors;
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(keyed(simulator));
  const Flags soon{"--coordinator-timeout", "1", "--fleet-key", (folder() / "gpu-7.key").string()};
  const auto worker = run_worker(endpoint_of(coordinator), soon);
  EXPECT_EQ(worker.exit_code, 2);
  EXPECT_NE(worker.errors.find("is not one whose public key"), std::string::npos) << worker.errors;
  // Luck, as above.
  auto other_key = start_worker(endpoint_of(coordinator), {"--fleet-key", (folder() / "gpu-7.key").string()});
  EXPECT_TRUE(has_logged(coordinator, "a connection was refused: its worker's key file names"));
  auto unencrypted = start_sluice(live(simulator) + Flags{"--listen", any_port});
  const auto unencrypted_endpoint = endpoint_of(unencrypted);
  const auto other = run_worker(unencrypted_endpoint, soon);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.errors.find("does not encrypt"), std::string::npos) << other.errors;
  const auto patient = start_worker(unencrypted_endpoint, {"--fleet-key", (folder() / "gpu-7.key").string()});
  EXPECT_TRUE(has_logged(unencrypted, "a connection was refused: its worker has a key"));
  EXPECT_EQ(simulator.count("start"), 0u);
}

TEST_F(FleetKeys, AKeyIsReplacedWithoutStoppingARunAndARemovedOneIsCutOff) {
  make_key("gpu-7");
  const auto simulator = start_simulator({R"({"fault": "hang"})"}, {});
  auto coordinator = start_sluice(keyed(simulator) + Flags{"--drain-timeout", "0"});
  const auto endpoint = endpoint_of(coordinator);
  auto first = start_worker(endpoint, {"--fleet-key", key_of("gpu-7"), "--name", "gpu-7"});
  ASSERT_TRUE(has_logged(coordinator, "worker gpu-7 is there")) << first.errors();
  const std::string second_key = (folder() / "second.key").string();
  ASSERT_EQ(run_sluice({"keys", "new", "gpu-7", "--output", second_key}).exit_code, 0);
  auto second = start_worker(endpoint, {"--fleet-key", second_key, "--name", "again"});
  ASSERT_TRUE(has_logged(coordinator, "worker gpu-7/again is there")) << second.errors();
  ASSERT_EQ(run_sluice({"keys", "remove", "gpu-7"}).exit_code, 0);
  const auto removed_at = std::chrono::steady_clock::now();
  EXPECT_TRUE(has_logged(coordinator, "worker gpu-7 left: its key is no longer admitted"));
  EXPECT_TRUE(has_logged(coordinator, "worker gpu-7/again left: its key is no longer admitted"));
  EXPECT_LT(std::chrono::steady_clock::now() - removed_at, std::chrono::seconds(3))
      << "a heartbeat, and what a busy machine takes";
  // It is heard no more, on this connection or another.
  EXPECT_TRUE(has_logged(first, "no new call is made until the coordinator takes this worker"));
  const std::string said = first.errors();
  const auto why = said.find("does not list this worker's key");
  EXPECT_NE(why, std::string::npos) << said;
  EXPECT_LT(why, said.find("no new call is made until the coordinator takes this worker")) << said;
  EXPECT_EQ(said.find("the coordinator is silent"), std::string::npos) << said;
  const std::string log = coordinator.errors();
  EXPECT_EQ(log.find("worker gpu-7 is there"), log.rfind("worker gpu-7 is there")) << log;
}

TEST_F(FleetKeys, BeyondLoopbackTheyAreTheDefault) {
  const auto simulator = start_simulator();
  const Flags everywhere = live(simulator) + Flags{"--listen", "tcp://0.0.0.0:0"};
  const auto without = run_sluice(everywhere);
  EXPECT_EQ(without.exit_code, 2);
  for (const char* part : {"sluice keys new", "--insecure"})
    EXPECT_NE(without.errors.find(part), std::string::npos) << without.errors;
  const auto worker = run_worker("tcp://example.invalid:5555");
  EXPECT_EQ(worker.exit_code, 2);
  for (const char* part : {"--fleet-key", "--insecure"})
    EXPECT_NE(worker.errors.find(part), std::string::npos) << worker.errors;
  make_key("gpu-7");
  auto coordinator = start_sluice(everywhere);
  const auto endpoint = endpoint_of(coordinator);
  const std::string local = "tcp://127.0.0.1" + endpoint.substr(endpoint.rfind(':'));
  auto keyed_worker = start_worker(local, {"--fleet-key", key_of("gpu-7")});
  const auto finished = finish(coordinator);
  EXPECT_EQ(comparable_part(finished.output), reference_report()) << finished.errors;
}

// A key was made and not used, each side named another remedy that did not help, and again every few seconds.
TEST_F(FleetKeys, OnLoopbackAKeyThatNobodyNamesIsNotUsedAndThatIsSaidOnce) {
  make_key("gpu-7");
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port});
  const auto endpoint = endpoint_of(coordinator);
  const auto keyed_worker =
      run_worker(endpoint, {"--coordinator-timeout", "5", "--fleet-key", key_of("gpu-7")});
  EXPECT_EQ(keyed_worker.exit_code, 2);
  EXPECT_NE(keyed_worker.errors.find("--fleet-key"), std::string::npos) << keyed_worker.errors;
  // ZeroMQ tells the reason with details and without, as luck has it, and each had a warning of its own.
  EXPECT_EQ(occurrences(keyed_worker.errors, "warning: the coordinator at"), 1u) << keyed_worker.errors;
  const auto other = start_worker(endpoint, {"--fleet-key", key_of("gpu-7")});
  EXPECT_TRUE(has_logged(coordinator, "a connection was refused: its worker has a key"));
  const auto plain_worker = run_worker(endpoint);
  EXPECT_EQ(plain_worker.exit_code, 0) << plain_worker.errors;
  const auto finished = finish(coordinator);
  EXPECT_EQ(comparable_part(finished.output), reference_report()) << finished.errors;
  EXPECT_EQ(occurrences(finished.errors, "add --fleet-key " + coordinator_key()), 1u) << finished.errors;
  EXPECT_EQ(occurrences(finished.errors, "a connection was refused"), 1u) << finished.errors;
}

TEST_F(FleetKeys, AreTheirOwnersAlone) {
  make_key("gpu-7");
  using std::filesystem::perms;
  const auto permissions = std::filesystem::status(key_of("gpu-7")).permissions();
  EXPECT_EQ(permissions & (perms::group_all | perms::others_all), perms::none);
  std::filesystem::permissions(key_of("gpu-7"), perms::others_read, std::filesystem::perm_options::add);
  const auto worker = run_worker("tcp://127.0.0.1:1", {"--fleet-key", key_of("gpu-7")});
  EXPECT_EQ(worker.exit_code, 2);
  EXPECT_NE(worker.errors.find("chmod 600"), std::string::npos) << worker.errors;
  const auto again = run_sluice({"keys", "new", "gpu-7"});
  EXPECT_EQ(again.exit_code, 2) << "a key is never written over";
  const auto list = run_sluice({"keys", "list"});
  EXPECT_EQ(list.exit_code, 0) << list.errors;
  EXPECT_NE(list.output.find("coordinator  "), std::string::npos) << list.output;
  EXPECT_NE(list.output.find("gpu-7        "), std::string::npos) << list.output;
}

}  // namespace sluice::fleet_keys_test
