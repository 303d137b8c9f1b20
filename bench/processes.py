"""Runs the programs that are measured, and says what each took."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build" / "release" / "bin"
WORK = ROOT / "build" / "bench"
KEY = "bench-key"


@dataclass
class Usage:
    """What one process took from start to end, as wait4 reports it."""
    seconds: float
    cpu_seconds: float  # User and system.
    peak_bytes: int
    output: str


def run(command, good_codes=(0,)):
    """Runs a command to its end and measures it. Its stderr is shown only if it fails."""
    log, took = WORK / "stderr.log", WORK / "usage.json"
    # The settings of whoever runs the bench have no say in it.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
    environment["OPENAI_API_KEY"] = KEY
    measured = [sys.executable, "-S", "-E", str(ROOT / "bench" / "measure.py"), str(took)]
    with open(log, "wb") as errors:
        child = subprocess.run(measured + [str(part) for part in command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=errors, env=environment, cwd=WORK)
    if child.returncode not in good_codes:
        sys.exit(f"bench: {Path(command[0]).name} ended with exit code {child.returncode}: {log.read_text()}")
    return Usage(**json.loads(took.read_text()), output=child.stdout.decode())


class Simulator:
    """provider-sim on a port of its own, for as long as the `with` block lasts."""

    def __init__(self, latency_ms, pinned_to=None, flags=()):
        self.command = [str(PROGRAMS / "provider-sim"), "--latency-ms", str(latency_ms), *map(str, flags)]
        if pinned_to is not None:
            self.command = ["taskset", "-c", str(pinned_to)] + self.command

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().strip()
        if not line.startswith("listening on "):
            sys.exit("bench: provider-sim did not start")
        return line.removeprefix("listening on ")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Sluice:
    """`sluice run` over one suite with a home of its own."""

    def __init__(self, fixtures, url):
        """`fixtures`: a folder of them, or a suite's file."""
        self.fixtures = fixtures
        self.home = WORK / "home"
        self.report = WORK / "report.json"
        suite = ["--fixtures", fixtures] if fixtures.is_dir() else [fixtures]
        self.arguments = [*suite, "--base-url", url + "/v1", "--provider", "openai", "--model",
                          "gpt-4o-mini", "--home", self.home, "--format", "json", "--output", self.report, "--quiet"]

    def forget(self):
        """The next run finds neither cache nor ledger."""
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, mode, *more):
        """Measures one run and returns it with its report. Failed cases (exit code 1) are part of the suite."""
        # A machine that needs its memory elsewhere drops the files from its cache within seconds: what the disk
        # takes is no cost of a run.
        for fixture in self.fixtures.rglob("*.toml"):
            fixture.read_bytes()
        usage = run([PROGRAMS / "sluice", "run", "--mode", mode, *self.arguments, *more], good_codes=(0, 1))
        report = json.loads(self.report.read_text())
        errors = report["metrics"]["errors"]
        if errors:
            sys.exit(f"bench: {errors} cases ended in errors, so the figures would mean nothing")
        return usage, report


class Worker:
    """sluice-worker beside a run, for as long as the `with` block lasts; its CPU time afterwards."""

    def __init__(self, endpoint, home, *more):
        self.command = [PROGRAMS / "sluice-worker", "--connect", endpoint, "--home", home, "--max-concurrent", "50", *more]
        self.cpu_seconds = 0.0

    def __enter__(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
        environment["OPENAI_API_KEY"] = KEY
        self.process = subprocess.Popen([str(part) for part in self.command], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=WORK)
        return self

    def __exit__(self, *_):
        _, status, took = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_seconds = took.ru_utime + took.ru_stime
        if self.process.returncode != 0:
            sys.exit(f"bench: sluice-worker ended with exit code {self.process.returncode}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def run_floor(url, body, headers, requests, in_flight):
    """Measures floor-client and returns it with what it says of itself."""
    command = [PROGRAMS / "floor-client", "--url", url + "/v1/chat/completions", "--requests", requests,
               "--in-flight", in_flight, "--body", body, "--vary", "@N@"]
    for header in headers:
        command += ["--header", header]
    usage = run(command)
    said = json.loads(usage.output)
    if said["ok"] != requests:
        sys.exit(f"bench: floor-client got {said['ok']} answers to {requests} requests")
    return usage, said


def capture_request(fixtures):
    """The body and the headers of a request as sluice sends it, by playing a server that refuses it."""
    seen = {}

    class Refuse(BaseHTTPRequestHandler):
        def do_POST(self):
            seen["headers"] = dict(self.headers)
            seen["body"] = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Refuse)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sluice = Sluice(fixtures, f"http://127.0.0.1:{server.server_port}")
    sluice.forget()
    run([PROGRAMS / "sluice", "run", "--mode", "live", "--no-cache", "--max-fixtures", "1", *sluice.arguments],
        good_codes=(2,))
    server.shutdown()
    return seen["body"], seen["headers"]


def machine():
    """One line about the machine and the programs."""
    cpu = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (f"{os.cpu_count()} cores ({cpu}), {memory:.0f} GiB, Linux {os.uname().release}; "
            f"load before the run {os.getloadavg()[0]:.1f}")
