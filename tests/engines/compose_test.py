#!/usr/bin/env python3
"""deploy/container/compose.yaml as it stands: a coordinator, workers and Prometheus, which find each other by name. What
it names elsewhere (a provider, the image of Prometheus) is here."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from containers import CONTAINER, LIMITS, PODMAN, in_a_machine_of_its_own, podman
from fleet import KEY, Bench, Simulator, comparable, need, report_of_one_worker, skip, wait_for, write_suite

try:
    import yaml
except ImportError:
    skip("there is no yaml module for this python3 (apt-get install python3-yaml)")

HERE = Path(__file__).resolve().parent
COMPOSE = CONTAINER / "compose.yaml"
WORKERS = 3
CASES = 360
NETWORK = "sluice-compose-test"
GATEWAY = "10.98.0.1"
BACKEND = "--network-backend=netavark"  # The one with names.
MODEL = ["--mode", "live", "--provider", "openai", "--model", "gpt-4o-mini"]


def image_of_prometheus():
    """Debian's Prometheus under the name that compose.yaml has, started as its own image is."""
    with tempfile.TemporaryDirectory() as folder:
        needed = subprocess.run(["ldd", shutil.which("prometheus")], capture_output=True, text=True).stdout.split()
        for file in [shutil.which("prometheus"), *(one for one in needed if one.startswith("/"))]:
            place = Path(folder, file.lstrip("/"))
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
        archive = subprocess.run(["tar", "-C", folder, "-c", "."], capture_output=True, check=True).stdout
        entry = json.dumps([shutil.which("prometheus")])
        command = json.dumps(["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"])
        subprocess.run([*PODMAN, "import", "-q", "--change", f"ENTRYPOINT {entry}", "--change", f"CMD {command}", "-",
                        "docker.io/prom/prometheus:latest"], input=archive, check=True, capture_output=True)


class Compose(unittest.TestCase):
    def test_what_it_starts_finds_each_other_and_reports(self):
        bench = Bench()
        image_of_prometheus()
        podman("tag", os.environ["SLUICE_TEST_IMAGE"], "localhost/sluice:latest")
        run = [*PODMAN, BACKEND]
        subprocess.run([*run, "network", "rm", "--force", NETWORK], capture_output=True)
        subprocess.run([*run, "network", "create", "--subnet", "10.98.0.0/24", "--gateway", GATEWAY, NETWORK], check=True,
                       capture_output=True)
        # What a machine like this one does not let podman have, of which compose knows nothing.
        wrapper = bench.folder / "podman"
        wrapper.write_text("#!/bin/bash\ncase $1 in create|run) set -- \"$1\" " + shlex.join(LIMITS) + " \"${@:2}\" ;; esac\n"
                           f"exec {shlex.join(run)} \"$@\"\n")
        wrapper.chmod(0o755)

        simulator = Simulator(bench, latency="700,0.2")
        bench.start("relay", [sys.executable, HERE / "relay.py", "0.0.0.0:8080", f"127.0.0.1:{simulator.port}"])
        (bench.folder / "suite").mkdir()
        suite = write_suite(bench.folder / "suite" / "suite.yaml", CASES, "composed")
        (bench.folder / "suite" / "sluice.toml").write_text(f'[providers.openai]\nkey_hosts = ["{GATEWAY}:8080"]\n')
        services = yaml.safe_load(COMPOSE.read_text())["services"]
        here = {"services": {
            "coordinator": {
                "command": services["coordinator"]["command"].replace("--fixtures /fixtures", "/suite/suite.yaml") +
                f" --base-url http://{GATEWAY}:8080/v1 --config /suite/sluice.toml --expect-workers {WORKERS}"
                " --format json --output /var/lib/sluice/report.json",
                "volumes": [f"{bench.folder}/suite:/suite:ro"]},
            "worker": {"command": services["worker"]["command"] + " --config /suite/sluice.toml",
                       "volumes": [f"{bench.folder}/suite:/suite:ro"]},
        }, "networks": {"default": {"external": True, "name": NETWORK}}}
        (bench.folder / "here.yaml").write_text(yaml.safe_dump(here))
        compose = ["podman-compose", "--podman-path", wrapper, "-p", "composed", "-f", COMPOSE, "-f",
                   bench.folder / "here.yaml"]
        said = {"OPENAI_API_KEY": KEY, "WORKERS": str(WORKERS)}
        up = bench.start("compose", [*compose, "up", "--exit-code-from", "coordinator"], environment=said)
        try:
            self.watch_with_prometheus(bench)
            self.assertEqual(up.wait(120), 1, bench.log("compose"))  # A seventh of the cases fails.
            volume = json.loads(subprocess.run([*run, "volume", "inspect", "composed_coordinator"], capture_output=True,
                                               text=True).stdout)[0]["Mountpoint"]
            report = Path(volume) / "report.json"
            self.assertEqual(len(json.loads(report.read_text())["run"]["workers"]), WORKERS)
            self.assertEqual(sum(map(len, simulator.answers().values())), CASES)
            self.assertEqual(comparable(report), report_of_one_worker(bench, suite, MODEL))
        finally:
            subprocess.run([*map(str, compose), "down", "--volumes"], env={**bench.environment, **said}, cwd=bench.folder,
                           capture_output=True)
            subprocess.run([*run, "network", "rm", "--force", NETWORK], capture_output=True)

    def watch_with_prometheus(self, bench):
        def up():
            query = urllib.parse.urlencode({"query": "sum by (job) (up)"})
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:9090/api/v1/query?{query}", timeout=5) as answer:
                    found = json.load(answer)["data"]["result"]
            except OSError:
                return False
            return {one["metric"]["job"]: one["value"][1] for one in found} == {"sluice": "1", "sluice-worker": str(WORKERS)}

        try:
            wait_for(up, f"Prometheus does not see a run and {WORKERS} workers", 60)
        except AssertionError as error:
            self.fail(f"{error}: {bench.log('compose')[-3000:]}")


if __name__ == "__main__":
    need(podman="podman", crun="crun", ip="iproute2", podman_compose="podman-compose", prometheus="prometheus")
    for helper, package in (("netavark", "netavark"), ("aardvark-dns", "aardvark-dns")):
        if not any((Path(place) / helper).exists() for place in ("/usr/lib/podman", "/usr/libexec/podman")):
            skip(f"there is no {helper} (apt-get install {package})")
    in_a_machine_of_its_own()
    unittest.main(verbosity=2)
