#!/usr/bin/env python3
"""deploy/watching: a real Prometheus scrapes a run and its worker, the dashboard's panels have something to show, and
the alert rules hold."""

import json
import re
import subprocess
import unittest
import urllib.error
import urllib.parse
import urllib.request

from fleet import MODEL, PROGRAMS, ROOT, Bench, Simulator, need, wait_for, write_suite

WATCHING = ROOT / "deploy" / "watching"


def fetch(url):
    """Status and text; of what is not 200, too."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def promtool(*arguments, **options):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, **options)
    return done.returncode, done.stdout + done.stderr


class Rules(unittest.TestCase):
    def test_promtool_accepts_them(self):
        for arguments in (("check", "rules", "alerts.yml"), ("check", "config", "prometheus.yml"),
                          ("test", "rules", "alerts_test.yml")):
            code, said = promtool(*arguments, cwd=WATCHING)
            self.assertEqual(code, 0, said)

    def test_the_page_says_what_to_do_about_each(self):
        page = (ROOT / "docs" / "operations.md").read_text()
        alerts = re.findall(r"- alert: (\w+)", (WATCHING / "alerts.yml").read_text())
        self.assertGreater(len(alerts), 5)
        self.assertEqual([one for one in alerts if f"`{one}`" not in page], [])


class Watching(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = bench = Bench()
        simulator = Simulator(bench, "--rps", "20", "--burst", "5", latency="300,0.2")
        settings = bench.folder / "sluice.toml"
        settings.write_text("[providers.openai]\nrequests_per_minute = 1200\n")
        suite = write_suite(bench.folder / "suite.yaml", 900, "watched")
        bench.start("coordinator", [
            PROGRAMS / "sluice", "run", suite, *MODEL, "--base-url", simulator.url, "--home", bench.folder / "home",
            "--listen", "tcp://127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--output", bench.folder / "report"])
        cls.run_address = cls.address("coordinator", "sluice: metrics at ")
        endpoint = bench.log("coordinator").split("listening on ")[1].split()[0]
        # What the worker says of itself before there is work, and with it.
        bench.start("worker", [
            PROGRAMS / "sluice-worker", "--connect", endpoint, "--home", bench.folder / "worker", "--name", "w",
            "--metrics-listen", "127.0.0.1:0"])
        cls.worker_address = cls.address("worker", "sluice-worker: metrics at ")
        configuration = (WATCHING / "prometheus.yml").read_text()
        # The targets are here, and looked at more often; all else is the file's.
        configuration = configuration[:configuration.index("scrape_configs:")].replace("5s", "1s")
        configuration = configuration.replace("alerts.yml", str(WATCHING / "alerts.yml"))
        configuration += f"""scrape_configs:
  - job_name: sluice
    static_configs: [{{targets: ["{cls.run_address}"]}}]
  - job_name: sluice-worker
    static_configs: [{{targets: ["{cls.worker_address}"]}}]
"""
        (bench.folder / "prometheus.yml").write_text(configuration)
        bench.start("prometheus", [
            "prometheus", f"--config.file={bench.folder}/prometheus.yml", f"--storage.tsdb.path={bench.folder}/tsdb",
            "--web.listen-address=127.0.0.1:0"])
        listening = re.compile(r"Listening on\" address=(127\.0\.0\.1:\d+)")
        found = wait_for(lambda: listening.search(bench.log("prometheus")), "Prometheus did not start")
        cls.prometheus = found.group(1)

    @classmethod
    def address(cls, name, before):
        wait_for(lambda: before in cls.bench.log(name), f"{name} serves no metrics")
        return re.search(re.escape(before) + r"http://(127\.0\.0\.1:\d+)/metrics", cls.bench.log(name)).group(1)

    def query(self, expression):
        url = f"http://{self.prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        answer = json.loads(fetch(url)[1])
        self.assertEqual(answer["status"], "success", expression)
        return answer["data"]["result"]

    def test_metrics_keep_the_conventions(self):
        for address in (self.run_address, self.worker_address):
            text = fetch(f"http://{address}/metrics")[1]
            code, said = promtool("check", "metrics", input=text)
            self.assertEqual((code, said), (0, ""), address)

    def test_health_and_readiness(self):
        wait_for(lambda: fetch(f"http://{self.worker_address}/readyz") == (200, self.working()), "the worker is not ready")
        self.assertEqual(fetch(f"http://{self.worker_address}/healthz")[0], 200)
        wait_for(lambda: fetch(f"http://{self.run_address}/readyz") == (200, "a run with 1 worker\n"), "the run is not ready")
        self.assertEqual(fetch(f"http://{self.run_address}/healthz")[0], 200)

    def working(self):
        found = re.search(r"working on run (\S+)", self.bench.log("worker"))
        return f"working on run {found.group(1)}\n" if found else ""

    def test_a_worker_without_work_is_alive_and_not_ready(self):
        self.bench.start("idle", [PROGRAMS / "sluice-worker", "--connect", "tcp://127.0.0.1:9", "--home",
                                  self.bench.folder / "idle", "--metrics-listen", "127.0.0.1:0"])
        address = self.address("idle", "sluice-worker: metrics at ")
        wait_for(lambda: fetch(f"http://{address}/readyz") == (503, "waiting for a coordinator\n"), "it is ready")
        self.assertEqual(fetch(f"http://{address}/healthz")[0], 200)

    def test_prometheus_sees_run_and_worker(self):
        wait_for(lambda: len(self.query('up{job=~"sluice.*"} == 1')) == 2, "not both are scraped")
        wait_for(lambda: self.query("sluice_worker_calls_total > 5"), "no calls are counted")

    def test_each_panel_has_something_to_show(self):
        panels = json.loads((WATCHING / "dashboard.json").read_text())["panels"]
        self.assertGreater(len(panels), 5)
        for panel in panels:
            for target in panel["targets"]:
                expression = target["expr"].replace("$run", ".*")
                wait_for(lambda: self.query(expression), f"{panel['title']}: nothing for {expression}")

    def test_the_rules_are_loaded_and_calm(self):
        groups = json.loads(fetch(f"http://{self.prometheus}/api/v1/rules")[1])["data"]["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        self.assertEqual(len(rules), 7)
        for rule in rules:
            wait_for(lambda: self.query(rule["query"]) is not None, rule["name"])
            self.assertNotEqual(rule["state"], "firing", rule["name"])


if __name__ == "__main__":
    need(prometheus="prometheus", promtool="prometheus")
    unittest.main(verbosity=2)
