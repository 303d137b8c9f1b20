#include "coordinator/cli/past_runs.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(PrunedRuns, AreToldWithWhatTheyFreed) {
  PrunedRuns done;
  done.runs = 12;
  done.results = 3400;
  done.left = 8;
  done.bytes_before = 14'000'000;
  done.bytes_after = 1'200'000;
  done.compacted = true;
  EXPECT_EQ(
      pruned_runs(done, false),
      "removed 12 runs with 3,400 results, 8 runs left; 14,000,000 bytes before, 1,200,000 bytes after\n");
  EXPECT_EQ(pruned_runs(done, true), "would remove 12 runs with 3,400 results, 8 runs left\n");
}

TEST(PrunedRuns, WhatStaysAndWhyIsTold) {
  PrunedRuns done;
  done.runs = 1;
  done.results = 1;
  done.left = 3;
  done.unfinished = 1;
  done.needed = 2;
  EXPECT_EQ(
      pruned_runs(done, false),
      "removed 1 run with 1 result, 3 runs left; 1 stays, being without an end: it may still be going on; "
      "2 stay, being the newest of its suite or the one that its [baseline] is from; 0 bytes before, "
      "0 bytes after (another process is at work: later runs use the room)\n");
}

}  // namespace
}  // namespace sluice
