"""Measures sluice beside its floor and prints one Markdown table (docs/benchmarks.md explains it)."""

import os
import re
import shutil
import statistics
import sys

from make_fixtures import write_suite
from make_large_suite import write_judged_suite, write_large_suite
from many_workers import CoordinatorThreads, ManyWorkers
from processes import PROGRAMS, ROOT, WORK, Simulator, Sluice, Worker, capture_request, free_port, machine, run, run_floor
from shared_budget import SharedBudget
from table import markdown, note, verdict

TARGET_RATE = 0.40          # Of the floor's, at 0 ms, start to end.
TARGET_WALL = 1.05          # Of the floor's, at 50 ms with 200 in flight.
TARGET_CPU_US = {0: 50, 50: 75}  # A live evaluation, by the latency in ms.
TARGET_CACHED = 60_000      # Evaluations a second, start to end.
TARGET_VERSION_MS = 5       # `sluice --version`.
TARGET_START_MS = 25        # 10 fixtures, start to finish.
TARGET_STATE_BYTES = 200    # A fixture, beside the fixture itself.
TARGET_SIMULATOR = 30_000   # Requests a second from one core.
TARGET_STATISTICS_S = 2     # Of 100,000 cases.
TARGET_LARGE_MIB = 250      # The coordinator's peak, with a million cases.
TARGET_LARGE_RATE = 60_000  # Of them a second, start to end.
TARGET_VOTE = 1.3           # Of the CPU of an answer.
ROUNDS_OF_SAVING = 9
TARGET_SAVING = 1.1         # Of the CPU of an evaluation that is not saved.
TARGET_KEYED = 1.1          # Of the CPU of an evaluation on an open connection.


class Table:
    COLUMNS = ["what", "run phase, /s", "start to end, /s", "start to end", "CPU each", "peak memory", "targets"]

    def __init__(self):
        self.rows = []

    def add(self, what, usage, count, phase_seconds, targets=()):
        self.rows.append([
            what, f"{count / phase_seconds:,.0f}" if phase_seconds else "-", f"{count / usage.seconds:,.0f}",
            f"{usage.seconds:.3f} s", f"{usage.cpu_seconds / count * 1e6:,.0f} us",
            f"{usage.peak_bytes / 2**20:.1f} MiB", "; ".join(targets)])

    def add_text(self, what, figure, targets):
        self.rows.append([what, figure, "", "", "", "", "; ".join(targets)])

    def text(self):
        return markdown(self.COLUMNS, self.rows)


def middle(runs):
    """The run of median wall time: all figures of a row are of one and the same run."""
    return sorted(runs, key=lambda measured: measured[0].seconds)[len(runs) // 2]


class Bench:
    def __init__(self, quick):
        self.count = 1_000 if quick else 5_000
        self.repeats = 1 if quick else 3
        self.start_repeats = 3 if quick else 10
        self.large_count = 100_000 if quick else 1_000_000
        self.memory_counts = [500, 1_000, 2_000] if quick else [1_000, 5_000, 20_000]
        self.table = Table()
        WORK.mkdir(parents=True, exist_ok=True)

    def suite(self, count):
        folder = WORK / f"fixtures-{count}"
        return folder, write_suite(folder, count)

    def prepare_floor(self, folder):
        body, headers = capture_request(folder)
        # Each request of the floor differs from the others, as sluice's do, by the batch number in the code.
        number = re.search(r"\b\d{6}\b", body.split('"user"', 1)[1]).group()
        self.body = WORK / "request.json"
        self.body.write_text(body.replace(number, "@N@"))
        self.headers = [f"{name}: {value}" for name, value in headers.items()
                        if name.lower() in ("authorization", "user-agent", "accept")]
        self.body_bytes = len(body)

    def live(self, latency_ms, in_flight):
        """A live run into an empty cache, and the floor with as many requests, by turns."""
        note(f"live, {latency_ms} ms, {in_flight} in flight")
        folder, _ = self.suite(self.count)
        # The floor keeps to its number; so does sluice, which would otherwise search for a better one.
        fixed = WORK / "fixed-concurrency.toml"
        fixed.write_text(f"[providers.openai]\nmax_in_flight = {in_flight}\n")
        with Simulator(latency_ms) as url:
            sluice = Sluice(folder, url)
            ours, floors = [], []
            for _ in range(self.repeats):
                floors.append(run_floor(url, self.body, self.headers, self.count, in_flight))
                sluice.forget()
                ours.append(sluice.run("live", "--max-concurrent", str(in_flight), "--config", fixed))
        usage, report = middle(ours)
        floor, said = middle(floors)
        seconds = report["run"]["duration_seconds"]
        label = f"{latency_ms} ms, {in_flight} in flight"
        cpu = usage.cpu_seconds / self.count * 1e6
        most = TARGET_CPU_US[latency_ms]
        targets = [verdict(f"CPU at most {most} us", cpu <= most)]
        rate, whole = said["seconds"] / seconds, floor.seconds / usage.seconds
        if latency_ms == 0:
            targets.append(verdict(f"at least {TARGET_RATE} of the floor's rate start to end, reached {whole:.2f} "
                                   f"(run phase {rate:.2f})", whole >= TARGET_RATE))
        elif in_flight == 200:
            wall = usage.seconds / floor.seconds
            targets.append(verdict(f"at most {TARGET_WALL} of the floor's time, reached {wall:.2f} start to end "
                                   f"(run phase {1 / rate:.2f})", wall <= TARGET_WALL))
        self.table.add(f"live, {label}", usage, self.count, seconds, targets)
        self.table.add(f"floor, {label}", floor, self.count, said["seconds"])

    def cached(self):
        note("cached")
        folder, _ = self.suite(self.count)
        with Simulator(0) as url:
            sluice = Sluice(folder, url)
            sluice.forget()
            sluice.run("live", "--max-concurrent", "50")
            usage, report = middle([sluice.run("cached") for _ in range(max(self.repeats, 2))])
        seconds = report["run"]["duration_seconds"]
        rate = self.count / usage.seconds
        self.table.add("cached, everything in the cache", usage, self.count, seconds,
                       [verdict(f"at least {TARGET_CACHED:,}/s start to end", rate >= TARGET_CACHED)])

    def cached_robust(self):
        """Every fixture as it is and under each perturbation that changes it, with all answers in the cache."""
        note("cached, perturbed")
        count = self.count // 5
        folder, _ = self.suite(count)
        with Simulator(0) as url:
            sluice = Sluice(folder, url)
            sluice.forget()
            sluice.run("live", "--max-concurrent", "50", "--perturb", "all")
            runs = [sluice.run("cached", "--perturb", "all") for _ in range(max(self.repeats, 2))]
        usage, report = middle(runs)
        trials = report["stability_details"]["trials"]
        self.table.add(f"cached and perturbed, {trials:,} trials of {count:,} fixtures", usage, trials,
                       report["run"]["duration_seconds"])

    def observations(self):
        """What saving observations costs: live runs with and without, by turns."""
        note("observations")
        folder, _ = self.suite(self.count)
        for latency_ms, in_flight in ((0, 50), (50, 200)):
            runs = {False: [], True: []}
            with Simulator(latency_ms) as url:
                sluice = Sluice(folder, url)
                # By turns of one run each: the machine's speed changes by more than what is measured.
                for _ in range(ROUNDS_OF_SAVING if self.repeats > 1 else 3):
                    for saves in runs:
                        sluice.forget()
                        flags = ["--save-observations"] if saves else []
                        runs[saves].append(sluice.run("live", "--max-concurrent", str(in_flight), *flags))
            label = f"{latency_ms} ms, {in_flight} in flight"
            self.add_pair(runs, (f"live without observations, {label}", f"the same, and observations saved, {label}"),
                          TARGET_SAVING)

    def durable(self):
        """What it costs to have all on the disk before anybody learns of it: live runs with and without, by turns."""
        note("durable runs")
        folder, _ = self.suite(self.count)
        for latency_ms, in_flight in ((0, 50), (50, 200)):
            fixed = WORK / "fixed-concurrency.toml"
            fixed.write_text(f"[providers.openai]\nmax_in_flight = {in_flight}\n")
            runs = {False: [], True: []}
            with Simulator(latency_ms) as url:
                sluice = Sluice(folder, url)
                for _ in range(self.repeats):
                    for is_durable, of_kind in runs.items():
                        sluice.forget()
                        of_kind.append(sluice.run("live", "--max-concurrent", str(in_flight), "--config", fixed,
                                                  *(["--durable"] if is_durable else [])))
            label = f"{latency_ms} ms, {in_flight} in flight"
            (without, of_without), (usage, report) = middle(runs[False]), middle(runs[True])
            self.table.add(f"live, not durable, {label}", without, self.count, of_without["run"]["duration_seconds"])
            self.table.add(f"live, durable, {label}", usage, self.count, report["run"]["duration_seconds"],
                           [f"{usage.seconds / without.seconds:.2f} of the time without"])

    def add_pair(self, runs, labels, most):
        """Rows of runs without and with something, of whose CPU the second may take `most` times the first."""
        cpu = {extra: [usage.cpu_seconds / self.count * 1e6 for usage, _ in measured] for extra, measured in runs.items()}
        # Of each turn: its two runs met the same machine.
        ratio = statistics.median(more / less for less, more in zip(cpu[False], cpu[True]))
        of = {extra: statistics.median(each) for extra, each in cpu.items()}
        for extra, label in zip((False, True), labels):
            usage, report = middle(runs[extra])
            targets = [verdict(f"at most {most} of the CPU without, {ratio:.2f} in the middle turn "
                               f"({of[True]:.0f} us beside {of[False]:.0f})", ratio <= most)] if extra else []
            self.table.add(label, usage, self.count, report["run"]["duration_seconds"], targets)

    def encryption(self):
        """What keys cost: a worker in a process of its own, on an open connection and on an encrypted one, by turns."""
        note("keys of a fleet")
        folder, _ = self.suite(self.count)
        runs = {False: [], True: []}
        with Simulator(0) as url:
            sluice = Sluice(folder, url)
            for _ in range(max(self.repeats, 3)):
                for keyed, of_kind in runs.items():
                    sluice.forget()
                    run([PROGRAMS / "sluice", "keys", "new", "worker", "--home", sluice.home])
                    endpoint = f"tcp://127.0.0.1:{free_port()}"
                    keys = {name: ["--fleet-key", sluice.home / "fleet" / f"{name}.key"] if keyed else []
                            for name in ("worker", "coordinator")}
                    with Worker(endpoint, sluice.home, *keys["worker"]) as worker:
                        usage, report = sluice.run("live", "--listen", endpoint, *keys["coordinator"])
                    usage.cpu_seconds += worker.cpu_seconds
                    of_kind.append((usage, report))
        self.add_pair(runs, ("a worker of its own, on an open connection, 0 ms", "the same, by keys, 0 ms"), TARGET_KEYED)

    def votes(self):
        """What a vote costs beside an answer: a suite with and without judge metrics, by turns, three votes each."""
        note("votes of a judge")
        samples = 3
        plain = write_judged_suite(WORK / f"plain-{self.count}", self.count, 0)
        judged = write_judged_suite(WORK / f"judged-{self.count}", self.count, samples)
        runs = {plain: [], judged: []}
        with Simulator(0) as url:
            for _ in range(self.repeats):
                for suite, of_suite in runs.items():
                    sluice = Sluice(suite, url)
                    sluice.forget()
                    of_suite.append(sluice.run("live", "--max-concurrent", "50", "--judge", "openai", "--judge-model",
                                               "gpt-4o-mini"))
        answers, answers_report = middle(runs[plain])
        both, both_report = middle(runs[judged])
        self.table.add("live, answers alone, 0 ms, 50 in flight", answers, self.count,
                       answers_report["run"]["duration_seconds"])
        vote = (both.cpu_seconds - answers.cpu_seconds) / (samples * self.count)
        answer = answers.cpu_seconds / self.count
        self.table.add(f"the same, and {samples} votes each", both, self.count, both_report["run"]["duration_seconds"],
                       [verdict(f"a vote at most {TARGET_VOTE} of an answer's CPU, reached {vote / answer:.2f} "
                                f"({vote * 1e6:.0f} us beside {answer * 1e6:.0f})", vote <= TARGET_VOTE * answer)])

    def statistics(self):
        """What the statistics of a large run cost, in every number of repeats that is measured."""
        note("the statistics of 100,000 cases")
        output = run([PROGRAMS / "statistics-bench"]).output
        rows = [line.strip("| ").split(" | ") for line in output.splitlines() if line.startswith("| 100000 |")]
        for row in rows:
            if len(row) != 8:  # The other tables take parts of it to their limits.
                continue
            repeats, seconds = int(row[1]), float(row[-1])
            self.table.add_text(f"statistics of 100,000 cases with {repeats} repeat{'s' if repeats > 1 else ''}",
                                f"{seconds:.2f} s",
                                [verdict(f"at most {TARGET_STATISTICS_S} s", seconds <= TARGET_STATISTICS_S)])

    def starts(self):
        runs = [run([PROGRAMS / "sluice", "--version"]) for _ in range(5 * self.start_repeats)]
        median = statistics.median(usage.seconds for usage in runs) * 1e3
        self.table.add_text("`sluice --version`", f"{median:.1f} ms",
                            [verdict(f"at most {TARGET_VERSION_MS} ms", median <= TARGET_VERSION_MS)])
        folder, _ = self.suite(10)
        with Simulator(0) as url:
            sluice = Sluice(folder, url)
            sluice.forget()
            sluice.run("live")
            for mode, more in (("live", ["--refresh"]), ("cached", [])):
                note(f"start to finish with 10 fixtures, {mode}")
                runs = [sluice.run(mode, *more) for _ in range(self.start_repeats)]
                usage, report = middle(runs)
                median = statistics.median(measured.seconds for measured, _ in runs)
                self.table.add(f"10 fixtures, {mode}, median of {self.start_repeats}", usage, 10,
                               report["run"]["duration_seconds"],
                               [verdict(f"at most {TARGET_START_MS} ms, reached {median * 1e3:.0f} ms",
                                        median * 1e3 <= TARGET_START_MS)])

    def memory(self):
        """How the peak grows with the suite, beside what loading the suite alone takes (validate-fixtures)."""
        note("memory by number of fixtures")
        peaks, loaded, texts = [], [], []
        with Simulator(0) as url:
            for count in self.memory_counts:
                folder, text_bytes = self.suite(count)
                sluice = Sluice(folder, url)
                sluice.forget()
                sluice.run("live", "--max-concurrent", "50")
                runs = [sluice.run("cached") for _ in range(self.repeats)]
                suites = [run([PROGRAMS / "sluice", "validate-fixtures", "--fixtures", folder])
                          for _ in range(self.repeats)]
                usage, report = middle(runs)
                self.table.add(f"cached, {count:,} fixtures", usage, count, report["run"]["duration_seconds"])
                # A peak differs from run to run by more than the bound, spread over the fixtures.
                peaks.append(statistics.median(usage.peak_bytes for usage, _ in runs))
                loaded.append(statistics.median(suite.peak_bytes for suite in suites))
                texts.append(text_bytes)
        more = self.memory_counts[-1] - self.memory_counts[0]
        growth, suite, text = ((sizes[-1] - sizes[0]) / more for sizes in (peaks, loaded, texts))
        self.table.add_text(
            f"memory a fixture, {self.memory_counts[0]:,} to {self.memory_counts[-1]:,}",
            f"{growth:,.0f} bytes",
            [verdict(f"at most {TARGET_STATE_BYTES} bytes beside the loaded fixture, reached {growth - suite:,.0f} "
                     f"(loaded {suite:,.0f}, of which {text:,.0f} are its text)",
                     growth - suite <= TARGET_STATE_BYTES)])

    def large(self):
        """A JSON Lines suite that no one holds in memory: planned, run, gated and reported."""
        note(f"{self.large_count:,} JSON Lines cases in mock mode")
        suite = write_large_suite(WORK / f"large-{self.large_count}", self.large_count)
        baseline = WORK / "large-baseline.json"
        home = WORK / "large-home"
        rows = (("pinned", ["--export-baseline", baseline]), ("gated", ["--baseline", baseline, "--strict"]))
        shutil.rmtree(home, ignore_errors=True)
        for what, more in rows:
            usage = run([PROGRAMS / "sluice", "run", suite, "--mode", "mock", "--home", home, "--format", "json",
                         "--output", WORK / "large-report.json", "--quiet", *more])
            peak = usage.peak_bytes / 2**20
            self.table.add(f"{self.large_count:,} JSON Lines cases, mock, {what}", usage, self.large_count, None,
                           [verdict(f"at most {TARGET_LARGE_MIB} MiB, reached {peak:.0f}", peak <= TARGET_LARGE_MIB),
                            verdict(f"at least {TARGET_LARGE_RATE:,}/s",
                                    self.large_count / usage.seconds >= TARGET_LARGE_RATE)])
        shutil.rmtree(home, ignore_errors=True)
        (WORK / "large-report.json").unlink()

    def simulator(self):
        if shutil.which("wrk") is None or shutil.which("taskset") is None:
            note("wrk or taskset is missing: the simulator is not measured alone")
            return
        note("the simulator alone")
        cores = sorted(os.sched_getaffinity(0))
        with Simulator(0, pinned_to=cores[0]) as url:
            usage = run([shutil.which("taskset"), "-c", str(cores[-1]), "wrk", "-c200", "-t1", "-d3s" if self.repeats == 1 else
                         "-d10s", "-s", ROOT / "bench" / "chat_completion.lua", url + "/v1/chat/completions"])
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", usage.output).group(1))
        if "Non-2xx" in usage.output:
            sys.exit("bench: the simulator did not answer every request of wrk")
        self.table.add_text("provider-sim on one core, wrk with 200 connections on another", f"{rate:,.0f}",
                            [verdict(f"at least {TARGET_SIMULATOR:,}/s", rate >= TARGET_SIMULATOR)])

    def all(self):
        head = machine()
        folder, text_bytes = self.suite(self.count)
        self.prepare_floor(folder)
        self.live(0, 50)
        self.live(50, 50)
        self.live(50, 200)
        self.cached()
        self.cached_robust()
        self.observations()
        self.encryption()
        self.votes()
        self.statistics()
        self.starts()
        self.memory()
        self.large()
        self.simulator()
        return (f"{head}. {self.count:,} fixtures of {text_bytes / self.count:,.0f} bytes, requests of "
                f"{self.body_bytes:,} bytes, medians of {self.repeats}.\n\n{self.table.text()}\n")


def write_into_document(page, section, text):
    """Puts a table where a page of docs/ holds the last one."""
    document = ROOT / "docs" / page
    begin, end = f"<!-- {section} -->\n", "<!-- end -->\n"
    before, found, rest = document.read_text().partition(begin)
    if not found:
        sys.exit(f"bench: {document} has no line \"{begin.strip()}\" to put the table behind")
    _, _, after = rest.partition(end)
    document.write_text(before + begin + text + end + after)


def durable_runs(quick):
    head, bench = machine(), Bench(quick)
    bench.durable()
    return f"{head}. {bench.count:,} fixtures, medians of {bench.repeats}.\n\n{bench.table.text()}\n"


def shared_budget(quick):
    head = machine()
    return f"{head}.\n\n{SharedBudget(quick).all()}"


def simulated_fleets(quick):
    """What the decisions cost, by the numbers of workers and units; a quick one leaves out the largest."""
    note("simulated fleets")
    rows = [(workers, units) for units in (100_000, 1_000_000, 10_000_000) for workers in (10, 100, 1_000)]
    lines = []
    for workers, units in rows[:6] if quick else rows:
        output = run([PROGRAMS / "scale-bench", workers, units]).output.splitlines()
        lines += output[-1:] if lines else output
    return f"{machine()}.\n\n" + "\n".join(lines) + "\n"


def many_workers(quick, most):
    numbers = sorted({min(most, number) for number in ((20, most) if quick else (20, 100, most))})
    return f"{machine()}.\n\n{ManyWorkers(numbers).all()}\n"


def coordinator_threads(quick):
    return f"{machine()}.\n\n{CoordinatorThreads(20_000 if quick else 200_000).all()}\n"


def parts(arguments):
    """What is to be measured: a page, the section of it, and what makes its text."""
    quick = "--quick" in arguments
    most = next((int(one.split("=")[1]) for one in reversed(arguments) if one.startswith("--workers=")), 500)
    budget = [("benchmarks.md", "scripts/bench: shared budget", lambda: shared_budget(quick))]
    durable = [("benchmarks.md", "scripts/bench: durable runs", lambda: durable_runs(quick))]
    scale = [("scale.md", "scripts/bench --scale: simulated", lambda: simulated_fleets(quick)),
             ("scale.md", "scripts/bench --scale: threads", lambda: coordinator_threads(quick)),
             ("scale.md", "scripts/bench --scale: processes", lambda: many_workers(quick, most))]
    alone = {"--durable": durable, "--budget": budget, "--scale": scale}
    if any(option in arguments for option in alone):
        return [part for option, its_parts in alone.items() if option in arguments for part in its_parts]
    return [("benchmarks.md", "scripts/bench", lambda: Bench(quick).all())] + durable + budget


if __name__ == "__main__":
    for page, section, measure in parts(sys.argv[1:]):
        text = measure()
        print(text)
        if "--write" in sys.argv[1:]:
            write_into_document(page, section, text)
