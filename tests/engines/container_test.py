#!/usr/bin/env python3
"""deploy/container: the image is built from the .deb, and what compose.yaml starts runs in it, without a shell, as
nobody, on a read-only root file system, each container on a network of its own. So is the image of deploy/ci."""

import json
import os
import re
import shlex
import sys
import time
import unittest
from pathlib import Path

from containers import CONTAINER, LIMITS, NOBODY, PODMAN, add_bridge, add_network, in_a_machine_of_its_own, podman
from fleet import KEY, ROOT, Bench, Simulator, comparable, need, report_of_one_worker, skip, wait_for, write_suite

try:
    import yaml
except ImportError:
    skip("there is no yaml module for this python3 (apt-get install python3-yaml)")

HERE = Path(__file__).resolve().parent
WORKERS = 2


class Container(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.image = os.environ["SLUICE_TEST_IMAGE"]
        cls.services = yaml.safe_load((CONTAINER / "compose.yaml").read_text())["services"]
        add_bridge()

    def confined(self, service):
        """What compose.yaml says of a service, as podman's flags."""
        said = self.services[service]
        self.assertTrue(said["read_only"])
        return ["--read-only", *(f"--cap-drop={one}" for one in said["cap_drop"]),
                *(f"--security-opt={one.split(':')[0]}" for one in said["security_opt"])]

    def start(self, name, service, last, extra):
        """A container of this service; its volume is a folder of nobody's."""
        home = self.bench.folder / name
        home.mkdir()
        (home / "sluice.toml").write_text('[providers.openai]\nkey_hosts = ["10.99.0.1:8080"]\n')
        for path in (home, home / "sluice.toml"):
            os.chown(path, NOBODY, NOBODY)
        # This suite in place of the fixtures.
        command = shlex.split(self.services[service]["command"].replace("--fixtures /fixtures", "/fixtures/suite.yaml"))
        return self.bench.start(name, [
            *PODMAN, "run", "--rm", "--name", name, *LIMITS, *self.confined(service), add_network(name, last),
            "--add-host=coordinator:10.99.0.10", "-v", f"{home}:/var/lib/sluice", "-v", f"{self.bench.folder}/suite:/fixtures:ro",
            "-e", f"OPENAI_API_KEY={KEY}", self.image, *command, *extra])

    def test_there_is_no_shell_and_nobody_is_root(self):
        settings = json.loads(podman("image", "inspect", self.image).stdout)[0]
        self.assertEqual(settings["User"], f"{NOBODY}:{NOBODY}")
        self.assertEqual(settings["Config"]["StopSignal"], "SIGTERM")
        for shell in ("sh", "bash", "/bin/sh"):
            done = podman("run", "--rm", *LIMITS, "--network=none", self.image, shell, "-c", "true")
            self.assertNotEqual(done.returncode, 0, shell)
        done = podman("run", "--rm", *LIMITS, "--network=none", "--read-only", self.image, "sluice", "--version")
        self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "sluice"), done.stderr)

    def test_the_image_of_the_ci_examples_has_what_their_jobs_call(self):
        done = podman("run", "--rm", *LIMITS, "--network=none", os.environ["SLUICE_TEST_CI_IMAGE"], "bash", "-euc",
                      "for program in sluice git curl jq; do $program --version; done")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_compose_starts(self):
        simulator = Simulator(self.bench, latency="400,0.2")
        self.bench.start("relay", [sys.executable, HERE / "relay.py", "10.99.0.1:8080", f"127.0.0.1:{simulator.port}"])
        folder = self.bench.folder / "suite"
        folder.mkdir()
        suite = write_suite(folder / "suite.yaml", 150, "composed")
        coordinator = self.start("coordinator", "coordinator", 10, [
            "--base-url", "http://10.99.0.1:8080/v1", "--expect-workers", WORKERS,
            "--format", "json", "--output", "/var/lib/sluice/report.json"])
        workers = [self.start(f"worker{i}", "worker", 20 + i, []) for i in range(WORKERS)]
        events = simulator.events_file
        wait_for(lambda: events.exists() and events.read_text().count('"answer"') > 20, "no call came")
        health = json.loads(re.search(r"^HEALTHCHECK .* CMD (.*)$", (CONTAINER / "Containerfile").read_text(), re.M).group(1))
        for name in ("coordinator", "worker0"):
            done = podman("exec", name, *health)
            self.assertEqual(done.returncode, 0, f"{name}: {done.stdout}{done.stderr}")
        # Its calls under way end, and the other goes on.
        began = time.monotonic()
        self.assertEqual(podman("stop", "--time", "40", "worker0").returncode, 0)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(workers[0].wait(10), 0, self.bench.log("worker0"))
        self.assertIn(coordinator.wait(90), (0, 1), self.bench.log("coordinator"))
        self.assertEqual(workers[1].wait(30), 0, self.bench.log("worker1"))
        self.assertEqual(sum(map(len, simulator.answers().values())), 150)
        self.assertEqual(comparable(self.bench.folder / "coordinator" / "report.json"),
                         report_of_one_worker(self.bench, suite, ["--mode", "live", "--provider", "openai", "--model", "gpt-4o-mini"]))


if __name__ == "__main__":
    need(podman="podman", crun="crun", ip="iproute2")
    in_a_machine_of_its_own(SLUICE_TEST_CI_IMAGE=ROOT / "deploy" / "ci" / "Containerfile")
    unittest.main(verbosity=2)
