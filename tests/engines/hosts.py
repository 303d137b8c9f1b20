"""Machines apart: network namespaces on bridges stand for them, with a coordinator, workers and a provider."""

import subprocess
import sys
from pathlib import Path

from fleet import MODEL, PROGRAMS, Simulator, comparable, in_own_namespaces, need, report_of_one_worker, wait_for
from fleet import write_suite

HERE = Path(__file__).resolve().parent
COORDINATOR = 10  # The last part of its address; that of a machine of workers is 20 and its number.
PORT = 5555
PROVIDER_PORT = 8080


def ip(*arguments):
    subprocess.run(["ip", *map(str, arguments)], check=True)


class Site:
    """A coordinator and workers on machines of their own: one network joins them, another the provider. What is done
    to the first says nothing of the second."""

    def __init__(self, bench, number, name, *, cases, latency_s, machines=3, workers=1, concurrent=5):
        """`workers` on each of the machines; each makes `concurrent` calls at a time."""
        self.bench, self.number, self.name = bench, number, name
        self.cases, self.machines, self.workers, self.concurrent = cases, machines, workers, concurrent
        self.fleet, self.world = f"10.{100 + number}.0", f"10.{150 + number}.0"
        ip("link", "add", f"f{number}", "type", "bridge")
        ip("link", "add", f"g{number}", "type", "bridge")
        ip("addr", "add", f"{self.world}.1/24", "dev", f"g{number}")
        for bridge in "fg":
            ip("link", "set", f"{bridge}{number}", "up")
        self.add_machine("c", COORDINATOR)
        for machine in range(machines):
            self.add_machine(f"w{machine}", 20 + machine)
        self.simulator = Simulator(bench, name=f"{name}-provider", latency=f"{1000 * latency_s},0.2")
        bench.start(f"{name}-relay", [sys.executable, HERE / "relay.py", f"{self.world}.1:{PROVIDER_PORT}",
                                      f"127.0.0.1:{self.simulator.port}"])
        self.home = bench.folder / f"{name}-home"
        bench.run([PROGRAMS / "sluice", "keys", "new", "pool", "--home", self.home])
        self.settings = bench.folder / f"{name}.toml"
        self.settings.write_text(f'[providers.openai]\nkey_hosts = ["{self.world}.1:{PROVIDER_PORT}"]\n')

    def namespace(self, machine):
        return f"{self.number}{machine}"

    def add_machine(self, machine, last):
        namespace = self.namespace(machine)
        ip("netns", "add", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
        for bridge, network, device in (("f", self.fleet, "fleet"), ("g", self.world, "world")):
            near = f"{bridge}{namespace}"
            ip("link", "add", near, "type", "veth", "peer", "name", device, "netns", namespace)
            ip("link", "set", near, "master", f"{bridge}{self.number}", "up")
            ip("-n", namespace, "addr", "add", f"{network}.{last}/24", "dev", device)
            ip("-n", namespace, "link", "set", device, "up")

    def address(self, last):
        return f"{self.fleet}.{last}"

    def on(self, machine):
        return ["ip", "netns", "exec", self.namespace(machine)]

    # --- what happens to a machine's link of the fleet ---

    def set_link(self, machine, state):
        ip("link", "set", f"f{self.namespace(machine)}", state)

    def lose(self, machine, chain, switch):
        """What comes in (INPUT) or goes out (OUTPUT) is lost from now on (-A), or not any more (-D)."""
        device = "-i" if chain == "INPUT" else "-o"
        subprocess.run([*self.on(machine), "iptables", switch, chain, device, "fleet", "-j", "DROP"], check=True)

    def move(self, machine, last):
        namespace = self.namespace(machine)
        ip("-n", namespace, "addr", "flush", "dev", "fleet")
        ip("-n", namespace, "addr", "add", f"{self.fleet}.{last}/24", "dev", "fleet")

    # --- a run ---

    def begin(self, coordinator=None):
        """`coordinator`: what workers call its machine."""
        self.suite = write_suite(self.bench.folder / f"{self.name}.yaml", self.cases, self.name)
        self.report = self.bench.folder / f"{self.name}.json"
        self.coordinator = self.bench.start(f"{self.name}-coordinator", [
            PROGRAMS / "sluice", "run", self.suite, *MODEL, "--base-url", f"http://{self.world}.1:{PROVIDER_PORT}/v1",
            "--home", self.home, "--config", self.settings, "--listen", f"tcp://0.0.0.0:{PORT}", "--expect-workers",
            self.machines * self.workers, "--format", "json", "--output", self.report], prefix=self.on("c"))
        endpoint = f"tcp://{coordinator or self.address(COORDINATOR)}:{PORT}"
        for machine in range(self.machines):
            for worker in range(self.workers):
                name = f"{self.name}-w{machine}" + (f".{worker}" if self.workers > 1 else "")
                self.bench.start(name, [
                    PROGRAMS / "sluice-worker", "--connect", endpoint, "--fleet-key", self.home / "fleet" / "pool.key",
                    "--name", name, "--home", self.bench.folder / name, "--config", self.settings, "--max-concurrent",
                    self.concurrent], prefix=self.on(f"w{machine}"))
        events = self.simulator.events_file
        wait_for(lambda: events.exists() and events.read_text().count('"answer"') > 20, "no call came")

    def paid_again(self):
        """Calls beyond the first of each request. Ends the simulator."""
        return sum(len(times) - 1 for times in self.simulator.answers().values())

    def check_report(self, test):
        test.assertEqual(self.coordinator.returncode, 1, self.bench.log(f"{self.name}-coordinator"))  # A seventh fails.
        test.assertEqual(comparable(self.report), report_of_one_worker(self.bench, self.suite))


def in_networks_of_their_own():
    """Starts the test again where it may make networks, or skips it."""
    need(ip="iproute2", iptables="iptables")
    in_own_namespaces("--net")
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)  # Of the namespaces' names.
