"""The section "shared budget" of scripts/bench: fleets that share one limit, beside the ideal and beside limiters of
their own. docs/benchmarks.md explains the figures."""

import sys

from fleet import (Fleet, Trouble, provider_table, read_starts, refusals, run_at_once, settings, stats, worst_excess,
                   write_questions)
from processes import PROGRAMS, WORK, Simulator, run as run_program
from table import markdown, note, verdict

RATE = 100                  # Calls a second that the simulated key allows,
BURST = 10                  # and its strict bucket.
LATENCY_MS = 50
TARGET_RATIO = 1.03         # Of the ideal time, with the limit known,
TARGET_RATIO_UNKNOWN = 1.25  # and unknown.
TARGET_REFUSED = 0.05       # Share of calls answered 429, with the limit unknown.
PLACES = {1: 16, 4: 5, 16: 2}  # max_concurrent by number of workers: at least 1.3 x rate x latency in all.
KNOWN = f"requests_per_minute = {RATE * 60}\nburst_seconds = {BURST / RATE}\n"


class SharedBudget:
    COLUMNS = ["what", "workers", "time", "of the ideal", "calls", "answered 429", "worst window", "targets"]

    def __init__(self, quick):
        self.quick = quick
        self.count = 300 if quick else 1_000
        self.storm_count = 1_000 if quick else 10_000
        self.outage_seconds = 10 if quick else 120
        self.fleet_sizes = [1, 4, 16]
        self.rows = []

    # --- rows ---

    def add(self, what, workers, seconds, ideal, calls, refused, excess, targets):
        window = "-" if excess is None else f"{excess:+.2f}"
        share = f"{refused} ({refused / calls:.1%})" if refused else "0"
        self.rows.append([what, str(workers), f"{seconds:.2f} s", f"{seconds / ideal:.3f}" if ideal else "-",
                          f"{calls:,}", share, window, "; ".join(targets)])

    def all_passed(self, report, count):
        metrics = report["metrics"]
        return verdict(f"{metrics['errors']} case errors", metrics["errors"] == 0 and metrics["total_fixtures"] == count)

    def ideal(self, count):
        return (count - BURST) / RATE + LATENCY_MS / 1000

    def simulator(self, *flags):
        return Simulator(LATENCY_MS, flags=flags)

    def limited(self, *flags):
        return self.simulator("--rps", RATE, "--burst", BURST, *flags)

    def questions(self, count, expected=()):
        return write_questions(f"{count}-{len(expected)}", range(count), expected)

    # --- measurements ---

    def known_limit(self):
        for workers in self.fleet_sizes:
            note(f"{RATE} calls a second, burst {BURST}, {workers} workers")
            with self.limited() as url:
                run = Fleet("known", settings(url, KNOWN)).run(self.questions(self.count), workers, PLACES[workers])
                refused = refusals(url)
            starts, ideal = run.starts["limited"], self.ideal(self.count)
            excess = worst_excess(starts, RATE, BURST)
            self.add(f"{self.count:,} cases at {RATE}/s, burst {BURST}", workers, run.seconds, ideal, len(starts), refused,
                     excess, [verdict(f"at most {TARGET_RATIO}", run.seconds / ideal <= TARGET_RATIO),
                              verdict("no 429", refused == 0), verdict("no window over the limit", excess <= 0),
                              self.all_passed(run.report, self.count)])

    def token_limit(self):
        """Charged on arrival with the real tokens; sluice knows a bound of them beforehand."""
        suite = write_questions(f"{self.count}-long", range(self.count), more_words=80)
        per_second = 10_000
        flags = ["--tpm", per_second * 60, "--token-burst", per_second]
        for workers in self.fleet_sizes:
            note(f"{per_second * 60:,} tokens a minute, {workers} workers")
            with self.simulator(*flags) as url:
                keys = f"tokens_per_minute = {per_second * 60}\nburst_seconds = 1\n"
                fleet = Fleet("tokens", settings(url, keys, max_output_tokens=8))  # Answers have 4.
                run = fleet.run(suite, workers, PLACES[workers])
                answers = stats(url)
            refused = answers["answers"].get("429", 0)
            ideal = (answers["tokens"] - per_second) / per_second + LATENCY_MS / 1000
            self.add(f"{self.count:,} cases, {answers['tokens']:,} tokens at {per_second * 60:,} a minute", workers,
                     run.seconds, ideal, len(run.starts["limited"]), refused, None,
                     [verdict(f"at most {TARGET_RATIO}", run.seconds / ideal <= TARGET_RATIO),
                      verdict("no 429", refused == 0), self.all_passed(run.report, self.count)])

    def two_providers(self):
        note("two providers, one of which is paused")
        count, pause = self.count, 2
        expected = ({"type": "semantic_similarity_to", "text": "It may be cancelled."},)
        with self.limited() as url, Simulator(LATENCY_MS, flags=["--fail-first", f"1,429,{pause}"]) as embedder:
            keys = 'embedding_provider = "embedder"\nembedding_model = "e"\n'
            fleet = Fleet("two", settings(url, KNOWN, keys, provider_table("embedder", embedder)))
            run = fleet.run(self.questions(count, expected), 4, count)
            refused = refusals(url)
        starts, ideal = run.starts["limited"], self.ideal(count)
        embeddings = read_starts(fleet.logs, "embedder")
        gap = max((later - earlier for earlier, later in zip(embeddings, embeddings[1:])), default=0)
        excess = worst_excess(starts, RATE, BURST)
        span = starts[-1] - starts[0] + LATENCY_MS / 1000
        self.add(f"{count:,} cases at {RATE}/s, the embeddings' provider pauses for {pause} s", 4, span, ideal, len(starts),
                 refused, excess,
                 [verdict(f"at most {TARGET_RATIO}", span / ideal <= TARGET_RATIO), verdict("no 429", refused == 0),
                  verdict(f"embeddings held for {gap:.2f} s", gap >= pause), self.all_passed(run.report, count)])

    def unknown_limit(self):
        for workers in self.fleet_sizes:
            note(f"limit unknown, {workers} workers")
            with self.limited("--no-retry-after") as url:
                run = Fleet("unknown", settings(url)).run(self.questions(self.count), workers, PLACES[workers])
                refused = refusals(url)
            calls, ideal = len(run.starts["limited"]), self.ideal(self.count)
            self.add(f"{self.count:,} cases at {RATE}/s, limit unknown, no Retry-After", workers, run.seconds, ideal, calls,
                     refused, None,
                     [verdict(f"at most {TARGET_RATIO_UNKNOWN}", run.seconds / ideal <= TARGET_RATIO_UNKNOWN),
                      verdict(f"at most {TARGET_REFUSED:.0%} answered 429", refused / calls <= TARGET_REFUSED),
                      self.all_passed(run.report, self.count)])

    def what_is_said(self):
        """What the user says of a limit, from all of it to nothing, with 50 calls in flight."""
        seconds, exact = ["--retry-after", 1], []  # How refusals name a delay: a whole second, or as OpenAI does.
        rows = [  # What, flags, keys, rate, bucket, cases, of the ideal time at most, share of 429s at most.
            ("nothing said, a second named", seconds, "", 100, 10, 1_000, 1.25, 0.03),
            ("nothing said, a second named", seconds, "", 20, 2, 1_000, 1.10, 0.03),
            ("nothing said, a second named", seconds, "", 100, 30, 1_000, 1.25, 0.03),
            ("nothing said, a second named", seconds, "", 100, 100, 1_000, 1.25, 0.03),
            ("nothing said", exact, "", 100, 10, 1_000, 1.25, 0.03),
            ("nothing said", exact, "", 20, 2, 1_000, 1.10, 0.03),
            ("nothing said", exact, "", 100, 100, 1_000, 1.25, 0.03),
            ("6,000 a minute", exact, "requests_per_minute = 6000\n", 100, 10, 1_000, 1.05, 0.01),
            ("6,000 a minute", exact, "requests_per_minute = 6000\n", 100, 5, 1_000, 1.05, 0.01),
            ("1,200 a minute", exact, "requests_per_minute = 1200\n", 20, 2, 200, 1.05, 0.01),
            ("6,000 a minute, burst 0.05 s", exact, "requests_per_minute = 6000\nburst_seconds = 0.05\n", 100, 5, 1_000, 1.03, 0),
            ("6,000 a minute, burst 0.02 s", exact, "requests_per_minute = 6000\nburst_seconds = 0.02\n", 100, 2, 1_000, 1.05, 0),
            ("1,200 a minute, burst 0.1 s", exact, "requests_per_minute = 1200\nburst_seconds = 0.1\n", 20, 2, 200, 1.03, 0),
            ("500 a minute, burst 0.12 s", exact, "requests_per_minute = 500\nburst_seconds = 0.12\n", 500 / 60, 1, 100, 1.11, 0),
            ("500 a minute, burst 0.24 s", exact, "requests_per_minute = 500\nburst_seconds = 0.24\n", 500 / 60, 2, 100, 1.03, 0),
            ("6,000 a minute, burst 0.1 s", exact, KNOWN, 100, 10, 1_000, 1.03, 0),
        ]
        for what, delays, keys, rate, bucket, count, most, most_refused in rows:
            note(f"{what}: {rate:.3g} a second, bucket {bucket}")
            with self.simulator("--rps", rate, "--burst", bucket, *delays) as url:
                run = Fleet("said", settings(url, keys)).run(self.questions(count), 1, 50)
                refused = refusals(url)
            calls, ideal = len(run.starts["limited"]), (count - bucket) / rate + LATENCY_MS / 1000
            self.add(f"{what}: {count:,} cases at {rate:.3g}/s, bucket {bucket}", 1, run.seconds, ideal, calls, refused, None,
                     [verdict(f"at most {most}", run.seconds / ideal <= most),
                      verdict(f"at most {most_refused:.0%} answered 429", refused / calls <= most_refused),
                      self.all_passed(run.report, count)])

    def one_key(self):
        """Runs of one home, of which nobody said anything of the limit: they search for it together."""
        for runs in (2, 4):
            note(f"{runs} runs on one key, nothing said")
            suites = [write_questions(f"one-key-{number}", range(number, self.count, runs)) for number in range(runs)]
            with self.limited("--retry-after", 1) as url:
                reports, seconds, starts = run_at_once("one-key", suites, settings(url, ""), 50, True)
                refused = refusals(url)
            errors = sum(report["metrics"]["errors"] for report in reports)
            ideal = self.ideal(self.count)
            self.add(f"{runs} runs on one key, nothing said, a second named: {self.count:,} cases at {RATE}/s, bucket {BURST}",
                     f"{runs} runs", seconds, ideal, len(starts), refused, None,
                     [verdict(f"at most {TARGET_RATIO_UNKNOWN}", seconds / ideal <= TARGET_RATIO_UNKNOWN),
                      verdict("at most 3% answered 429", refused / len(starts) <= 0.03), f"{errors} case errors"])

    def limited_call(self):
        """What a call costs that waits for a limit, beside one of a run that is as fast without one."""
        for rate, in_flight, count in ((20, 1, 200), (100, 5, 1_000)):
            note(f"CPU of a call at {rate} a second")
            limited, flags = f"requests_per_minute = {rate * 60}\nburst_seconds = 0.1\n", ["--rps", rate, "--burst", rate // 10]
            took, cpu, refused = self.cpu_of_calls(count, 50, limited, flags)
            _, of_others, _ = self.cpu_of_calls(count, in_flight, "", [])
            self.add(f"CPU of a call at {rate}/s: {cpu:.2f} ms, {of_others:.2f} ms without a limit", 1, took,
                     (count - rate // 10) / rate + LATENCY_MS / 1000, count, refused, None,
                     [verdict("at most 3 times", cpu <= 3 * of_others)])

    def cpu_of_calls(self, count, in_flight, keys, flags):
        """Seconds, milliseconds of CPU for each call of a single process, and calls that were refused."""
        config = WORK / "limited-call.toml"
        with self.simulator(*flags) as url:
            config.write_text(settings(url, keys))
            usage = run_program([PROGRAMS / "sluice", "run", self.questions(count), "--config", config, "--no-cache",
                                 "--home", WORK / "limited-call", "--max-concurrent", in_flight, "--quiet"])
            return usage.seconds, usage.cpu_seconds / count * 1e3, refusals(url)

    def apart(self):
        """The same cases and the same key, with a limiter in each process."""
        workers, expected = 4, self.ideal(self.count)
        even = [range(i, self.count, workers) for i in range(workers)]
        half = self.count // 2
        uneven = [range(half)] + [range(half + i, self.count, workers - 1) for i in range(workers - 1)]
        share = f"requests_per_minute = {RATE * 60 // workers}\nburst_seconds = {BURST * workers / RATE}\n"
        for what, keys, shards in (("each process has the whole limit", KNOWN, even),
                                   ("each process has 1/4 of the limit, even shards", share, even),
                                   ("each process has 1/4 of the limit, one shard has half of the cases", share, uneven)):
            note(f"apart: {what}")
            suites = [write_questions(f"shard-{number}", shard) for number, shard in enumerate(shards)]
            with self.limited() as url:
                reports, seconds, starts = run_at_once("apart", suites, settings(url, keys), PLACES[workers], False)
                refused = refusals(url)
            errors = sum(report["metrics"]["errors"] for report in reports)
            self.add(f"not shared: {what}", f"{workers} runs", seconds, expected, len(starts), refused,
                     worst_excess(starts, RATE, BURST), [f"{errors} case errors"])

    def trouble(self):
        seed = 1
        note(f"kills and stops, seed {seed}")
        count = 2 * self.count
        trouble = Trouble(seed, count / RATE)
        with self.simulator() as url:
            run = Fleet("trouble", settings(url, KNOWN)).run(self.questions(count), 8, 4, disturb=trouble)
        starts = run.starts["limited"]
        excess = worst_excess(starts, RATE, BURST)
        self.add(f"{count:,} cases, {trouble.kills} kills, {trouble.stops} stops (seed {seed})", 8, run.seconds,
                 self.ideal(count), len(starts), 0, excess,
                 [verdict("no window over the limit", excess <= 0), self.all_passed(run.report, count)])

    def outage(self):
        seconds = self.outage_seconds
        note(f"an outage of {seconds} s")
        with self.limited("--outage", f"2,{2 + seconds},503") as url:
            run = Fleet("outage", settings(url, KNOWN)).run(self.questions(self.count), 4, PLACES[4])
            answers = stats(url)["answers"]
        starts = run.starts["limited"]
        ideal = self.ideal(self.count) + seconds
        self.add(f"{self.count:,} cases, 503 for {seconds} s", 4, run.seconds, ideal, len(starts), answers.get("429", 0),
                 worst_excess(starts, RATE, BURST),
                 [f"{answers.get('503', 0)} calls answered 503", self.all_passed(run.report, self.count)])

    def search(self):
        """A server without a stated limit that works on 32 requests at a time."""
        places, takes_ms = 32, 100
        count = 3 * self.count
        note(f"a server with {places} places")
        with Simulator(takes_ms, flags=["--places", places]) as url:
            run = Fleet("search", settings(url)).run(self.questions(count), 4, 2)
            most = stats(url)["max_in_flight"]
        ideal = count * takes_ms / 1000 / places
        self.add(f"{count:,} cases, no limit stated, server with {places} places, from 8 in flight", 4, run.seconds, ideal,
                 len(run.starts["limited"]), 0, None,
                 [f"at most {most} in flight", self.all_passed(run.report, count)])

    def storm(self):
        note(f"all faults at random, {self.storm_count:,} cases")
        suite = self.questions(self.storm_count)
        patient = "rate_limit_initial_delay_ms = 50\nrate_limit_max_retries = 8\nrequest_timeout_seconds = 1\n"
        with Simulator(0) as url:
            calm = Fleet("calm", settings(url, "", patient)).run(suite, 4, 50)
        flags = ["--storm", 0.1, "--max-faults", 4, "--seed", 1]
        with Simulator(20, flags=flags) as url:
            run = Fleet("storm", settings(url, "", patient)).run(suite, 4, 50)
            answers = stats(url)
        self.add(f"{self.storm_count:,} cases, 10 % of the calls fail in one of 8 ways", 4, run.seconds, None,
                 len(run.starts["limited"]), answers["answers"].get("429", 0), None,
                 [verdict("the same report as without faults", run.comparable() == calm.comparable()),
                  self.all_passed(run.report, self.storm_count)])

    def all(self, only=None):
        parts = [self.known_limit, self.token_limit, self.two_providers, self.unknown_limit, self.what_is_said,
                 self.one_key, self.limited_call, self.apart, self.trouble, self.outage, self.search, self.storm]
        for part in parts:
            if only is None or part.__name__ in only:
                part()
        return markdown(self.COLUMNS, self.rows) + "\n"


if __name__ == "__main__":
    names = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    print(SharedBudget(quick="--quick" in sys.argv[1:]).all(names or None), end="")
