#!/usr/bin/env python3
"""deploy/systemd/sluice-worker.service: what systemd itself says of it, and its command line, started as systemd would
with a socket and credentials, where systemd is not the first process. systemd_boot_test.py boots one."""

import configparser
import os
import re
import shlex
import signal
import socket
import subprocess
import time
import unittest

from fleet import KEY, MODEL, PROGRAMS, ROOT, Bench, Simulator, comparable, need, report_of_one_worker, wait_for
from fleet import write_suite

UNIT = ROOT / "deploy" / "systemd" / "sluice-worker.service"
MOST_EXPOSED = 2.0


def unit():
    """Its settings; of those that stand there more than once the last."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str
    parser.read(UNIT)
    return parser


class Manager:
    """systemd's end of the notification socket."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.setblocking(False)
        self.told = []

    def close(self):
        self.socket.close()

    def messages(self):
        while True:
            try:
                self.told.append((time.monotonic(), self.socket.recv(4096).decode()))
            except BlockingIOError:
                return [text for _, text in self.told]

    def has(self, part):
        return any(part in text for text in self.messages())


class Systemd(unittest.TestCase):
    def setUp(self):
        self.bench = Bench()
        self.addCleanup(self.bench.close)

    def test_systemd_accepts_it(self):
        done = subprocess.run(["systemd-analyze", "verify", UNIT], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_it_is_confined(self):
        done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", UNIT], capture_output=True,
                              text=True)
        found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
        self.assertTrue(found, done.stdout + done.stderr)
        self.assertLessEqual(float(found.group(1)), MOST_EXPOSED)

    def test_a_stop_has_time_for_calls_under_way(self):
        said = re.sub(r"\s+", " ", self.bench.run([PROGRAMS / "sluice-worker", "--help"]))
        drain = int(re.search(r"--drain-timeout SECONDS .*?\(default (\d+)\)", said).group(1))
        self.assertGreater(int(unit()["Service"]["TimeoutStopSec"]), drain)

    def command(self, endpoint, credentials):
        """The unit's own ExecStart with its specifiers, as systemd would expand it."""
        service = unit()["Service"]
        arguments = shlex.split(service["ExecStart"].replace("%H", "host").replace("$$", "$"))
        arguments = [a.replace("/var/lib/sluice", str(self.bench.folder / "state")).replace("127.0.0.1:9465", ":0")
                     for a in arguments]
        environment = {"COORDINATOR": endpoint, "CREDENTIALS_DIRECTORY": str(credentials),
                       "PATH": self.bench.environment["PATH"]}
        return arguments, environment

    def run_unit(self, address):
        folder = self.bench.folder
        manager = Manager(address)
        self.addCleanup(manager.close)
        simulator = Simulator(self.bench, latency="100,0.2")
        suite = write_suite(folder / "suite.yaml", 30, "systemd")
        home = folder / "home"
        self.bench.run([PROGRAMS / "sluice", "keys", "new", "host", "--home", home])
        credentials = folder / "credentials"
        credentials.mkdir()
        (home / "fleet" / "host.key").rename(credentials / "fleet.key")
        (credentials / "openai.key").write_text(KEY + "\n")
        for file in credentials.iterdir():
            file.chmod(0o400)
        report = folder / "report.json"
        coordinator = self.bench.start("coordinator", [
            PROGRAMS / "sluice", "run", suite, *MODEL, "--base-url", simulator.url, "--home", home, "--listen",
            "tcp://127.0.0.1:0", "--fleet-key", home / "fleet" / "coordinator.key", "--format", "json", "--output", report])
        wait_for(lambda: "listening on" in self.bench.log("coordinator"), "the coordinator did not start")
        endpoint = self.bench.log("coordinator").split("listening on ")[1].split()[0]
        command, environment = self.command(endpoint, credentials)
        worker = self.bench.start("worker", command, environment={
            "NOTIFY_SOCKET": address, "OPENAI_API_KEY": "", **environment})
        coordinator.wait(60)
        wait_for(lambda: manager.has("STATUS=waiting for a coordinator"), "the worker does not wait for the next run")
        before = len([text for text in manager.messages() if "WATCHDOG=1" in text])
        wait_for(lambda: len([text for text in manager.messages() if "WATCHDOG=1" in text]) > before + 1,
                 "the watchdog is not told that the worker lives", 10)
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(30), 0, self.bench.log("worker"))
        told = manager.messages()
        self.assertTrue(told[0].startswith("READY=1"), told)
        self.assertTrue(manager.has("STATUS=working on run"), told)
        self.assertEqual(sum(map(len, simulator.answers().values())), 30)
        self.assertEqual(comparable(report), report_of_one_worker(self.bench, suite))

    def test_it_tells_the_manager_how_it_fares(self):
        self.run_unit(str(self.bench.folder / "notify"))

    def test_an_abstract_socket_is_as_good(self):
        self.run_unit(f"@sluice-systemd-test-{os.getpid()}")

    def test_stopping_is_said_while_calls_end(self):
        manager = Manager(f"@sluice-systemd-stop-{os.getpid()}")
        self.addCleanup(manager.close)
        simulator = Simulator(self.bench, latency="3000,0.01")
        suite = write_suite(self.bench.folder / "suite.yaml", 5, "stopping")
        home = self.bench.folder / "home"
        self.bench.start("coordinator", [PROGRAMS / "sluice", "run", suite, *MODEL, "--base-url", simulator.url, "--home",
                                         home, "--listen", "tcp://127.0.0.1:0", "--output", self.bench.folder / "report"])
        wait_for(lambda: "listening on" in self.bench.log("coordinator"), "the coordinator did not start")
        endpoint = self.bench.log("coordinator").split("listening on ")[1].split()[0]
        worker = self.bench.start("worker", [PROGRAMS / "sluice-worker", "--connect", endpoint, "--home", home / "w"],
                                  environment={"NOTIFY_SOCKET": f"@sluice-systemd-stop-{os.getpid()}"})
        wait_for(lambda: simulator.events_file.exists() and "start" in simulator.events_file.read_text(), "no call began")
        worker.send_signal(signal.SIGTERM)
        wait_for(lambda: manager.has("STOPPING=1\nSTATUS=leaving"), "nothing was said of the end", 5)
        self.assertEqual(worker.wait(30), 0)


if __name__ == "__main__":
    need(systemd_analyze="systemd")
    unittest.main(verbosity=2)
