#!/usr/bin/env python3
"""Which name, and so which cache, a worker of deploy/slurm/sluice.sbatch takes, with stand-ins for Slurm and the worker:
slurm_test.py starts the real ones."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from fleet import ROOT, need, wait_for

SCRIPT = ROOT / "deploy" / "slurm" / "sluice.sbatch"
# Says its name, and ends as a worker does that is told to leave.
WORKER = f"""#!{sys.executable}
import os, signal, sys
from pathlib import Path
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
said = Path(os.environ["HOME"], "names", os.environ["SLURM_ARRAY_JOB_ID"])
said.with_suffix(".part").write_text(sys.argv[sys.argv.index("--name") + 1])
said.with_suffix(".part").rename(said)
signal.sigwait([signal.SIGTERM])
"""
SQUEUE = '#!/bin/sh\n! [ -e "$HOME/queue/$3" ] || echo queued\n'
SCONTROL = '#!/bin/sh\ntouch "$HOME/queue/$2"\n'


class Names(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        for name in ("bin", "names", "queue", ".sluice"):
            (self.home / name).mkdir()
        for name, text in (("sluice-worker", WORKER), ("squeue", SQUEUE), ("scontrol", SCONTROL)):
            (self.home / "bin" / name).write_text(text)
            (self.home / "bin" / name).chmod(0o755)
        keys = self.home / ".sluice" / "provider-keys"
        keys.write_text("OPENAI_API_KEY=none\n")
        keys.chmod(0o600)

    def start(self, array):
        """Task 1 of the array; its process and the name that its worker has."""
        run = self.home / ".sluice" / "slurm" / array
        run.mkdir(parents=True, exist_ok=True)
        (run / "endpoint").write_text("tcp://127.0.0.1:1")
        said = self.home / "names" / array
        said.unlink(missing_ok=True)
        environment = {"HOME": str(self.home), "PATH": f"{self.home}/bin:{os.environ['PATH']}",
                       "SLURM_ARRAY_JOB_ID": array, "SLURM_ARRAY_TASK_ID": "1"}
        task = subprocess.Popen(["bash", SCRIPT], env=environment, start_new_session=True)
        self.addCleanup(self.end, task)
        wait_for(said.exists, f"the worker of array {array} did not start")
        return task, said.read_text()

    def end(self, task):
        """As Slurm does in the end, with all that is left of it."""
        if task.poll() is None:
            os.killpg(task.pid, signal.SIGKILL)
            task.wait()

    def test_a_requeued_task_has_the_name_that_it_had(self):
        first, name = self.start("4711")
        self.assertEqual(name, "slurm-1")
        first.send_signal(signal.SIGUSR1)
        wait_for((self.home / "queue" / "4711_1").exists, "the task did not go back into the queue")
        self.end(first)
        self.assertEqual(self.start("4712")[1], "slurm-1-2", "the name of a task in the queue is taken")
        self.assertEqual(self.start("4711")[1], "slurm-1")

    def test_a_task_whose_node_died_has_it_too(self):
        first, _ = self.start("4711")
        second, name = self.start("4712")
        self.assertEqual(name, "slurm-1-2")
        self.end(first)
        self.end(second)
        self.assertEqual(self.start("4712")[1], "slurm-1-2", "there is a free one, with another cache")

    def test_the_name_of_a_task_that_is_over_is_free(self):
        killed, _ = self.start("4711")
        self.end(killed)
        ended, name = self.start("4712")
        self.assertEqual(name, "slurm-1", "Slurm no longer knows the task that had it")
        (self.home / ".sluice" / "slurm" / "4712" / "over").touch()
        # Its worker is told to leave, as the coordinator is elsewhere.
        (self.home / ".sluice" / "slurm" / "4712" / "endpoint").write_text("tcp://127.0.0.1:2")
        self.assertEqual(ended.wait(30), 0)
        (self.home / "queue" / "4712_1").touch()
        self.assertEqual(self.start("4713")[1], "slurm-1", "it ended by itself")


if __name__ == "__main__":
    need(flock="util-linux")
    unittest.main(verbosity=2)
