#!/usr/bin/env python3
"""sluice against a server that others wrote: @copilotkit/aimock of npm speaks all three formats, embeds, calls tools,
and fails as it is told to. The package has no dependencies, and is kept in the build folder."""

import json
import re
import shutil
import subprocess
import unittest
import urllib.request
from collections import Counter

from fleet import KEY, PROGRAMS, Bench, need, skip, wait_for

PACKAGE, VERSION = "@copilotkit/aimock", "1.43.0"
OLDEST_NODE = 20  # That it runs on.
FOLDER = PROGRAMS.parent / "npm" / f"aimock-{VERSION}"
MODELS = {"openai": "gpt-4o-mini", "anthropic": "claude-haiku-4-5", "gemini": "gemini-2.5-flash"}
# What the server does in place of an answer, and what its journal calls it: 500, JSON that breaks off, no answer.
CHAOS = {"dropRate": "drop", "malformedRate": "malformed", "disconnectRate": "disconnect"}
# With it come headers that state a limit of 60 calls a minute, which sluice then keeps to.
REFUSAL = {"rateLimitRate": "rateLimit"}


def installed():
    """The server's program; fetched if it is not there yet."""
    package = FOLDER / "node_modules" / PACKAGE
    if not (FOLDER / "complete").exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        (FOLDER / "package.json").write_text("{}\n")
        done = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", f"{PACKAGE}@{VERSION}"],
                              cwd=FOLDER, capture_output=True, text=True, timeout=150)
        if done.returncode != 0:
            skip(f"npm cannot fetch {PACKAGE}@{VERSION}: {done.stderr.strip().splitlines()[0]}")
        (FOLDER / "complete").touch()
    return package / "dist" / "cli.js"


class Server:
    def __init__(self, bench, name, fixtures):
        file = bench.folder / f"{name}.json"
        file.write_text(json.dumps({"fixtures": fixtures}))
        bench.start(name, ["node", installed(), "--port", 0, "--fixtures", file, "--strict", "--journal-max", 0])
        found = wait_for(lambda: re.search(r"listening on (http://127\.0\.0\.1:\d+)", bench.log(name)),
                         f"the server did not start: {bench.log(name)}")
        self.url = found.group(1)

    def journal(self):
        with urllib.request.urlopen(f"{self.url}/__aimock/journal", timeout=10) as answer:
            return json.load(answer)


def says(question, **response):
    return {"match": {"userMessage": question}, "response": response}


def vector_of(text, vector):
    return {"match": {"inputText": text}, "response": {"embedding": vector}}


def settings(server):
    return "".join(f'[providers.{name}]\nbase_url = "{server.url}{"/v1" if name == "openai" else ""}"\n' for name in MODELS)


class Servers(unittest.TestCase):
    def setUp(self):
        self.bench = Bench()
        self.addCleanup(self.bench.close)
        for name in MODELS:
            self.bench.environment[f"{name.upper()}_API_KEY"] = KEY

    def run_suite(self, server, suite, *flags):
        """The report of a run of the suite by all three formats."""
        (self.bench.folder / "sluice.toml").write_text(settings(server))
        (self.bench.folder / "suite.json").write_text(json.dumps(suite))
        (self.bench.folder / "suite.json").rename(self.bench.folder / "suite.yaml")
        command = [PROGRAMS / "sluice", "run", "suite.yaml", "--mode", "live", "--home", self.bench.folder / "home", "--quiet",
                   "--format", "json", *flags]
        done = subprocess.run(command, env=self.bench.environment, cwd=self.bench.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def assert_all_passed(self, report, cases):
        failed = [case for case in report["fixture_results"] if case["status"] != "pass"]
        self.assertEqual(failed, [])
        self.assertEqual(len(report["fixture_results"]), cases)

    def test_every_format(self):
        server = Server(self.bench, "formats", [
            says("capital of France", content="It is Paris."),
            says("where is order 17", toolCalls=[{"name": "look_up", "arguments": {"order": 17}}]),
            says("and of Peru", content="Lima"),
            says("as JSON", content='{"city": "Nairobi"}'),
        ])
        tools = [{"name": "look_up", "description": "Finds an order.",
                  "parameters": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}}]
        talk = [{"role": "system", "content": "You teach."}, {"role": "user", "content": "Which is the capital of Kenya?"},
                {"role": "assistant", "content": "Nairobi"}, {"role": "user", "content": "and of Peru?"}]
        report = self.run_suite(server, {
            "suite": "formats",
            "providers": [f"{name}:{model}" for name, model in MODELS.items()],
            "tests": [
                {"id": "text", "input": {"prompt": "What is the capital of France?", "system": "Be brief."},
                 "expected": {"type": "must_contain", "text": "Paris"}},
                {"id": "tool", "input": {"prompt": "where is order 17", "tools": tools, "tool_choice": "required"},
                 "expected": {"type": "tool_call", "name": "look_up", "arguments": {"order": 17}}},
                {"id": "talk", "input": {"messages": talk}, "expected": {"type": "exact_match", "text": "Lima"}},
                {"id": "form", "input": {"prompt": "Kenya's capital as JSON", "response_format": "json"},
                 "expected": {"type": "is_json", "schema": {"type": "object", "required": ["city"]}}},
            ]})
        self.assert_all_passed(report, 4 * len(MODELS))
        self.assertEqual({entry["response"]["status"] for entry in server.journal()}, {200})

    def test_embeddings(self):
        for provider, model in (("openai", "text-embedding-3-small"), ("gemini", "gemini-embedding-001")):
            with self.subTest(provider):
                server = Server(self.bench, f"vectors-{provider}", [
                    says("in a word", content="answered so"), vector_of("answered so", [1, 0, 0]),
                    vector_of("expected otherwise", [0.6, 0.8, 0])])
                report = self.run_suite(server, {
                    "suite": "vectors", "settings": {"embedding_provider": provider, "embedding_model": model},
                    "providers": [f"openai:{MODELS['openai']}"],
                    "tests": [{"id": "near", "input": {"prompt": f"{provider} in a word"},
                               "expected": {"type": "semantic_similarity_to", "text": "expected otherwise", "min_score": 0.5}}]})
                self.assert_all_passed(report, 1)
                # It has one vector for all texts of a call of OpenAI's form, and no batches of Gemini's.
                self.assertEqual(report["fixture_results"][0]["metrics"][0]["score"], 1 if provider == "openai" else 0.6)
                asked = [entry["path"] for entry in server.journal() if "mbed" in entry["path"]]
                self.assertGreater(len(asked), 0)

    def run_chaos(self, failures_of_cases):
        """Each case fails in its ways, one after the other, and is then answered. It is asked for no more often."""
        cases = [f"{case:03}" for case in range(len(failures_of_cases))]
        fixtures = []
        for model in MODELS.values():
            for case, failures in zip(cases, failures_of_cases):
                for tries, failure in enumerate([*failures, None]):
                    match = {"userMessage": f"question {case} of", "model": model, "sequenceIndex": tries}
                    chaos = {"chaos": {failure: 1}} if failure else {}
                    fixtures.append({"match": match, "response": {"content": f"answer {case}"}, **chaos})
        server = Server(self.bench, "chaos", fixtures)
        report = self.run_suite(server, {
            "suite": "chaos",
            "providers": [f"{name}:{model}" for name, model in MODELS.items()],
            "tests": [{"id": f"case-{case}", "input": {"prompt": f"question {case} of all"},
                       "expected": {"type": "exact_match", "text": f"answer {case}"}} for case in cases]})
        self.assert_all_passed(report, len(cases) * len(MODELS))
        names = {**CHAOS, **REFUSAL}
        expected = Counter(names[failure] for failures in failures_of_cases for failure in failures)
        expected["answer"] = len(cases)
        journal = Counter(entry["response"].get("chaosAction", "answer") for entry in server.journal())
        self.assertEqual(journal, {what: count * len(MODELS) for what, count in expected.items()})

    def test_broken_answers(self):
        broken = [[failure] for failure in CHAOS] * 6 + [list(CHAOS)] * 2
        self.run_chaos([case for failures in broken for case in ([], [], failures)])

    def test_refusals(self):
        self.run_chaos([[*REFUSAL]] * 4 + [["dropRate", *REFUSAL, "malformedRate"]])


if __name__ == "__main__":
    need(node="nodejs", npm="npm")
    node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    if int(node.lstrip("v").split(".")[0]) < OLDEST_NODE:
        skip(f"node is {node}, and the server needs {OLDEST_NODE}")
    installed()
    unittest.main(verbosity=2)
