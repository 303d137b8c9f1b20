#!/usr/bin/env python3
"""Finds types that two files define in one namespace: linked into one program, one takes the other's functions.

No compiler sees both, and the linker takes the first of two destructors. Types of anonymous namespaces are their
file's own.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("bench", "common", "config", "coordinator", "tests", "worker")
FOREIGN = ("CLI", "re2")  # Namespaces of which a type is declared, and whose end has no comment.
OPENS = re.compile(r"(?:inline )?namespace(?: ([\w:]+))? \{$")
TYPE = re.compile(r"(?:template <.*> )?(?:class|struct|union|enum class|enum) (?:\[\[\w+\]\] )?(\w+)(?: final)?"
                  r"(?: : .*| :)?(?: \{.*)?$")
ONE_LINE = re.compile(r"(?:class|struct|enum class|enum) (\w+)(?: final)?(?: : .*)? \{.*\};$")


def types_in(lines):
    """Each with its namespaces, and its line. The formatter indents what stands within a type."""
    spaces = []
    for number, line in enumerate(lines, 1):
        line = line.rstrip()
        if opened := OPENS.match(line):
            spaces.append(opened[1] or "")
        elif line.startswith("}  // namespace") or (line == "}" and spaces and spaces[-1] in FOREIGN):
            spaces.pop()
        elif "" not in spaces and (found := ONE_LINE.match(line) or not line.endswith(";") and TYPE.match(line)):
            yield "::".join([*spaces, found[1]]), number
    if spaces:
        raise ValueError(f"the end of namespace {spaces[-1] or '(without a name)'} was not found: "
                         "end it with a comment that names it")


def main():
    places = collections.defaultdict(list)
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.[ch]pp")):
            try:
                for name, line in types_in(file.read_text(encoding="utf-8").splitlines()):
                    places[name].append(f"{file.relative_to(ROOT)}:{line}")
            except ValueError as error:
                sys.exit(f"{file.relative_to(ROOT)}: {error}")
    if len(places) < 500:
        sys.exit(f"only {len(places)} types were found: has the form of the sources changed?")
    twice = {name: where for name, where in places.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{name} is defined in {' and '.join(where)}: give one of them another name, or a namespace of its own")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
