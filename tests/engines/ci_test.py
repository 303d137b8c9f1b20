#!/usr/bin/env python3
"""deploy/ci: what a linter says of the examples. That their steps work in a repository of their own is tried by
tests/integration/ci_examples_test.cpp."""

import re
import shutil
import subprocess
import unittest

from fleet import ROOT, need, skip

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
        if not shutil.which("actionlint"):
            self.skipTest("there is no actionlint")
        done = subprocess.run(["actionlint", GITHUB], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

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
