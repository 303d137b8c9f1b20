"""Perturbs real source files and compares what they mean, by their languages' own tools. Run by
scripts/check-perturbations; see docs/perturbations.md."""
import argparse
import collections
import hashlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
import zipfile

import readers

EXTENSIONS = {".py": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".ts": "typescript",
              ".jsx": "typescript", ".mts": "typescript", ".tsx": "typescript", ".rs": "rust", ".go": "go",
              ".java": "java", ".c": "c", ".h": "c", ".cpp": "cpp", ".cc": "cpp", ".cxx": "cpp", ".hpp": "cpp",
              ".hh": "cpp", ".toml": "toml",
              ".json": "json"}
MOST_BYTES = 256 * 1024


def language_of(path):
    return EXTENSIONS.get(os.path.splitext(path)[1])


def files_below(folder):
    if os.path.isfile(folder):
        yield folder
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            yield os.path.join(parent, name)


def java_sources(archives, limit, folder):
    """Java's sources come with a JDK as an archive; the files of the sample are laid out in a folder."""
    for archive in archives[:1]:
        with zipfile.ZipFile(archive) as sources:
            names = sorted(name for name in sources.namelist() if name.endswith(".java"))
            for name in sample(names, limit):
                yield sources.extract(name, folder)


def fixture_code(path, folder):
    """The code that a fixture gives to a model, as a file of its language; nothing if it is no fixture."""
    try:
        import tomllib
        with open(path, "rb") as file:
            fixture = tomllib.load(file)
        language, text = fixture["metadata"]["language"], fixture["input"]["content"]
    except (ImportError, OSError, ValueError, LookupError, TypeError):
        return None
    extension = next((extension for extension, name in EXTENSIONS.items() if name == language), None)
    if not extension:
        return None
    code = os.path.join(folder, hashlib.sha256(os.fsencode(path)).hexdigest()[:16] + extension)
    with open(code, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return code


def sample(paths, limit):
    """Evenly over the sorted list, so that the choice depends on nothing but the files that are there."""
    if not limit or len(paths) <= limit:
        return paths
    return [paths[i * len(paths) // limit] for i in range(limit)]


def find_sources(folders, languages, limit, scratch):
    """Paths by language; of equal files only the first."""
    candidates = collections.defaultdict(list)
    archives = {}
    for folder in folders:
        for path in files_below(folder):
            if os.path.basename(path) == "src.zip" and "java" in languages and os.path.isfile(path):
                archives[os.path.realpath(path)] = True
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            language = language_of(path)
            if language == "toml" and os.sep + "llm_fixtures" + os.sep in path:
                code = fixture_code(path, scratch)
                if code and language_of(code) in languages:
                    candidates[language_of(code)].append(code)
            if language in languages and 0 < os.path.getsize(path) <= MOST_BYTES:
                candidates[language].append(path)
    candidates["java"] += java_sources(list(archives), limit, scratch)
    chosen = {}
    for language, paths in candidates.items():
        seen = set()
        # More than are wanted, since some will be equal.
        distinct = []
        for path in sample(paths, limit and limit * 2):
            try:
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).digest()
            except OSError:
                continue
            if content not in seen:
                seen.add(content)
                distinct.append(path)
        chosen[language] = sample(distinct, limit)
    return chosen


class Perturber:
    """The program under test, fed one file after the other."""

    def __init__(self, program, names):
        self.names = names
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def perturb(self, language, path):
        """(name, outcome, text or reason) for each perturbation."""
        self.process.stdin.write(f"{language}\t{path}\n".encode("utf-8", "surrogateescape"))
        self.process.stdin.flush()
        for name in self.names:
            outcome, _, rest = self.process.stdout.readline().rstrip(b"\n").partition(b" ")
            if not outcome:
                raise RuntimeError(f"the program ended at {path}")
            yield name, outcome.decode(), self.process.stdout.read(int(rest)) if outcome == b"changed" else rest.decode()


STATE = {}


def start(program, names):
    STATE["perturber"] = Perturber(program, names)
    STATE["readers"] = {}


def dialect(language, text):
    """A header may be either's; what only C++ has decides."""
    cpp = language == "c" and any(word in text for word in (b"namespace ", b"template", b"class ", b"constexpr", b"R\"("))
    return "cpp" if cpp else language


def check(task):
    """[(language, name, verdict, note)] for one file."""
    language, path, preprocess = task
    with open(path, "rb") as file:
        original = file.read()
    language = dialect(language, original)
    reader = STATE["readers"].get(language)
    if reader is None:
        reader = STATE["readers"].setdefault(language, readers.READERS[language]())
    perturbed = list(STATE["perturber"].perturb(language, path))
    if isinstance(reader, readers.C):
        reader.preprocess = preprocess
    texts = [original] + [text for _, outcome, text in perturbed if outcome == "changed"]
    meanings = reader.meanings(language, path, texts)
    if meanings[0] is None:
        return [(language, None, "unreadable", path)]
    result = [(language, None, "preprocessed" if isinstance(meanings[0], tuple) else "read", path)]
    changed = iter(meanings[1:])
    for name, outcome, text in perturbed:
        if outcome != "changed":
            result.append((language, name, outcome, text))
        elif next(changed) == meanings[0]:
            result.append((language, name, "same", ""))
        else:
            result.append((language, name, "FAILED", path))
    return result


def run_checks(chosen, names, arguments):
    tasks = []
    for language, paths in sorted(chosen.items()):
        for i, path in enumerate(paths):
            tasks.append((language, path, i < arguments.preprocess))
    with multiprocessing.Pool(arguments.jobs, start, (arguments.program, names)) as pool:
        for rows in pool.imap_unordered(check, tasks, chunksize=4):
            yield from rows


def without_line(reason):
    return reason.partition(": ")[2] if reason.startswith("line ") and ": " in reason else reason


def print_report(rows, names, missing):
    files = collections.Counter()
    verdicts = collections.Counter()
    reasons = collections.Counter()
    failures = []
    for language, name, verdict, note in rows:
        if name is None:
            files[language, verdict] += 1
            continue
        verdicts[language, name, verdict] += 1
        if verdict == "skipped":
            reasons[language, name, without_line(note)] += 1
        if verdict == "FAILED":
            failures.append((language, name, note))
    languages = sorted({language for language, _ in files})
    print("| language | compared by | files | " + " | ".join(names) + " |")
    print("| --- | --- | ---: |" + " ---: |" * len(names))
    for language in languages:
        count = files[language, "read"] + files[language, "preprocessed"]
        cells = [str(verdicts[language, name, "same"]) for name in names]
        print(f"| {language} | {readers.READERS[language].tool} | {count} | " + " | ".join(cells) + " |")
    print("\nCounts are of changed texts that mean the same. Files that their own tool cannot read are left out:",
          ", ".join(f"{language} {files[language, 'unreadable']}" for language in languages) + ".")
    preprocessed = sum(files[language, "preprocessed"] for language in languages)
    if preprocessed:
        print(f"Of the C and C++ files {preprocessed} were also preprocessed by gcc.")
    for language, what in missing:
        print(f"Not compared: {language}, since {what} is not installed.")
    print("\nSkipped:")
    for (language, name, reason), count in sorted(reasons.items(), key=lambda item: (item[0][0], item[0][1], -item[1])):
        print(f"- {language}, {name}: {count} x {reason}")
    print(f"\n{len(failures)} of {sum(verdicts.values())} failed")
    for failure in sorted(failures):
        print("FAILED:", *failure)
    compared = sum(count for (_, _, verdict), count in verdicts.items() if verdict == "same")
    return 0 if not failures and compared > 0 else 1


def main():
    parser = argparse.ArgumentParser(prog="scripts/check-perturbations", description=__doc__)
    parser.add_argument("folders", nargs="*", metavar="DIR", default=["/usr"], help="where to look (default: /usr)")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--files", type=int, default=300, help="most files of a language; 0: all (default: 300)")
    parser.add_argument("--preprocess", type=int, default=100,
                        help="most files of C and of C++ that gcc preprocesses too (default: 100)")
    parser.add_argument("--languages", default=",".join(sorted(readers.READERS)), help="joined by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    asked = arguments.languages.split(",")
    for language in asked:
        if language not in readers.READERS:
            parser.error(f"\"{language}\" is none of {', '.join(sorted(readers.READERS))}")
    missing = [(language, readers.READERS[language].missing()) for language in asked]
    languages = {language for language, what in missing if not what}
    names = subprocess.run([arguments.program, "--names"], capture_output=True, text=True, check=True).stdout.split()
    with tempfile.TemporaryDirectory() as scratch:
        if "go" in languages:
            readers.Go.build(scratch)
        chosen = find_sources(arguments.folders, languages, arguments.files, scratch)
        return print_report(run_checks(chosen, names, arguments), names, [(a, b) for a, b in missing if b])


if __name__ == "__main__":
    sys.exit(main())
