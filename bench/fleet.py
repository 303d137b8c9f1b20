"""Fleets: coordinators and workers as processes, and what their call logs say about the calls' starts."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from processes import PROGRAMS, WORK, free_port

QUESTIONS = WORK / "questions"


def write_questions(name, numbers, expected=(), more_words=0):
    """A suite of distinct questions that any answer of the simulator passes. The suite's path."""
    words = " Please look at the terms of sale first." * (more_words // 8)
    folder = QUESTIONS / name
    folder.mkdir(parents=True, exist_ok=True)
    suite = folder / "suite.yaml"
    suite.write_text("suite: questions\ntests_file: questions.jsonl\n")
    with open(folder / "questions.jsonl", "w") as out:
        for number in numbers:
            case = {"id": f"q-{number:06d}",
                    "input": {"prompt": f"Question {number:06d}: may the order still be cancelled?{words}"},
                    "expected": [{"type": "must_not_contain", "text": "As an AI"}, *expected]}
            out.write(json.dumps(case) + "\n")
    return suite


def provider_table(name, url, keys=""):
    return (f'[providers.{name}]\nkind = "openai"\nbase_url = "{url}/v1"\napi_key_env = ""\n'
            f'cache_identity = "{name}"\nmodel = "sim-1"\n{keys}\n')


def settings(url, provider_keys="", eval_keys="", tables="", max_output_tokens=64):
    """A sluice.toml whose provider `limited` is the simulator at `url`."""
    return (f'[eval]\nprovider = "limited"\nmode = "live"\nmax_output_tokens = {max_output_tokens}\n{eval_keys}\n'
            + provider_table("limited", url, provider_keys) + tables)


def stats(url):
    with urllib.request.urlopen(url + "/stats") as answer:
        return json.load(answer)


def refusals(url):
    return stats(url)["answers"].get("429", 0)


def read_starts(logs, provider="limited"):
    """When calls started, over all workers, in seconds, ascending."""
    starts = []
    for log in logs:
        if not log.exists():
            continue
        for line in log.read_text().split("\n")[:-1]:  # What is behind the last line's end was never finished.
            call = json.loads(line)
            if call["provider"] == provider:
                starts.append(call["started_us"] * 1e-6)
    return sorted(starts)


def worst_excess(starts, rate, burst):
    """By how many starts the worst window is beyond rate x length + burst; negative: so many were left."""
    worst, lowest = -burst, float("inf")
    for index, start in enumerate(starts):
        filled = index - rate * (start - starts[0])
        lowest = min(lowest, filled)
        worst = max(worst, filled + 1 - lowest - burst)
    return worst


@dataclass
class FleetRun:
    """What a run came to."""
    report: dict
    seconds: float                      # From the first lease to the last result.
    starts: dict = field(default_factory=dict)  # By provider.
    kills: int = 0
    stops: int = 0

    def comparable(self):
        volatile = ("run_id", "timestamp", "started_at", "completed_at", "run")
        return json.dumps({key: value for key, value in self.report.items() if key not in volatile})


class Fleet:
    """A folder with a sluice.toml, and the processes that are started there."""

    def __init__(self, name, settings_text):
        self.folder = WORK / "fleets" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        (self.folder / "sluice.toml").write_text(settings_text)
        self.home = self.folder / "home"
        self.workers = []
        self.logs = []
        self.endpoint = f"tcp://127.0.0.1:{free_port()}"

    def spawn(self, program, arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
        errors = open(self.folder / f"{program}-{len(self.workers)}.err", "ab")
        with errors:
            return subprocess.Popen([str(PROGRAMS / program), *map(str, arguments)], cwd=self.folder,
                                    env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=errors)

    def next_log(self):
        self.logs.append(self.folder / f"calls-{len(self.logs)}.jsonl")
        return self.logs[-1]

    def start_worker(self, max_concurrent):
        worker = self.spawn("sluice-worker", ["--connect", self.endpoint, "--name", f"w{len(self.logs)}",
                                              "--home", self.home, "--max-concurrent", max_concurrent,
                                              "--call-log", self.next_log()])
        self.workers.append(worker)
        return worker

    def start_run(self, suite, *more):
        self.report = self.folder / "report.json"
        return self.spawn("sluice", ["run", suite, "--home", self.home, "--format", "json", "--output",
                                     self.report, "--quiet", *more])

    def run(self, suite, workers, max_concurrent, *more, disturb=None):
        """The workers are there first, so that all of them say HELLO when the coordinator comes."""
        for _ in range(workers):
            self.start_worker(max_concurrent)
        time.sleep(0.5 + 0.1 * workers)
        coordinator = self.start_run(suite, "--listen", self.endpoint, *more)
        if disturb:
            disturb(self, coordinator, max_concurrent)
        code = coordinator.wait()
        for worker in self.workers:
            worker.send_signal(signal.SIGCONT)
            worker.terminate()
        for worker in self.workers:
            worker.wait()
        return self.result(code)

    def result(self, code, providers=("limited",)):
        if code not in (0, 1) or not self.report.exists():
            sys.exit(f"bench: a run in {self.folder} ended with exit code {code}; see its *.err files")
        report = json.loads(self.report.read_text())
        starts = {provider: read_starts(self.logs, provider) for provider in providers}
        return FleetRun(report, report["run"]["duration_seconds"], starts)


class Trouble:
    """Kills, stops and continues workers at random for some seconds; a new one comes for each that was killed."""

    def __init__(self, seed, seconds):
        self.random = random.Random(seed)
        self.seconds = seconds
        self.kills = self.stops = 0

    def __call__(self, fleet, coordinator, max_concurrent):
        running, stopped = list(fleet.workers), []
        end = time.monotonic() + self.seconds
        while coordinator.poll() is None and time.monotonic() < end:
            time.sleep(self.random.uniform(0.02, 0.2))
            choice = self.random.random()
            # A unit that three workers began and took with them is given up: so many kills there must not be.
            if stopped and choice < 0.5:
                running.append(stopped.pop(self.random.randrange(len(stopped))))
                running[-1].send_signal(signal.SIGCONT)
            elif choice < 0.54:
                running.pop(self.random.randrange(len(running))).kill()
                running.append(fleet.start_worker(max_concurrent))
                self.kills += 1
            elif len(running) > 1:
                stopped.append(running.pop(self.random.randrange(len(running))))
                stopped[-1].send_signal(signal.SIGSTOP)
                self.stops += 1
        for worker in stopped:
            worker.send_signal(signal.SIGCONT)


def run_at_once(name, suites, settings_text, max_concurrent, share_home):
    """As many runs as suites; without a home in common they know nothing of each other, which is what limiting by
    process means. Their reports, the seconds from the first call to the end of the last run, and all starts."""
    fleets = [Fleet(f"{name}-{number}", settings_text) for number in range(len(suites))]
    for fleet in fleets[1:] if share_home else []:
        fleet.home = fleets[0].home
    processes = [fleet.start_run(suite, "--max-concurrent", max_concurrent, "--call-log", fleet.next_log())
                 for fleet, suite in zip(fleets, suites)]
    codes = [process.wait() for process in processes]
    ended = time.clock_gettime(time.CLOCK_BOOTTIME)
    runs = [fleet.result(code) for fleet, code in zip(fleets, codes)]
    starts = sorted(start for run in runs for start in run.starts["limited"])
    return [run.report for run in runs], ended - starts[0], starts
