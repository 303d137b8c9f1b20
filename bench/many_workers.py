"""Real worker processes in numbers around one coordinator, all on this machine."""

import os
import re
import time
from pathlib import Path

from fleet import Fleet, settings, stats, write_questions
from processes import Simulator
from table import markdown, note, verdict

TARGET_COORDINATOR_MIB = 200
CASES_EACH = 20
CALLS_EACH = 2      # In flight, at a worker.
LATENCY_MS = 1_000  # So that many workers need no more of the cores than there are.


def peak_mib(process):
    """VmHWM of a process that runs; nothing if it has ended."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
    except FileNotFoundError:
        return None
    return int(found.group(1)) / 1024 if found else None


def cpu_seconds(process):
    """User and system, of a process that runs; nothing if it has ended."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class ManyWorkers:
    """All workers start at once, with the coordinator, as the tasks of a job array do."""
    COLUMNS = ["workers", "cases", "start to end", "run", "coordinator's peak", "CPU", "workers lost",
               "leases lost", "calls made", "errors", "targets"]

    def __init__(self, numbers):
        self.numbers = numbers

    def measure(self, count):
        note(f"{count} worker processes")
        cases = CASES_EACH * count
        suite = write_questions(f"many-{count}", range(cases))
        with Simulator(LATENCY_MS) as url:
            fleet = Fleet(f"many-{count}", settings(url))
            began = time.monotonic()
            coordinator = fleet.start_run(suite, "--listen", fleet.endpoint)
            for _ in range(count):
                fleet.start_worker(CALLS_EACH)
            peak, cpu = 0.0, 0.0
            while coordinator.poll() is None:
                peak = max(peak, peak_mib(coordinator) or 0.0)
                cpu = cpu_seconds(coordinator) or cpu
                time.sleep(0.1)
            took = time.monotonic() - began
            for worker in fleet.workers:
                worker.terminate()
            for worker in fleet.workers:
                worker.wait()
            run = fleet.result(coordinator.returncode)
            calls = stats(url)["answers"].get("200", 0)
        return self.row(count, cases, took, peak, cpu, run, calls)

    def row(self, count, cases, took, peak, cpu, run, calls):
        took_part = run.report["run"]["workers"]
        lost = sum(worker["lost"] for worker in took_part)
        targets = [verdict(f"at most {TARGET_COORDINATOR_MIB} MiB", peak <= TARGET_COORDINATOR_MIB),
                   verdict("every call once", calls == cases), verdict("no worker lost", lost == 0)]
        return [f"{count}", f"{cases:,}", f"{took:.1f} s", f"{run.seconds:.1f} s", f"{peak:.0f} MiB", f"{cpu:.1f} s",
                f"{lost}", f"{run.report['run']['leases_lost']}", f"{calls:,}",
                f"{run.report['metrics']['errors']}", "; ".join(targets)]

    def all(self):
        return markdown(self.COLUMNS, [self.measure(count) for count in self.numbers])


def thread_seconds(process):
    """CPU of a coordinator's threads by what they do; nothing if it has ended."""
    by_name, own = {}, []
    try:
        for task in sorted(Path(f"/proc/{process.pid}/task").iterdir(), key=lambda one: int(one.name)):
            name = (task / "comm").read_text().strip()
            seconds = int((task / "schedstat").read_text().split()[0]) * 1e-9
            if name == "caf.actor":
                own.append(seconds)
            else:
                kind = {"caf.multiplexer": "decisions", "ZMQbg/IO/0": "sockets"}.get(name, "others")
                by_name[kind] = by_name.get(kind, 0.0) + seconds
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The router is started first, the recorder after it; before them is one of CAF's own.
    return {"router": own[-2], "recorder": own[-1], **by_name} if len(own) > 1 else None


class CoordinatorThreads:
    """What a result costs each of a coordinator's threads, and how many a second one core of it would carry: a mock
    run, whose workers take no time to answer."""
    COLUMNS = ["thread", "CPU a result", "results a second from one core"]
    WORKERS = 2

    def __init__(self, count):
        self.count = count

    def all(self):
        note(f"a coordinator's threads, {self.count:,} results")
        suite = write_questions(f"threads-{self.count}", range(self.count))
        fleet = Fleet("threads", settings("http://127.0.0.1:1"))
        coordinator = fleet.start_run(suite, "--mode", "mock", "--listen", fleet.endpoint)
        for _ in range(self.WORKERS):
            fleet.start_worker(50)
        threads = {}
        while coordinator.poll() is None:
            threads = thread_seconds(coordinator) or threads
            time.sleep(0.02)
        for worker in fleet.workers:
            worker.terminate()
            worker.wait()
        fleet.result(coordinator.returncode)
        names = ("router", "sockets", "decisions", "recorder")
        each = {name: threads.get(name, 0.0) / self.count * 1e6 for name in names}
        rows = [[name, f"{cost:.1f} us", f"{1e6 / cost:,.0f}" if cost else "-"] for name, cost in each.items()]
        whole = sum(each.values())
        return markdown(self.COLUMNS, rows + [["all of them", f"{whole:.1f} us", f"{1e6 / whole:,.0f}"]])
