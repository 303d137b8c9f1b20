#!/usr/bin/env python3
"""Links that go down and up all the time, for less than a cut: the report is that of a single worker, and nothing is
paid twice. SLUICE_TEST_FULL=1: for a minute, with 20 workers on each of five machines."""

import os
import random
import threading
import time
import unittest

from fleet import Bench
from hosts import Site, in_networks_of_their_own

FULL = os.environ.get("SLUICE_TEST_FULL") == "1"
MACHINES = 5
WORKERS = 20 if FULL else 2
CONCURRENT = 2
LATENCY_S = 0.9
FLAPPING_S = 60 if FULL else 15
# What is lost is sent again after 0.2, 0.6 and 1.4 s: with a heartbeat a second that is no silence of three.
DOWN_S = 1
UP_S = (2, 4)
CASES = int(MACHINES * WORKERS * CONCURRENT / LATENCY_S * (FLAPPING_S + 5))


class Flapping(unittest.TestCase):
    def test_links_that_flap_cost_nothing(self):
        bench = Bench()
        site = Site(bench, 0, "flapping", cases=CASES, latency_s=LATENCY_S, machines=MACHINES, workers=WORKERS,
                    concurrent=CONCURRENT)
        began = time.monotonic()
        site.begin()
        flaps = [0] * MACHINES
        end = time.monotonic() + FLAPPING_S

        def flap(machine):
            draw = random.Random(machine)
            while time.monotonic() < end:
                site.set_link(f"w{machine}", "down")
                time.sleep(DOWN_S)
                site.set_link(f"w{machine}", "up")
                flaps[machine] += 1
                time.sleep(draw.uniform(*UP_S))

        threads = [threading.Thread(target=flap, args=(machine,)) for machine in range(MACHINES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertIsNone(site.coordinator.poll(), "the run ended before its links had flapped")
        site.coordinator.wait(180)
        lost = bench.log("flapping-coordinator").count(" is silent; ")
        again = site.paid_again()
        print(f"\n{MACHINES * WORKERS} workers, {CASES} cases: {sum(flaps)} flaps of {DOWN_S} s, {lost} workers lost, "
              f"{again} calls paid twice, {time.monotonic() - began:.0f} s")
        site.check_report(self)
        self.assertEqual((lost, again), (0, 0))


if __name__ == "__main__":
    in_networks_of_their_own()
    unittest.main(verbosity=2)
