#!/usr/bin/env python3
"""deploy/kubernetes: each overlay is put together, by kustomize or kubectl where they are there, holds together, asks the
programs for nothing that they do not know, and fits the published schemas."""

import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from fleet import PROGRAMS, ROOT, Bench, need, node_modules, skip, write_suite

try:
    import yaml
except ImportError:
    skip("there is no yaml module for this python3 (apt-get install python3-yaml)")

KUBERNETES = ROOT / "deploy" / "kubernetes"
OVERLAYS = ("run", "pool")


def documents(path):
    return [one for one in yaml.safe_load_all(path.read_text()) if one]


def put_together(overlay):
    """All objects of an overlay: kustomize's own work, or as much of it as these files need."""
    folder = KUBERNETES / "overlays" / overlay
    for build in (["kustomize", "build"], ["kubectl", "kustomize"]):
        if shutil.which(build[0]):
            done = subprocess.run([*build, folder], capture_output=True, text=True, check=True)
            return [one for one in yaml.safe_load_all(done.stdout) if one]
    objects = []
    settings = documents(folder / "kustomization.yaml")[0]
    for resource in settings["resources"]:
        path = (folder / resource).resolve()
        if path.is_dir():
            for file in documents(path / "kustomization.yaml")[0]["resources"]:
                objects += documents(path / file)
        else:
            objects += documents(path)
    for patch in settings.get("patches", []):
        target = next(one for one in objects if (one["kind"], one["metadata"]["name"]) ==
                      (patch["target"]["kind"], patch["target"]["name"]))
        for operation in yaml.safe_load(patch["patch"]):
            *way, last = operation["path"].strip("/").split("/")
            place = target
            for step in way:
                place = place[int(step)] if isinstance(place, list) else place[step]
            place[int(last) if isinstance(place, list) else last] = operation["value"]
    return objects


def pods(objects):
    """Name and spec of each pod."""
    for one in objects:
        if one["kind"] in ("Job", "Deployment"):
            yield one["metadata"]["name"], one["spec"]["template"]["spec"], one["spec"]["template"]["metadata"]


def tables(node):
    """All mappings in an object."""
    if isinstance(node, dict):
        yield node
    for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from tables(one)


class Kubernetes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.overlays = {name: put_together(name) for name in OVERLAYS}

    def test_names_meet(self):
        for overlay, objects in self.overlays.items():
            with self.subTest(overlay):
                kinds = {(one["kind"], one["metadata"]["name"]) for one in objects}
                self.assertIn(("Service", "sluice-coordinator"), kinds)
                labels = [meta["labels"]["app.kubernetes.io/component"] for _, _, meta in pods(objects)]
                self.assertEqual(sorted(labels), ["coordinator", "worker"])
                for one in objects:
                    selector = one["spec"].get("podSelector", {}).get("matchLabels") or one["spec"].get("selector")
                    if one["kind"] in ("Service", "NetworkPolicy"):
                        self.assertIn(selector["app.kubernetes.io/component"], labels)
                for name, spec, _ in pods(objects):
                    volumes = {volume["name"]: volume for volume in spec["volumes"]}
                    container = spec["containers"][0]
                    self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, set(volumes), name)
                    for volume in volumes.values():
                        claim = volume.get("persistentVolumeClaim")
                        if claim:
                            self.assertIn(("PersistentVolumeClaim", claim["claimName"]), kinds)

    def test_other_pods_are_left_alone(self):
        # Others have workers and coordinators as well: a policy by that label alone cuts them off from the network.
        for overlay, objects in self.overlays.items():
            for one in objects:
                for labels in tables(one):
                    if "app.kubernetes.io/component" in labels:
                        self.assertEqual(labels.get("app.kubernetes.io/name"), "sluice", (overlay, one["kind"]))

    def test_ports_are_those_that_are_served_and_let_through(self):
        for objects in self.overlays.values():
            service = next(one for one in objects if one["kind"] == "Service")
            served = {port["port"] for port in service["spec"]["ports"]}
            for name, spec, meta in pods(objects):
                container = spec["containers"][0]
                ports = {port["name"]: port["containerPort"] for port in container["ports"]}
                arguments = " ".join(container["args"])
                self.assertIn(f"0.0.0.0:{ports['metrics']}", arguments, name)
                for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"),
                                    ("readinessProbe", "/readyz")):
                    self.assertEqual(container[probe]["httpGet"], {"path": path, "port": "metrics"}, name)
                component = meta["labels"]["app.kubernetes.io/component"]
                if component == "coordinator":
                    self.assertIn(f":{ports['fleet']}", arguments)
                    self.assertEqual(served, set(ports.values()))
                policy = next(one for one in objects if one["kind"] == "NetworkPolicy" and
                              one["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == component)
                let_in = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
                self.assertEqual(let_in, set(ports.values()), name)

    def test_providers_are_let_through_by_ipv4_and_ipv6_and_nothing_private(self):
        private = {"0.0.0.0/0": {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"},
                   "::/0": {"fc00::/7", "fe80::/10"}}
        for overlay, objects in self.overlays.items():
            rules = [rule for one in objects if one["kind"] == "NetworkPolicy" for rule in one["spec"]["egress"]]
            blocks = [[peer["ipBlock"] for peer in rule["to"] if "ipBlock" in peer] for rule in rules]
            outside = [{block["cidr"]: set(block["except"]) for block in of_rule} for of_rule in blocks if of_rule]
            self.assertEqual(outside, [private], overlay)

    def test_pods_are_confined(self):
        for objects in self.overlays.values():
            for name, spec, _ in pods(objects):
                container = spec["containers"][0]
                self.assertTrue(spec["securityContext"]["runAsNonRoot"], name)
                self.assertFalse(spec["automountServiceAccountToken"], name)
                self.assertEqual(container["securityContext"], {
                    "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}})
                self.assertIn("memory", container["resources"]["limits"], name)
                self.assertEqual(container["command"][0] in ("sluice", "sluice-worker"), True)

    def test_no_key_is_in_them(self):
        for objects in self.overlays.values():
            for name, spec, _ in pods(objects):
                for variable in spec["containers"][0].get("env", []):
                    self.assertNotIn("value", variable, name)
                for volume in spec["volumes"]:
                    if "secret" in volume:
                        # Readable by root and the pod's group: what a key file may be (docs/security.md).
                        self.assertEqual(volume["secret"]["defaultMode"], 0o440)
                        self.assertEqual(spec["securityContext"]["fsGroup"], spec["securityContext"]["runAsGroup"])

    def test_a_stop_has_time_for_calls_under_way(self):
        said = re.sub(r"\s+", " ", self.bench.run([PROGRAMS / "sluice-worker", "--help"]))
        drain = int(re.search(r"--drain-timeout SECONDS .*?\(default (\d+)\)", said).group(1))
        for objects in self.overlays.values():
            for name, spec, _ in pods(objects):
                self.assertGreater(spec["terminationGracePeriodSeconds"], drain, name)

    def test_the_programs_know_their_arguments(self):
        """Each command as it stands, with files of its own in place of what is mounted."""
        folder = self.bench.folder
        self.bench.run([PROGRAMS / "sluice", "keys", "new", "pods", "--home", folder / "home"])
        (folder / "suite.yaml").write_text(
            "suite: s\ntests:\n  - {id: a, input: {prompt: p}, expected: {type: must_contain, text: t}}\n")
        mounted = {"/fleet": folder / "home" / "fleet", "/suite": folder}
        for objects in self.overlays.values():
            for name, spec, _ in pods(objects):
                container = spec["containers"][0]
                command = " ".join([*container["command"], *container["args"]])
                for mount, place in mounted.items():
                    command = command.replace(f"{mount}/", f"{place}/")
                command = re.sub(r"0\.0\.0\.0:\d+", "127.0.0.1:0", command)
                command = command.replace("sluice-coordinator:5555", "127.0.0.1:9")
                command = re.sub(r"\$\(\w+\)", "p", command)
                arguments = command.split()
                arguments[0] = str(PROGRAMS / arguments[0])
                # It starts, waits for the other side, and ends when it is told to.
                process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                           env={**self.bench.environment, "SLUICE_HOME": str(folder / "pod")})
                said = process.stderr.readline() + process.stderr.readline()
                process.terminate()
                _, rest = process.communicate(timeout=30)
                self.assertNotIn("error:", said, name)
                self.assertIn("metrics at", said + rest, name)

    def test_the_commands_of_its_page_make_what_the_pods_read(self):
        """Up to the cluster: kubectl says what it would send there."""
        if not shutil.which("kubectl"):
            self.skipTest("there is no kubectl")
        page = (ROOT / "deploy" / "README.md").read_text()
        block = re.search(r"```sh\n(.*?)```", page[page.index("\n## Kubernetes\n"):], re.S).group(1)
        sent = self.bench.folder / "sent.yaml"
        script = ('kubectl() { case $1 in create) echo ---; command kubectl "$@" --dry-run=client -o yaml ;; apply) echo ---; '
                  f'command kubectl kustomize "$3" ;; logs) ;; *) return 1 ;; esac >>{sent}; }}\n' +
                  block.replace("suite.yaml", str(write_suite(self.bench.folder / "suite.yaml", 3, "cluster")))
                  .replace("deploy/", f"{ROOT}/deploy/"))
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.bench.folder, capture_output=True, text=True,
                              env={**self.bench.environment, "HOME": str(self.bench.folder / "user")})
        self.assertEqual(done.returncode, 0, done.stderr)
        objects = [one for one in yaml.safe_load_all(sent.read_text()) if one]
        made = {one["metadata"]["name"]: set(one["data"]) for one in objects if one["kind"] in ("Secret", "ConfigMap")}
        read = {}
        for _, spec, _ in pods(objects):
            container = spec["containers"][0]
            for source in container.get("envFrom", []):
                read[source["secretRef"]["name"]] = {"OPENAI_API_KEY"}
            mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
            for volume in spec["volumes"]:
                name = volume.get("secret", {}).get("secretName") or volume.get("configMap", {}).get("name")
                if name:
                    read[name] = {one.removeprefix(f"{mounts[volume['name']]}/") for one in container["args"]
                                  if one.startswith(f"{mounts[volume['name']]}/")}
        self.assertEqual(made, read)

    def problems(self, objects):
        """What does not fit the schemas of Kubernetes 1.33 to 1.35 (kubernetes_schemas.js)."""
        modules = node_modules(self, "kubernetes-models", "4.5.1")
        done = subprocess.run(["node", Path(__file__).with_name("kubernetes_schemas.js"), modules],
                              input=json.dumps(objects), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_they_fit_the_published_schemas(self):
        for name, objects in self.overlays.items():
            self.assertEqual(self.problems(objects), "", name)

    def test_what_does_not_fit_is_found(self):
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {
            "backoffLimit": "3", "template": {"spec": {"containers": [{"name": "c", "readynessProbe": {}}]}}}}
        self.assertEqual(self.problems([job]).splitlines(), [
            'Job j: /spec/backoffLimit type {"type":"integer"}',
            "Job j: /spec/template/spec/containers/0/readynessProbe is unknown"])


if __name__ == "__main__":
    need()
    unittest.main(verbosity=2)
