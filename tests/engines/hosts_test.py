#!/usr/bin/env python3
"""Machines apart: links go down and up, lose what goes one way, and addresses change; the report is that of a single
worker, and no call is paid twice but those that were under way at a worker that was cut off, or that it began before it
could notice. SLUICE_TEST_FULL=1: also with a cut of 75 s, which is longer than each side used to wait."""

import math
import os
import subprocess
import threading
import time
import unittest

from fleet import Bench
from hosts import COORDINATOR, Site, in_networks_of_their_own

FULL = os.environ.get("SLUICE_TEST_FULL") == "1"
WORKERS = 3
CONCURRENT = 5
LATENCY_S = 0.9
CASES = 560
BREAK_S = 20
LONG_BREAK_S = 75
UNNOTICED_S = 3  # Three heartbeats of silence are a cut.
AT_A_CUT_WORKER = CONCURRENT * (1 + math.ceil(UNNOTICED_S / LATENCY_S))
NAME = "coordinator.sluice.test"


def link_of_a_worker(site):
    site.set_link("w0", "down")
    time.sleep(BREAK_S)
    site.set_link("w0", "up")


def link_of_the_coordinator(site, seconds=BREAK_S):
    site.set_link("c", "down")
    time.sleep(seconds)
    site.set_link("c", "up")


def link_of_the_coordinator_for_long(site):
    link_of_the_coordinator(site, LONG_BREAK_S)


def one_way(site):
    for chain in ("INPUT", "OUTPUT"):
        site.lose("w0", chain, "-A")
        time.sleep(BREAK_S / 2)
        site.lose("w0", chain, "-D")
        time.sleep(2)


def addresses(site):
    for worker in range(WORKERS):
        site.move(f"w{worker}", 40 + worker)
        time.sleep(5)


def say_where_the_coordinator_is(site, last):
    """In place: what is mounted stays the same file."""
    HOSTS.write_text(f"127.0.0.1 localhost\n{site.address(last)} {NAME}\n")


def address_of_the_coordinator(site):
    site.move("c", 99)
    time.sleep(5)
    say_where_the_coordinator_is(site, 99)


class Hosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """All at once: they wait more than they work."""
        global HOSTS
        cls.bench = Bench()
        disturbances = [link_of_a_worker, link_of_the_coordinator, one_way, addresses, address_of_the_coordinator]
        if FULL:
            disturbances.append(link_of_the_coordinator_for_long)
        cls.sites = {one.__name__: Site(cls.bench, number, one.__name__, cases=CASES, latency_s=LATENCY_S,
                                        machines=WORKERS, concurrent=CONCURRENT)
                     for number, one in enumerate(disturbances)}
        HOSTS = cls.bench.folder / "hosts"
        say_where_the_coordinator_is(cls.sites["address_of_the_coordinator"], COORDINATOR)
        subprocess.run(["mount", "--bind", HOSTS, "/etc/hosts"], check=True)
        threads = [threading.Thread(target=cls.disturb, args=(one,)) for one in disturbances]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    @classmethod
    def disturb(cls, disturbance):
        site = cls.sites[disturbance.__name__]
        site.begin(NAME if disturbance is address_of_the_coordinator else None)
        disturbance(site)
        site.coordinator.wait(120)

    def check(self, name, again_at_most):
        site = self.sites[name]
        again = site.paid_again()
        site.check_report(self)
        self.assertLessEqual(again, again_at_most)

    def test_the_link_of_a_worker_goes_down_and_up(self):
        self.check("link_of_a_worker", AT_A_CUT_WORKER)

    def test_the_link_of_the_coordinator_goes_down_and_up(self):
        # All keep what they have, and the first to be back may be given what another has under way.
        self.check("link_of_the_coordinator", WORKERS * CONCURRENT)

    @unittest.skipUnless(FULL, "it takes SLUICE_TEST_FULL=1")
    def test_the_link_of_the_coordinator_goes_down_for_long(self):
        """With the settings that a run has by itself."""
        self.check("link_of_the_coordinator_for_long", WORKERS * CONCURRENT)

    def test_what_goes_one_way_is_lost(self):
        self.check("one_way", 2 * AT_A_CUT_WORKER)

    def test_addresses_change(self):
        self.check("addresses", 0)

    def test_the_coordinator_that_is_known_by_its_name_changes_its_address(self):
        self.check("address_of_the_coordinator", WORKERS * CONCURRENT)
        for worker in range(WORKERS):
            self.assertIn("the coordinator is silent", self.bench.log(f"address_of_the_coordinator-w{worker}"))


if __name__ == "__main__":
    in_networks_of_their_own()
    unittest.main(verbosity=2)
