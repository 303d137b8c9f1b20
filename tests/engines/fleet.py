"""What the tests of engines share: namespaces of their own, processes that end with the test, a simulated provider,
and reports that can be compared.

Each test starts the real thing. Where what it needs is not there it is skipped, by name, with SKIPPED as exit code.
"""

import atexit
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = Path(os.environ.get("SLUICE_TEST_PROGRAMS", ROOT / "build" / "release" / "bin"))
MODEL = ["--mode", "live", "--provider", "openai", "--model", "sim-1"]
KEY = "key-of-the-engines-tests"
SKIPPED = 77
PATIENCE = 30
VOLATILE = ('  "run_id": ', '  "timestamp": ', '  "started_at": ', '  "completed_at": ')
INSIDE = "SLUICE_TEST_INSIDE"  # Set in the namespaces that a test was started in again.
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def skip(why):
    print(f"SKIPPED {Path(sys.argv[0]).name}: {why}")
    sys.exit(SKIPPED)


def need(**packages):
    """Skips the test unless there is each program; its package is said. `-` stands as `_` in names."""
    path = os.environ["PATH"] = os.environ["PATH"] + ":/usr/sbin:/sbin"
    for program, package in packages.items():
        if not shutil.which(program.replace("_", "-"), path=path):
            skip(f"there is no {program.replace('_', '-')} (apt-get install {package})")
    for program in ("sluice", "sluice-worker", "provider-sim"):
        if not (PROGRAMS / program).exists():
            sys.exit(f"{PROGRAMS / program} is missing: scripts/build release sluice sluice-worker provider-sim")


def node_modules(test, package, version):
    """The folder of node's packages with this one in it, fetched once; without it the test is skipped."""
    for program in ("node", "npm"):
        if not shutil.which(program):
            test.skipTest(f"there is no {program}")
    tools = ROOT / "build" / "engine-tools" / f"{Path(package).name}-{version}"
    modules = tools / "node_modules"
    if not (modules / package / "package.json").exists():
        tools.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run(["npm", "install", "--prefix", tools, "--no-audit", "--no-fund", "--ignore-scripts",
                                   f"{package}@{version}"], capture_output=True, text=True, timeout=90)
        except subprocess.TimeoutExpired:
            test.skipTest(f"npm does not get {package} in time")
        if done.returncode != 0:
            test.skipTest(f"npm does not get {package}: {done.stderr.strip().splitlines()[-1:]}")
    return modules


def in_own_namespaces(*kinds):
    """Starts the test again as root of namespaces of its own, which take all of their processes along at its end,
    however that comes. A network of its own has loopback; it takes iproute2."""
    first = ["ip", "link", "set", "lo", "up"] if "--net" in kinds else ["true"]
    if os.environ.pop(INSIDE, None):
        os.environ["HOME"] = "/root"
        subprocess.run(first, check=True)
        return
    unshare = ["unshare", "--fork", "--kill-child", "--pid", "--mount-proc", "--mount", *kinds]
    if os.geteuid() != 0:
        unshare[1:1] = ["--user", "--map-root-user"]
    if subprocess.run([*unshare, *first], capture_output=True).returncode != 0:
        skip("namespaces cannot be made here: run it as root")
    os.environ[INSIDE] = "1"
    os.execvp("unshare", [*unshare, sys.executable, *sys.argv])


def wait_for(holds, problem, seconds=PATIENCE):
    """What `holds` returns once it is true."""
    end = time.monotonic() + seconds
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{problem} (after {seconds} s)")
        time.sleep(0.05)


def end_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Bench:
    """A temporary folder, and processes that end with the test. SLUICE_TEST_KEEP=1 keeps the folder."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="sluice-engine-"))
        self.processes = []
        self.keep = os.environ.get("SLUICE_TEST_KEEP") == "1"
        self.environment = {n: v for n, v in os.environ.items() if not n.startswith("SLUICE_")}
        self.environment["PATH"] = f"{PROGRAMS}:{self.environment['PATH']}"
        self.environment["OPENAI_API_KEY"] = KEY
        atexit.register(self.close)

    def start(self, name, arguments, prefix=(), environment=None, **options):
        """A process whose output goes to NAME.log in the folder."""
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen([str(a) for a in (*prefix, *arguments)], stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, cwd=self.folder, preexec_fn=end_with_parent,
                                       env={**self.environment, **(environment or {})}, **options)
        self.processes.append(process)
        return process

    def run(self, arguments, **options):
        """What a command said; it must succeed."""
        done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, cwd=self.folder,
                              env=self.environment, stdin=subprocess.DEVNULL, **options)
        if done.returncode != 0:
            raise AssertionError(f"{arguments[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def log(self, name):
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        if self.keep:
            print(f"logs: {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


class Simulator:
    """provider-sim, and its log once it has ended."""

    def __init__(self, bench, *flags, name="provider", latency="250,0.5"):
        self.events_file = bench.folder / f"{name}.events"
        port = bench.folder / f"{name}.port"
        for old in (self.events_file, port):
            old.unlink(missing_ok=True)
        script = bench.folder / f"{name}.script"
        script.write_text('{"contains": "(odd)", "text": "no"}\n{"contains": "question", "text": "right"}\n')
        self.process = bench.start(name, [
            PROGRAMS / "provider-sim", "--log", self.events_file, "--port-file", port, "--latency-lognormal", latency,
            "--script", script, "--require-key", KEY, *flags])
        wait_for(port.exists, "provider-sim did not start")
        self.port = int(port.read_text())
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def answers(self):
        """By request: when each of its answers was sent, in seconds. Ends the simulator."""
        self.process.terminate()
        self.process.wait()
        answers = {}
        for line in self.events_file.read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "answer" and event.get("status") == 200:
                answers.setdefault(event["content"], []).append(event["t_us"] / 1e6)
        return answers


def write_suite(path, cases, name):
    tests = [
        f'  - {{id: case-{i:05}, input: {{prompt: "{name} question {i}{" (odd)" if i % 7 == 0 else ""}"}}, '
        f"expected: {{type: must_contain, text: right}}}}" for i in range(cases)
    ]
    path.write_text(f"suite: {name}\ntests:\n" + "\n".join(tests) + "\n")
    return path


def comparable(report):
    """The report's bytes without what may differ between equal runs (docs/delivery.md, "Byte identity")."""
    kept, in_run = [], False
    for line in Path(report).read_text().splitlines():
        in_run = in_run or line == '  "run": {'
        if not in_run and not line.startswith(VOLATILE):
            kept.append(line)
        if line == "  }":
            in_run = False
    return "\n".join(kept)


def report_of_one_worker(bench, suite, model=tuple(MODEL)):
    """What a single process says of the suite, with a simulator of its own."""
    simulator = Simulator(bench, name="undisturbed-provider", latency="5,0.1")
    report = bench.folder / "undisturbed.json"
    done = subprocess.run([PROGRAMS / "sluice", "run", suite, *model, "--base-url", simulator.url, "--home",
                           bench.folder / "undisturbed-home", "--quiet", "--format", "json", "--output", report],
                          env=bench.environment, cwd=bench.folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise AssertionError(f"the undisturbed run failed: {done.stderr}")
    simulator.answers()
    return comparable(report)
