#!/usr/bin/env python3
"""Coordinator and workers of different versions: those of the version before, built from this repository's history,
work with those of this one, in one fleet and in either direction, and both sides say so.

    git worktree add build/previous ca7d7daf
    (cd build/previous && scripts/build release sluice sluice-worker)
"""

import os
import re
import subprocess
import unittest
from pathlib import Path

from fleet import MODEL, PROGRAMS, ROOT, Bench, Simulator, comparable, need, report_of_one_worker, skip, wait_for
from fleet import write_suite

# The last whose newest version of the protocol is 8.
COMMIT = "ca7d7daf"
BEFORE = Path(os.environ.get("SLUICE_TEST_PREVIOUS_PROGRAMS", ROOT / "build" / "previous" / "build" / "release" / "bin"))
CASES = 40
GOES_ON = re.compile(r"speaks version 8 of the protocol, and this side \(sluice [\d.]+\) 9: they go on by 8")


class Versions(unittest.TestCase):
    def setUp(self):
        self.bench = Bench()
        self.simulator = Simulator(self.bench, latency="20,0.1")
        self.suite = write_suite(self.bench.folder / "suite.yaml", CASES, "versions")

    def coordinator(self, programs, *flags, home="home"):
        self.report = self.bench.folder / "report.json"
        process = self.bench.start("coordinator", [
            programs / "sluice", "run", *(flags or (self.suite, *MODEL, "--base-url", self.simulator.url, "--listen",
                                                    "tcp://127.0.0.1:0")),
            "--home", self.bench.folder / home, "--format", "json", "--output", self.report])
        said = wait_for(lambda: re.findall(r"listening on (\S+)", self.bench.log("coordinator")), "nobody listens")
        self.endpoint = said[-1]
        return process

    def worker(self, programs, name):
        return self.bench.start(name, [programs / "sluice-worker", "--connect", self.endpoint, "--name", name, "--home",
                                       self.bench.folder / name, "--max-concurrent", 4])

    def check(self, coordinator, *workers):
        self.assertEqual(coordinator.wait(60), 1, self.bench.log("coordinator"))
        for worker in workers:
            self.assertEqual(worker.wait(30), 0)
        self.assertEqual(sum(map(len, self.simulator.answers().values())), CASES)
        self.assertEqual(comparable(self.report), report_of_one_worker(self.bench, self.suite))

    def test_a_worker_of_the_version_before_beside_one_of_this(self):
        coordinator = self.coordinator(PROGRAMS)
        workers = [self.worker(BEFORE, "old"), self.worker(PROGRAMS, "new")]
        self.check(coordinator, *workers)
        log = self.bench.log("coordinator")
        self.assertEqual(len(GOES_ON.findall(log)), 1, log)
        self.assertIn("worker old (sluice ", log)
        self.assertNotIn("goes on by 8", self.bench.log("new"))

    def test_a_coordinator_of_the_version_before(self):
        coordinator = self.coordinator(BEFORE)
        worker = self.worker(PROGRAMS, "new")
        self.check(coordinator, worker)
        self.assertRegex(self.bench.log("new"), "the coordinator " + GOES_ON.pattern)

    def test_a_run_of_the_version_before_goes_on_under_this_one(self):
        """Its results are read, and its worker stays."""
        coordinator = self.coordinator(BEFORE)
        worker = self.worker(BEFORE, "old")
        wait_for(lambda: '"answer"' in self.simulator.events_file.read_text(), "no call came")
        coordinator.kill()
        coordinator.wait()
        self.check(self.coordinator(PROGRAMS, "--resume"), worker)


if __name__ == "__main__":
    need()
    for program in ("sluice", "sluice-worker"):
        if not (BEFORE / program).exists():
            skip(f"there is no {BEFORE / program} (its first lines say how to build it from {COMMIT})")
    said = subprocess.run([BEFORE / "sluice", "--version"], capture_output=True, text=True)
    print(f"the version before: {said.stdout.strip()} at {COMMIT}")
    unittest.main(verbosity=2)
