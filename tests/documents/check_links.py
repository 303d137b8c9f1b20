#!/usr/bin/env python3
"""Checks that every link of a page in this repository to a file or a heading of it leads somewhere."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")


def without_code(page):
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def headings(page):
    """The anchors that a page's headings have where it is shown."""
    found = set()
    for title in re.findall(r"^#+\s+(.*)$", without_code(page), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title.strip().lower())
        found.add(re.sub(r"[^\w\- ]", "", words.replace("`", "")).replace(" ", "-"))
    return found


def broken(page):
    for link in LINK.findall(without_code(page)):
        path, _, heading = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (heading and target.suffix == ".md" and heading not in headings(target)):
            yield link


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE, text=True).stdout.split()
    pages = [ROOT / name for name in listed if (ROOT / name).exists()]
    if len(pages) < 10:
        sys.exit("check_links: the pages were not found")
    wrong = [f"{page.relative_to(ROOT)}: {link} leads nowhere" for page in pages for link in broken(page)]
    print("\n".join(wrong) or f"{len(pages)} pages, every link leads somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
