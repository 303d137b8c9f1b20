// Ledgers that were damaged: a sound one with some of its bytes changed or cut off, or any bytes at all. What
// can be read is read, what cannot is named in one sentence.
#include "coordinator/ledger/ledger.hpp"
#include "tests/fuzz/fuzzed_input.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <unistd.h>

namespace {

using namespace sluice;

constexpr const char* run_id = "0b4e28ba-2fa1-11d2-883f-0016d3cca427";

std::filesystem::path folder() {
  static const auto made = [] {
    const auto base = std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                          : std::filesystem::temp_directory_path();
    auto dir = base / ("fuzz-ledger-" + std::to_string(getpid()));
    std::filesystem::create_directories(dir);
    return dir;
  }();
  return made;
}

void require(bool condition) {
  SLUICE_PROMISE(condition);
}

void fill(Ledger& ledger) {
  RunRecord run;
  run.run_id = run_id;
  run.suite = "suite";
  run.mode = "live";
  run.started_at_ms = 1'700'000'000'000;
  run.trials = 3;
  run.suite_path = "/suite";
  run.settings = "{}";
  run.flags = R"({"suite":["a"]})";
  require(ledger.begin_run(run).has_value());
  require(ledger.note_asked(run_id, std::vector<AskedCase>{{"a", 1, 7}, {"b", 2, 7}}).has_value());
  const SuiteCopy suite{"/suite",
                        {{"/suite/a.toml", "[metadata]"}, {"/suite/b.toml", ""}},
                        {{"/suite", {{"a.toml", CopiedEntry::Kind::file}}}}};
  require(ledger.note_suite(run_id, suite).has_value());
  std::vector<ResultToCommit> results;
  for (TrialId trial = 0; trial < 3; ++trial) {
    UnitResult result;
    result.unit = trial;
    result.key = sha256(std::to_string(trial));
    result.answer = sha256("answer");
    if (trial == 2) {
      result.error = Error{Reason::timed_out, "too late"};
    } else {
      result.scores.push_back({trial, {}, {}});
      result.shown_text = "an answer";
    }
    results.push_back({result, {trial}, "worker", "cache-1"});
  }
  require(ledger.commit(run_id, results, true).has_value());
  UnitSpend spent{1, {}};
  spent.spend.add_answer(CallKind::judge, {10, 5});
  require(ledger.note_spends(run_id, std::vector{spent}).has_value());
  require(ledger.note_leases(run_id, std::vector<NotedLease>{{1, "cache-1"}}).has_value());
  require(
      ledger.note_holders(std::vector<EntryHolder>{{{EntryKind::vote, sha256("v")}, "cache-1"}}).has_value());
}

/// The bytes of a sound ledger.
const std::string& sound_ledger() {
  static const std::string bytes = [] {
    const auto file = folder() / "sound.db";
    {
      auto ledger = Ledger::open(file);
      require(ledger.has_value());
      fill(*ledger);
    }
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  return bytes;
}

/// Half of the inputs change single bytes, wherever they are; the others cut off, or are a file themselves.
std::string damaged(fuzz::FuzzedInput& input) {
  const auto form = input.below(8);
  if (form == 7) return std::string(input.rest());
  std::string bytes = sound_ledger();
  if (form == 6) bytes.resize(bytes.size() * input.byte() / 256);
  for (int changes = 0; changes < 64 && !input.empty() && !bytes.empty(); ++changes) {
    const std::size_t page = input.byte();
    const std::size_t offset = page * 4096 + std::size_t{input.byte()} * 256 / 16 + input.byte();
    bytes[offset % bytes.size()] = static_cast<char>(input.byte());
  }
  return bytes;
}

template <class T>
void check(const Result<T>& result) {
  if (result) return;
  const auto& message = result.error().message;
  SLUICE_PROMISE(!message.empty() && message.find('\n') == std::string::npos);
}

void read_all(Ledger& ledger) {
  check(ledger.list_runs(10));
  const auto run = ledger.find_run("last");
  check(run);
  const std::string id = run ? run->run.run_id : run_id;
  std::size_t visited = 0;
  check(ledger.visit_committed(id, [&](const CommittedTrial&, const std::string&) { ++visited; }));
  check(ledger.results_of(id)->visit([&](const CommittedTrial&) { ++visited; }));
  check(ledger.spends_of(id));
  check(ledger.leases_of(id));
  check(ledger.cases_of(id));
  check(ledger.asked_by(id));
  check(ledger.time_of(id));
  check(ledger.suite_of(id));
  check(ledger.answers_of(id));
  check(ledger.latest_run("/suite", [](const PastRun&) { return true; }));
  check(ledger.baseline_runs("/suite"));
  const std::vector<Digest> keys{sha256("0"), sha256("1")};
  check(ledger.pins(keys));
  const std::vector<EntryKey> entries{{EntryKind::vote, sha256("v")}};
  check(ledger.holders(entries));
  check(ledger.limits());
  check(ledger.calibrations_of("suite"));
  check(ledger.quality({}));
  check(ledger.retrievals({}));
  check(ledger.retrievals_of(id));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::FuzzedInput input(data, size);
  const auto bytes = damaged(input);
  const auto file = folder() / "ledger.db";
  for (const char* beside : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(std::filesystem::path(file.string() + beside));
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  auto reading = Ledger::open_read_only(file);
  check(reading);
  if (reading) read_all(*reading);
  auto ledger = Ledger::open(file);
  check(ledger);
  if (ledger) read_all(*ledger);
  return 0;
}
