// What was acknowledged is in the ledger, whatever becomes of the coordinator.

#include "tests/support/ledger_rows.hpp"
#include "tests/support/raw_worker.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <csignal>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;

class Crash : public Workbench {};

TEST_F(Crash, AcknowledgedResultsSurviveTheCoordinator) {
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  RawWorker worker(endpoint_of(coordinator));
  worker.send(wire::Hello{42, "by-hand", "", SLUICE_VERSION, 5});
  const auto welcome = worker.receive_only<wire::Welcome>();
  ASSERT_TRUE(welcome);
  const auto run_id = welcome->settings.run_id;
  worker.send(wire::Ready{run_id, {}, 5, {}});
  auto work = worker.receive_only<wire::Work>();
  ASSERT_TRUE(work);
  ASSERT_EQ(work->units.size(), 5u);

  // One at a time, and the coordinator dies with the third one's acknowledgement.
  std::vector<UnitResult> acknowledged;
  for (std::size_t i = 0; i < 3; ++i) {
    acknowledged.push_back(result_of(work->units[i]));
    worker.send(wire::Report{run_id, 5, {work->units[i].unit}, {acknowledged.back()}});
    const auto ack = worker.receive_only<wire::Ack>();
    ASSERT_TRUE(ack);
    ASSERT_EQ(ack->items.size(), 1u);
    EXPECT_EQ(ack->items[0].unit, work->units[i].unit);
    EXPECT_EQ(ack->items[0].code, wire::AckCode::committed);
    EXPECT_EQ(ack->items[0].winner, acknowledged.back().answer);
  }
  coordinator.signal(SIGKILL);
  EXPECT_EQ(coordinator.wait(), 128 + SIGKILL);

  const auto rows = ledger_rows(home());
  ASSERT_EQ(rows.size(), acknowledged.size());
  for (const auto& expected : acknowledged) {
    const auto row = std::ranges::find(rows, expected.scores.front().trial, &LedgerRow::trial);
    ASSERT_NE(row, rows.end()) << "trial " << expected.scores.front().trial;
    EXPECT_EQ(row->worker, "by-hand");
    const auto stored = wire::decode_result(row->result);
    ASSERT_TRUE(stored) << stored.error().message;
    auto committed = expected;
    committed.lease = 0;
    EXPECT_EQ(*stored, committed);
  }

  // What is left behind is in nobody's way.
  const auto next = run_sluice(live(simulator));
  EXPECT_EQ(next.exit_code, 1) << next.errors;
  EXPECT_EQ(comparable_part(next.output), reference_report());
}

// A result that was acknowledged is acknowledged again and counted once; one of another run is gone.
TEST_F(Crash, RepeatedAndForeignResultsAreAnsweredAndNotCounted) {
  const auto simulator = start_simulator();
  auto coordinator =
      start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0", "--max-fixtures", "1"});
  RawWorker worker(endpoint_of(coordinator));
  worker.send(wire::Hello{43, "by-hand", "", SLUICE_VERSION, 1});
  const auto welcome = worker.receive_only<wire::Welcome>();
  ASSERT_TRUE(welcome);
  const auto run_id = welcome->settings.run_id;
  worker.send(wire::Ready{run_id, {}, 1, {}});
  const auto work = worker.receive_only<wire::Work>();
  ASSERT_TRUE(work);
  const auto result = result_of(work->units.at(0));
  worker.send(wire::Report{"another run", 1, {}, {result}});
  auto ack = worker.receive_only<wire::Ack>();
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->items.at(0).code, wire::AckCode::gone);
  EXPECT_EQ(ledger_rows(home()).size(), 0u);

  // Said again before its ACK it is on its way, and after it a duplicate, also when the run is over.
  for (const auto code : {wire::AckCode::committed, wire::AckCode::duplicate}) {
    worker.send(wire::Report{run_id, 1, {}, {result, result}});
    ack = worker.receive_only<wire::Ack>();
    ASSERT_TRUE(ack);
    ASSERT_EQ(ack->items.size(), 1u);
    EXPECT_EQ(ack->items[0].code, code);
  }
  worker.send(wire::Goodbye{"drained"});
  const auto finished = finish(coordinator);
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.errors;
  EXPECT_EQ(report["run"]["duplicates_dropped"], 1);
  EXPECT_EQ(report["run"]["workers"][0]["units"], 1);
  EXPECT_EQ(report["metrics"]["total_tokens"], 104);
}

}  // namespace
}  // namespace sluice
