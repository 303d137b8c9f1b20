#!/usr/bin/env python3
"""deploy/kubernetes: the pods of each overlay, started by podman with what a kubelet gives them: users and groups, secrets
with their modes, arguments, probes, and time to stop. Which pods there are, and where, is the business of a cluster."""

import os
import re
import shutil
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from containers import LIMITS, PODMAN, add_bridge, add_network, in_a_machine_of_its_own, podman
from fleet import KEY, PROGRAMS, Bench, Simulator, comparable, need, report_of_one_worker, wait_for, write_suite
from kubernetes_test import pods, put_together

HERE = Path(__file__).resolve().parent
CASES = 240
PROVIDER = "10.99.0.1:8080"
METRICS = 9464
MODEL = ["--mode", "live", "--provider", "openai", "--model", "gpt-4o-mini"]


class Pod:
    """A pod of one container."""

    def __init__(self, test, name, last, spec, values, more=()):
        self.name, self.address = f"{test.overlay}-{name}", f"10.99.0.{last}"
        self.grace = spec["terminationGracePeriodSeconds"]
        self.container, context = spec["containers"][0], spec["securityContext"]
        mine = self.container["securityContext"]
        flags = [*(f"--cap-drop={one}" for one in mine["capabilities"]["drop"]),
                 *(["--read-only"] if mine["readOnlyRootFilesystem"] else []),
                 *([] if mine["allowPrivilegeEscalation"] else ["--security-opt=no-new-privileges"]),
                 f"--user={context['runAsUser']}:{context['runAsGroup']}"]
        sources = {volume["name"]: self.volume(test, volume, context["fsGroup"]) for volume in spec["volumes"]}
        for mount in self.container["volumeMounts"]:
            flags += ["-v", f"{sources[mount['name']]}:{mount['mountPath']}{':ro' if mount.get('readOnly') else ''}"]
        for source in self.container.get("envFrom", []):
            for file in (test.objects / source["secretRef"]["name"]).iterdir():
                flags += ["-e", f"{file.name}={file.read_text()}"]
        command = [re.sub(r"\$\((\w+)\)", lambda found: values[found.group(1)], one)
                   for one in (*self.container["command"], *self.container["args"])]
        self.process = test.bench.start(self.name, [
            *PODMAN, "run", "--rm", "--name", self.name, *LIMITS, *flags, add_network(f"{test.overlay[0]}{last}", last),
            "--add-host=sluice-coordinator:10.99.0.10", test.image, *command, *more])

    def volume(self, test, volume, group):
        """As a kubelet makes it: root's and the pod's group's."""
        place = test.bench.folder / self.name / volume["name"]
        place.mkdir(parents=True)
        if volume["name"] == "home":
            self.home = place
            # Where a provider is one of a private network.
            (place / "sluice.toml").write_text(f'[providers.openai]\nkey_hosts = ["{PROVIDER}"]\n')
            (place / "sluice.toml").chmod(0o644)
            place.chmod(0o2777)
        elif "secret" in volume or "configMap" in volume:
            name = volume["secret"]["secretName"] if "secret" in volume else volume["configMap"]["name"]
            for file in (test.objects / name).iterdir():
                shutil.copy(file, place)
                (place / file.name).chmod(volume["secret"]["defaultMode"] if "secret" in volume else 0o644)
        for file in (place, *place.iterdir()):
            os.chown(file, 0, group)
        return place

    def probe(self, kind):
        """The status of one of its probes; nothing if nobody answers."""
        asked = self.container[kind]["httpGet"]
        try:
            with urllib.request.urlopen(f"http://{self.address}:{METRICS}{asked['path']}", timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def stop(self):
        """What a deletion does; returns the exit code."""
        podman("stop", "--time", self.grace, self.name)
        return self.process.wait(10)


class Pods(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.image = os.environ["SLUICE_TEST_IMAGE"]
        add_bridge()

    def begin(self, overlay):
        """What the commands of deploy/README.md make, and the pods."""
        self.overlay, self.bench = overlay, Bench()
        self.addCleanup(self.bench.close)
        self.simulator = Simulator(self.bench, latency="400,0.2")
        self.bench.start("relay", [sys.executable, HERE / "relay.py", PROVIDER, f"127.0.0.1:{self.simulator.port}"])
        self.objects = self.bench.folder / "objects"
        home = self.bench.folder / "sluice"
        self.bench.run([PROGRAMS / "sluice", "keys", "new", "pods", "--home", home])
        for name, files in (("sluice-coordinator-key", ("coordinator.key", "allowed")), ("sluice-worker-key", ("pods.key",))):
            (self.objects / name).mkdir(parents=True)
            for file in files:
                shutil.copy(home / "fleet" / file, self.objects / name)
        for name in ("sluice-provider-keys", "sluice-suite"):
            (self.objects / name).mkdir()
        (self.objects / "sluice-provider-keys" / "OPENAI_API_KEY").write_text(KEY)
        self.suite = write_suite(self.objects / "sluice-suite" / "suite.yaml", CASES, overlay)
        specs = {meta["labels"]["app.kubernetes.io/component"]: spec
                 for _, spec, meta in pods(put_together(overlay))}
        self.coordinator = Pod(self, "coordinator", 10, specs["coordinator"], {}, [
            "--base-url", f"http://{PROVIDER}/v1", "--expect-workers", 4, "--format", "json", "--output",
            "/var/lib/sluice/report.json"])
        self.workers = [Pod(self, f"worker{number}", 20 + number, specs["worker"], {
            "JOB_COMPLETION_INDEX": str(number), "POD_NAME": f"sluice-worker-{number}"}) for number in range(4)]
        events = self.simulator.events_file
        wait_for(lambda: events.exists() and events.read_text().count('"answer"') > 20, "no call came")
        for pod in (self.coordinator, *self.workers):
            for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
                self.assertEqual(pod.probe(kind), 200, f"{pod.name}: {kind}: {self.bench.log(pod.name)}")
        # One is taken away: its calls under way end.
        began = time.monotonic()
        self.assertEqual(self.workers[0].stop(), 0, self.bench.log(self.workers[0].name))
        self.assertLess(time.monotonic() - began, self.workers[0].grace)
        self.assertEqual(self.coordinator.process.wait(90), 1, self.bench.log(self.coordinator.name))  # A seventh fails.

    def check_report(self):
        self.assertEqual(sum(map(len, self.simulator.answers().values())), CASES)
        self.assertEqual(comparable(self.coordinator.home / "report.json"),
                         report_of_one_worker(self.bench, self.suite, MODEL))

    def tearDown(self):
        podman("rm", "--force", "--all")
        for namespace in Path("/run/netns").glob("*"):
            subprocess.run(["ip", "netns", "del", namespace.name], check=True)

    def test_workers_of_a_run_end_with_it(self):
        self.begin("run")
        for worker in self.workers[1:]:
            self.assertEqual(worker.process.wait(30), 0, self.bench.log(worker.name))
        self.check_report()

    def test_workers_of_a_pool_stay(self):
        self.begin("pool")
        for worker in self.workers[1:]:
            wait_for(lambda: worker.probe("readinessProbe") == 503, f"{worker.name} is ready without a run")
            self.assertEqual(worker.probe("livenessProbe"), 200)
            self.assertEqual(worker.stop(), 0, self.bench.log(worker.name))
        self.check_report()


if __name__ == "__main__":
    need(podman="podman", crun="crun", ip="iproute2")
    in_a_machine_of_its_own()
    unittest.main(verbosity=2)
