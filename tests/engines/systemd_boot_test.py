#!/usr/bin/env python3
"""deploy/systemd under systemd itself: a machine that it boots, sluice's package, and the commands of deploy/README.md."""

import json
import os
import re
import shlex
import unittest

from fleet import KEY, MODEL, PROGRAMS, ROOT, Bench, Simulator, comparable, in_own_namespaces, need
from fleet import report_of_one_worker, skip, wait_for, write_suite
from machine import Machine, tree

UNIT = "sluice-worker"
PROPERTIES = ("ActiveState", "SubState", "Result", "MainPID", "NRestarts", "StatusText", "Environment", "RestartUSec")


def commands_of_the_page(endpoint):
    """Those of deploy/README.md, with what they leave open."""
    page = (ROOT / "deploy" / "README.md").read_text()
    section = page[page.index("\n## systemd\n"):]
    block = re.search(r"```sh\n(.*?)```", section, re.S).group(1)
    lines = [line.removeprefix("sudo ") for line in block.splitlines() if line.startswith("sudo ")]
    # Debian's /bin/sh knows no <<<.
    said = "\n".join(lines).replace("'...'", KEY).replace("tcp://10.0.0.5:5555", endpoint)
    return f"bash -euc {shlex.quote(said)}"


class SystemdBoot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = Bench()
        cls.machine = Machine(cls.base, os.environ["SLUICE_TEST_TREE"])
        cls.addClassCleanup(cls.machine.end)
        cls.machine.start()
        for file in (ROOT / "deploy" / "systemd").iterdir():
            cls.machine.write(f"/root/deploy/systemd/{file.name}", file.read_text())

    def setUp(self):
        self.bench = Bench()
        self.addCleanup(self.bench.close)
        self.machine.run(f"systemctl stop {UNIT}; systemctl reset-failed {UNIT}; rm -rf /etc/systemd/system/{UNIT}.service.d",
                         check=False)
        self.machine.run("systemctl daemon-reload")

    def show(self):
        return self.machine.show(UNIT, *PROPERTIES)

    def begin(self, cases, latency="100,0.2"):
        """A run that waits for a worker, and the worker by the page's commands."""
        home = self.bench.folder / "home"
        self.simulator = Simulator(self.bench, latency=latency)
        self.suite = write_suite(self.bench.folder / "suite.yaml", cases, "booted")
        self.report = self.bench.folder / "report.json"
        self.bench.run([PROGRAMS / "sluice", "keys", "new", "gpu-7", "--home", home])
        self.coordinator = self.bench.start("coordinator", [
            PROGRAMS / "sluice", "run", self.suite, *MODEL, "--base-url", self.simulator.url, "--home", home, "--listen",
            "tcp://127.0.0.1:0", "--fleet-key", home / "fleet" / "coordinator.key", "--format", "json", "--output",
            self.report])
        said = wait_for(lambda: re.search(r"listening on (\S+)", self.bench.log("coordinator")), "nobody listens")
        self.machine.write("/root/gpu-7.key", (home / "fleet" / "gpu-7.key").read_text())
        done = self.machine.run(commands_of_the_page(said.group(1)), check=False)
        self.assertEqual(done.returncode, 0, done.stderr + self.journal())

    def journal(self):
        return self.machine.run(f"journalctl --quiet --unit={UNIT}").stdout

    def drop_in(self, text):
        """Shorter times than the unit's."""
        self.machine.write(f"/etc/systemd/system/{UNIT}.service.d/test.conf", f"[Service]\n{text}\n")
        self.machine.run("systemctl daemon-reload")

    def test_the_commands_of_its_page_start_a_worker(self):
        self.begin(60)
        self.assertEqual(self.coordinator.wait(60), 1, self.bench.log("coordinator"))  # A seventh of the cases fails.
        wait_for(lambda: self.show()["StatusText"] == "waiting for a coordinator", "its state is not shown")
        shown = self.show()
        self.assertEqual((shown["ActiveState"], shown["NRestarts"]), ("active", "0"))
        user = re.search(r"^Uid:\s+(\d+)", self.machine.run(f"cat /proc/{shown['MainPID']}/status").stdout, re.M).group(1)
        self.assertGreater(int(user), 60000)  # One that systemd made up.
        self.assertNotIn(KEY, shown["Environment"] + self.journal())
        self.assertEqual(sum(map(len, self.simulator.answers().values())), 60)
        self.assertEqual(json.loads(self.report.read_text())["run"]["workers"][0]["name"], "gpu-7")
        self.assertEqual(comparable(self.report), report_of_one_worker(self.bench, self.suite))

    def test_a_stop_lets_calls_under_way_end(self):
        self.begin(60, latency="1500,0.1")
        events = self.simulator.events_file
        wait_for(lambda: events.exists() and '"start"' in events.read_text(), "no call came")
        self.machine.run(f"systemctl stop {UNIT}")
        self.assertEqual({name: self.show()[name] for name in ("ActiveState", "Result")},
                         {"ActiveState": "inactive", "Result": "success"})
        begun = events.read_text().count('"start"')
        self.assertEqual(sum(map(len, self.simulator.answers().values())), begun)

    def test_one_that_died_is_started_again_and_not_at_once(self):
        self.begin(60)
        self.machine.run(f"kill -KILL {self.show()['MainPID']}")
        wait_for(lambda: self.show()["SubState"] == "auto-restart", "it is not started again")
        self.assertEqual(self.show()["RestartUSec"], "30s")

    def test_one_that_hangs_is_ended_and_the_run_goes_on(self):
        self.drop_in("WatchdogSec=3\nTimeoutAbortSec=1\nRestartSec=1")
        self.begin(60, latency="300,0.2")
        events = self.simulator.events_file
        wait_for(lambda: events.exists() and '"answer"' in events.read_text(), "no call came")
        self.machine.run(f"kill -STOP {self.show()['MainPID']}")
        wait_for(lambda: self.show()["NRestarts"] == "1", "nobody ended it")
        self.assertIn("Watchdog timeout", self.journal())
        self.assertEqual(self.coordinator.wait(60), 1, self.bench.log("coordinator"))
        self.simulator.answers()
        self.assertEqual(comparable(self.report), report_of_one_worker(self.bench, self.suite))

    def test_what_settings_or_keys_end_stays_down(self):
        self.drop_in("RestartSec=1ms")
        self.begin(60)
        self.machine.run("echo COORDINATOR=nowhere >/etc/sluice/worker.env")
        self.machine.run(f"systemctl restart {UNIT}", check=False)
        wait_for(lambda: self.show()["ActiveState"] == "failed", "it is started again and again")
        shown = self.show()
        self.assertEqual((shown["Result"], shown["NRestarts"]), ("exit-code", "0"))


if __name__ == "__main__":
    need(nsenter="util-linux", unshare="util-linux", ip="iproute2")
    if os.geteuid() != 0:
        skip("a machine of its own takes root")
    if "SLUICE_TEST_TREE" not in os.environ:
        os.environ["SLUICE_TEST_TREE"] = str(tree())
    in_own_namespaces("--net")
    unittest.main(verbosity=2)
