"""Markdown tables, and how the verdicts in them are worded."""

import sys


def note(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def verdict(text, met):
    return f"{text}: {'met' if met else '**missed**'}"


def markdown(columns, rows):
    rows = [columns] + rows
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
