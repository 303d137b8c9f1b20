"""Writes a YAML suite whose cases stand in a JSON Lines file."""

import json

SUITE = """suite: large
settings:
  embedding_model: lexical-ngrams-v1
  thresholding:
    mode: relative
    max_drop: 0.05
tests_file: cases.jsonl
"""


def case(number):
    """A question about an order; distinct in its text, and passed by an empty answer."""
    prompt = (f"Order {number:07d} was placed by customer {number * 7919 % 100_003} for {number % 97 + 1} items and is "
              f"to be delivered to depot {number % 411}. Say in one sentence whether the order can still be cancelled.")
    expected = [{"type": "must_not_contain", "text": ["guarantee", "as an AI"]}]
    if number % 4 == 0:
        expected.append({"type": "semantic_similarity_to", "text": "The order can be cancelled until it is packed."})
    return {"id": f"order-{number:07d}", "category": f"depot-{number % 20}", "input": {"prompt": prompt},
            "expected": expected}


def write_judged_suite(folder, count, samples):
    """The same questions, each answer judged by so many votes (0: none); the suite's path."""
    folder.mkdir(parents=True, exist_ok=True)
    metric = {"type": "relevancy", "samples": samples} if samples else {"type": "must_not_contain", "text": "as an AI"}
    with open(folder / "cases.jsonl", "w") as out:
        for number in range(count):
            out.write(json.dumps({"id": f"order-{number:07d}", "input": case(number)["input"], "expected": metric}) + "\n")
    suite = folder / "suite.yaml"
    suite.write_text("suite: judged\ntests_file: cases.jsonl\n")
    return suite


def write_large_suite(folder, count):
    """The suite's path; the files are written once."""
    suite, cases = folder / "suite.yaml", folder / "cases.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    suite.write_text(SUITE)
    if not cases.exists():
        unfinished = cases.with_suffix(".part")
        with open(unfinished, "w") as out:
            for number in range(count):
                out.write(json.dumps(case(number)) + "\n")
        unfinished.rename(cases)
    return suite
