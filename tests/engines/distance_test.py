#!/usr/bin/env python3
"""A limit of 30 calls a second, and workers whose messages take 5, 80 and 300 ms to the coordinator and back: how much
of the limit is used, and that no call is refused."""

import json
import sys
import unittest
from pathlib import Path

from fleet import MODEL, PROGRAMS, Bench, Simulator, comparable, need, report_of_one_worker, wait_for, write_suite

HERE = Path(__file__).resolve().parent
RATE = 30
CASES = 1500
LATENCY_S = 0.2
FLEETS = {"5 ms": [5, 5], "80 ms": [80, 80], "300 ms": [300, 300], "mixed": [5, 80, 300]}
# Of the limit, over a run of 50 s, on a machine that does other things, too: Fleet.UsesALimitFromFarAwayAndNeverMore
# holds it to what it reaches on simulated time. Far workers used to use nothing.
LEAST_USED = {"5 ms": 0.85, "80 ms": 0.7, "300 ms": 0.55, "mixed": 0.7}


class Run:
    """A coordinator, and workers behind relays of so many milliseconds there and back."""

    def __init__(self, bench, name, round_trips):
        self.bench, self.name = bench, name
        slug = name.replace(" ", "-")
        self.simulator = Simulator(bench, "--rps", RATE, "--burst", "3", name=f"{slug}-provider",
                                   latency=f"{1000 * LATENCY_S},0.2")
        settings = bench.folder / f"{slug}.toml"
        settings.write_text(f"[providers.openai]\nrequests_per_minute = {60 * RATE}\n")
        self.suite = write_suite(bench.folder / f"{slug}.yaml", CASES, slug)
        self.report = bench.folder / f"{slug}.json"
        self.log = f"{slug}-coordinator"
        self.process = bench.start(self.log, [
            PROGRAMS / "sluice", "run", self.suite, *MODEL, "--base-url", self.simulator.url, "--config", settings,
            "--home", bench.folder / slug, "--listen", "tcp://127.0.0.1:0", "--expect-workers", len(round_trips),
            "--format", "json", "--output", self.report])
        listening = "listening on tcp://"
        wait_for(lambda: listening in bench.log(self.log), "the coordinator did not start")
        address = bench.log(self.log).split(listening)[1].split()[0]
        for number, round_trip in enumerate(round_trips):
            relay = f"{slug}-relay-{number}"
            bench.start(relay, [sys.executable, HERE / "relay.py", "127.0.0.1:0", address, round_trip / 2])
            wait_for(lambda: "relaying from" in bench.log(relay), "a relay did not start")
            port = bench.log(relay).split()[-1]
            bench.start(f"{slug}-worker-{number}", [
                PROGRAMS / "sluice-worker", "--connect", f"tcp://127.0.0.1:{port}", "--name", f"w{number}", "--home",
                bench.folder / slug / str(number), "--config", settings])

    def used(self):
        """The share of the limit from the first call to the last."""
        starts = []
        for line in self.simulator.events_file.read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "start":
                starts.append(event["t_us"] / 1e6)
        return (len(starts) - 1) / (max(starts) - min(starts)) / RATE


class Distance(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.runs = [Run(cls.bench, name, round_trips) for name, round_trips in FLEETS.items()]
        for run in cls.runs:
            run.process.wait(150)

    def test_a_limit_is_used_from_far_away(self):
        for run in self.runs:
            with self.subTest(run.name):
                log = self.bench.log(run.log)
                self.assertEqual(run.process.returncode, 1, log)  # A seventh of the cases fails.
                answers = run.simulator.answers()
                used = run.used()
                print(f"{run.name}: {used:.3f} of the limit", file=sys.stderr)
                self.assertEqual(sum(map(len, answers.values())), CASES, "calls were paid twice or refused")
                self.assertEqual(comparable(run.report), report_of_one_worker(self.bench, run.suite))
                self.assertGreaterEqual(used, LEAST_USED[run.name])


if __name__ == "__main__":
    need()
    unittest.main(verbosity=2)
