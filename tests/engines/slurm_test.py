#!/usr/bin/env python3
"""deploy/slurm/sluice.sbatch on a real slurmctld and two slurmd, each of which is a machine of its own as far as its
processes go: a node dies with all of them."""

import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from fleet import KEY, MODEL, PATIENCE, PROGRAMS, ROOT, Bench, Simulator, comparable, in_own_namespaces, need
from fleet import report_of_one_worker, wait_for, write_suite

SCRIPT = ROOT / "deploy" / "slurm" / "sluice.sbatch"
NODES = ("n1", "n2")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldPort=16817
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=1
JobRequeue=1
SlurmdTimeout=5
SlurmctldTimeout=5
KillWait=30
ReturnToService=2
MailProg=/bin/true
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=17001 CPUs=4 RealMemory=4096
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=17002 CPUs=4 RealMemory=4096
PartitionName=all Nodes=n1,n2 Default=YES State=UP MaxTime=INFINITE
"""


class Cluster:
    def __init__(self, bench):
        self.bench, self.folder = bench, bench.folder
        host = os.uname().nodename
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, folder=self.folder))
        (self.folder / "state").mkdir()
        self.name_nodes()
        bench.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self.start_munge()
        bench.start("slurmctld", ["slurmctld", "-D", "-i"])
        self.nodes = {}
        for node in NODES:
            self.start_node(node)
        wait_for(lambda: self.node_states().count("idle") == len(NODES), "the nodes did not come up")

    def name_nodes(self):
        """Nodes reach each other by their names, as they do in a cluster."""
        hosts = self.folder / "hosts"
        hosts.write_text(Path("/etc/hosts").read_text() + "".join(f"127.0.0.1 {node}\n" for node in NODES))
        self.bench.run(["mount", "--bind", hosts, "/etc/hosts"])

    def start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.folder.chmod(0o755)
        self.bench.start("munged", [
            "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
            f"--pid-file={self.folder}/munge.pid", f"--log-file={self.folder}/munge-own.log",
            f"--seed-file={self.folder}/munge.seed"])
        wait_for((self.folder / "munge.socket").exists, "munged did not start")

    def start_node(self, node):
        (self.folder / f"spool-{node}").mkdir(exist_ok=True)
        self.nodes[node] = self.bench.start(f"slurmd-{node}", ["slurmd", "-D", "-N", node], prefix=[
            "unshare", "--fork", "--kill-child", "--pid", "--mount-proc"])

    def kill_node(self, node):
        self.nodes[node].kill()
        self.nodes[node].wait()

    def node_states(self):
        return subprocess.run(["sinfo", "-h", "-N", "-o", "%t"], env=self.bench.environment, capture_output=True,
                              text=True).stdout.split()

    def submit(self, *arguments, home):
        self.bench.environment["HOME"] = str(home)
        return self.bench.run(["sbatch", "--parsable", *arguments]).strip()

    def tasks(self, array):
        """State and node of each task that is not over."""
        said = self.bench.run(["squeue", "-h", "-r", "-j", array, "-o", "%K %T %N"]) if self.is_known(array) else ""
        return {int(line.split()[0]): line.split()[1:] for line in said.splitlines()}

    def is_known(self, array):
        return subprocess.run(["squeue", "-h", "-j", array], env=self.bench.environment, capture_output=True,
                              text=True).stdout.strip() != ""

    def await_end(self, array, seconds=60):
        try:
            wait_for(lambda: not self.is_known(array), f"array {array} did not end", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.bench.run(['squeue', '-r', '-o', '%i %T %N %r'])}") from None

    def exit_code(self, array, task):
        said = self.bench.run(["scontrol", "show", "job", f"{array}_{task}"])
        return int(re.search(r"ExitCode=(\d+):", said).group(1))


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.cluster = Cluster(cls.bench)

    def setUp(self):
        self.home = self.bench.folder / self._testMethodName
        self.home.mkdir()
        self.bench.run([PROGRAMS / "sluice", "keys", "new", "slurm", "--home", self.home / ".sluice"])
        keys = self.home / ".sluice" / "provider-keys"
        keys.write_text(f"OPENAI_API_KEY={KEY}\n")
        keys.chmod(0o600)

    def tearDown(self):
        self.bench.run(["scancel", "--user=root"])
        for node in self.cluster.nodes:
            if self.cluster.nodes[node].poll() is not None:
                self.cluster.start_node(node)

    def begin(self, cases, workers=3, *flags, latency="250,0.3"):
        name = self._testMethodName
        self.suite = write_suite(self.bench.folder / f"{name}.yaml", cases, name)
        self.report = self.bench.folder / f"{name}.json"
        self.simulator = Simulator(self.bench, name=f"{name}-provider", latency=latency)
        # The workers' own word that the simulator may have the key.
        (self.bench.folder / "sluice.toml").write_text(
            f'[providers.openai]\nkey_hosts = ["127.0.0.1:{self.simulator.port}"]\n')
        self.array = self.cluster.submit(
            f"--array=0-{workers}", *flags, f"--output={self.bench.folder}/{name}-%a.log", SCRIPT, self.suite, *MODEL,
            "--base-url", self.simulator.url, "--format", "json", "--output", self.report, home=self.home)
        return self.array

    def log(self, task):
        return self.bench.log(f"{self._testMethodName}-{task}")

    def answered(self, least):
        """Waits until the provider has been asked so often."""
        events = self.simulator.events_file
        wait_for(lambda: events.exists() and events.read_text().count('"answer"') >= least, "no call came")

    def node_of(self, task):
        return wait_for(lambda: (self.cluster.tasks(self.array).get(task, []) + [""])[1], f"task {task} has no node")

    def check_report(self, lost_with_a_node=0):
        """The report is that of a single worker, and no call was paid twice beyond those of a node that died."""
        answers = self.simulator.answers()
        again = sum(len(times) - 1 for times in answers.values())
        self.assertLessEqual(again, lost_with_a_node, "calls were paid twice")
        self.assertEqual(comparable(self.report), report_of_one_worker(self.bench, self.suite))

    def test_one_sbatch_is_a_run(self):
        array = self.begin(60)
        self.cluster.await_end(array)
        self.assertEqual(self.cluster.exit_code(array, 0), 1, self.log(0))  # A seventh of the cases fails.
        for task in (1, 2, 3):
            self.assertEqual(self.cluster.exit_code(array, task), 0, self.log(task))
        self.check_report()
        # Slurm's own files hold each job's script and environment.
        found = subprocess.run(["grep", "-rlF", KEY, self.bench.folder / "state"], capture_output=True, text=True)
        self.assertEqual(found.stdout, "")

    def test_a_time_limit_ends_no_run(self):
        # Slurm counts in minutes: the signal comes within seconds of the start, and the run goes on after it.
        array = self.begin(150, 2, "--time=1", "--signal=B:USR1@55", latency="900,0.2")
        wait_for(lambda: "goes back into the queue" in self.log(0), "no time limit came near")
        self.cluster.bench.run(["scontrol", "update", f"JobId={array}_0", "TimeLimit=10"])
        for task in (1, 2):
            if task in self.cluster.tasks(array):
                self.cluster.bench.run(["scontrol", "update", f"JobId={array}_{task}", "TimeLimit=10"])
        self.cluster.await_end(array)
        self.assertIn("going on with run", self.log(0))
        self.check_report()

    def test_a_node_dies_with_the_coordinator(self):
        array = self.begin(150, 4, latency="500,0.2")
        self.answered(20)
        node = self.node_of(0)
        under_way = 5 * sum(1 for _, where in self.cluster.tasks(array).values() if where == node)
        self.cluster.kill_node(node)
        self.cluster.await_end(array)
        self.assertIn("going on with run", self.log(0))
        self.check_report(lost_with_a_node=under_way)

    def test_scancel_ends_it_for_good(self):
        array = self.begin(400, 3, latency="400,0.2")
        self.answered(20)
        self.cluster.bench.run(["scancel", array])
        self.cluster.await_end(array, 40)
        self.assertIn("interrupted by SIGTERM", self.log(0))
        # Each call that had begun was waited for.
        begun = self.simulator.events_file.read_text().count('"start"')
        answers = self.simulator.answers()
        self.assertEqual(sum(len(times) for times in answers.values()), begun)
        self.assertTrue((self.home / ".sluice" / "slurm" / array / "over").exists())

    def test_an_array_grows_and_shrinks(self):
        array = self.begin(150, 1, latency="500,0.2")
        self.answered(5)
        self.bench.environment["SLUICE_ARRAY"] = array
        more = self.cluster.submit("--array=11-12", f"--output={self.bench.folder}/more-%a.log", SCRIPT, home=self.home)
        del self.bench.environment["SLUICE_ARRAY"]
        wait_for(lambda: "connected" in self.bench.log("more-12"), "the new workers did not come")
        self.cluster.bench.run(["scancel", f"{array}_1"])
        self.cluster.await_end(array)
        self.cluster.await_end(more)
        self.check_report()

    def test_two_arrays_of_one_home_run_at_once(self):
        # The second one's workers ended at once, as their caches were in use, and its run waited for them for an hour.
        first = self.begin(150, 2, latency="500,0.2")
        self.answered(5)
        other_report = self.bench.folder / "other-array.json"
        other = self.cluster.submit(
            "--array=0-2", f"--output={self.bench.folder}/other-array-%a.log", SCRIPT, self.suite, *MODEL,
            "--base-url", self.simulator.url, "--format", "json", "--output", other_report, home=self.home)
        wait_for(lambda: "connected" in self.bench.log("other-array-1"), "the other array's worker did not come")
        self.assertTrue(self.cluster.is_known(first), "the first array was over already")
        for array in (first, other):
            self.cluster.await_end(array)
        for task in (1, 2):
            self.assertEqual(self.cluster.exit_code(other, task), 0, self.bench.log(f"other-array-{task}"))
        caches = self.home / ".sluice" / "cache"
        self.assertLessEqual({"slurm-1", "slurm-1-2", "slurm-2", "slurm-2-2"}, {one.name for one in caches.iterdir()})
        self.simulator.answers()
        expected = report_of_one_worker(self.bench, self.suite)
        for report in (self.report, other_report):
            self.assertEqual(comparable(report), expected)

    def test_keys_that_others_can_read_are_refused(self):
        (self.home / ".sluice" / "provider-keys").chmod(0o644)
        array = self.begin(5, 1)
        wait_for(lambda: "chmod 600" in self.log(1), "nothing was said of the key")
        self.cluster.bench.run(["scancel", array])
        self.cluster.await_end(array, 40)
        self.simulator.answers()


if __name__ == "__main__":
    need(ip="iproute2", slurmctld="slurmctld", slurmd="slurmd", sbatch="slurm-client", munged="munge")
    in_own_namespaces("--net", "--uts")
    # Slurm looks for addresses of families that some link beside loopback has.
    for command in ("link add s0 type veth peer name s1", "addr add 10.79.0.1/24 dev s0", "link set s0 up",
                    "link set s1 up"):
        subprocess.run(["ip", *command.split()], check=True)
    unittest.main(verbosity=2)
