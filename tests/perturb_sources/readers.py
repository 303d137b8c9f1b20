"""What source texts mean by their languages' own tools: each reader turns a text into something that is equal for
two texts of the same meaning, or None if its tool cannot read the text."""
import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import warnings

# A line of clang -dump-raw-tokens up to the place: kind, spelling, flags.
TOKEN = re.compile(rb"(\w+) '(.*)'\t*(?: \[StartOfLine\]| \[LeadingSpace\]| \[UnClean='.*'\])*$", re.S)
SPLICE = re.compile(rb"\\[ \t]*\r?\n")
HERE = os.path.dirname(os.path.abspath(__file__))


def digest(value):
    return hashlib.sha256(value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")).hexdigest()


def run(arguments, text=None, environment=None):
    done = subprocess.run(arguments, input=text, capture_output=True, env=environment, timeout=120, check=False)
    return done.stdout if done.returncode == 0 else None


class Reader:
    """`tool`: named in the table. `meanings` gets the texts of one file, the original first."""
    tool = ""

    @classmethod
    def missing(cls):
        """What is not installed; "" if all is there."""
        return ""

    def meanings(self, language, path, texts):
        first = self.meaning(language, texts[0])
        if first is None:
            return [None] * len(texts)
        return [first] + [self.meaning(language, text) for text in texts[1:]]

    def meaning(self, language, text):
        raise NotImplementedError


class Python(Reader):
    tool = "ast.dump"

    def meaning(self, language, text):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return digest(ast.dump(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


class Json(Reader):
    tool = "json.loads"

    def meaning(self, language, text):
        try:
            return digest(json.loads(text, object_pairs_hook=list))
        except (ValueError, RecursionError):
            return None


class Toml(Reader):
    tool = "tomllib"

    @classmethod
    def missing(cls):
        try:
            import tomllib  # noqa: F401
        except ImportError:
            return "tomllib (Python 3.11)"
        return ""

    def meaning(self, language, text):
        import tomllib
        try:
            return digest(tomllib.loads(text.decode()))
        except (ValueError, RecursionError):
            return None


class Rust(Reader):
    tool = "rustc syntax tree"
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}

    @classmethod
    def missing(cls):
        return "" if shutil.which("rustc") else "rustc"

    def meaning(self, language, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "source.rs")
            with open(path, "wb") as file:
                file.write(text)
            tree = run(["rustc", "--edition", "2021", "-Zunpretty=ast-tree", path], environment=self.environment)
        if tree is None:
            return None
        # Places, and how the tokens of macros stood to each other.
        tree = re.sub(rb"(/?[^\s()]*source\.rs:\d+:\d+: \d+:\d+|no-location) \(#\d+\)", b"PLACE", tree)
        return digest(re.sub(rb"\b(Alone|JointHidden|Joint)\b", b"SPACING", tree))


class C(Reader):
    tool = "clang tokens; gcc -E -P"
    preprocess = False

    @classmethod
    def missing(cls):
        return "" if shutil.which("clang") else "clang"

    def meanings(self, language, path, texts):
        with tempfile.TemporaryDirectory() as folder:
            sources = [os.path.join(folder, f"{i}.c") for i in range(len(texts))]
            for source, text in zip(sources, texts):
                with open(source, "wb") as file:
                    file.write(text)
            tokens = self.tokens(language, sources)
        if not self.preprocess or tokens[0] is None:
            return tokens
        preprocessed = [self.preprocessed(language, path, texts[0])]
        if preprocessed[0] is None:
            return tokens
        preprocessed += [self.preprocessed(language, path, text) for text in texts[1:]]
        return [(a, b) for a, b in zip(tokens, preprocessed)]

    @staticmethod
    def preprocessed(language, path, text):
        compiler = "c++" if language == "cpp" else "c"
        folder = os.path.dirname(path)
        # Line numbers change, and are no part of the meaning.
        numbers = ["-w", "-U__LINE__", "-D__LINE__=0"]
        output = run(["gcc", "-E", "-P", "-x", compiler, *numbers, "-I", folder, "-iquote", folder, "-"], text)
        return None if output is None else digest(b" ".join(output.split()))

    @classmethod
    def tokens(cls, language, sources):
        dialect = ["-x", "c++", "-std=c++20"] if language == "cpp" else ["-x", "c", "-std=gnu17"]
        done = subprocess.run(["clang", "-cc1", "-dump-raw-tokens", *dialect, *sources], capture_output=True,
                              timeout=300, check=False)
        by_source = {source: [] for source in sources}
        for chunk, source in re.findall(rb"(.*?)\t+Loc=<([^:>\n]*):\d+:\d+[^>\n]*>\n", done.stderr, re.S):
            by_source[source.decode()].append(chunk)
        return [digest(list(cls.plain(by_source[source]))) for source in sources]

    @staticmethod
    def plain(chunks):
        """Tokens without layout; in a directive, where it ends and whether a blank stands before a token."""
        fresh_line, blank, in_directive = True, False, False
        for chunk in chunks:
            kind, spelling = TOKEN.match(chunk).group(1, 2)
            if kind == b"comment" or (kind == b"unknown" and not spelling.strip(b" \t\r\n\f\v\\")):
                blank = True
                if kind == b"unknown" and b"\n" in SPLICE.sub(b"", spelling):
                    fresh_line = True
                    if in_directive:
                        yield "end"
                    in_directive = False
                continue
            if kind == b"hash" and fresh_line:
                in_directive, blank = True, False
                yield "directive"
            spelling = SPLICE.sub(b"", spelling).replace(b"\r\n", b"\n")
            yield (kind, spelling, blank) if in_directive else (kind, spelling)
            fresh_line, blank = False, False
        if in_directive:
            yield "end"


class Server(Reader):
    """A program that reads "LANGUAGE SIZE" and a text, and answers with a line, again and again."""

    def __init__(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def meaning(self, language, text):
        self.process.stdin.write(f"{language} {len(text)}\n".encode() + text)
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode()
        if not answer:
            raise RuntimeError(f"{self.tool} ended")
        return answer if answer.startswith("ok ") else None


class JavaScript(Server):
    tool = "node's parser (acorn)"

    @classmethod
    def missing(cls):
        return "" if shutil.which("node") else "node"

    @staticmethod
    def command():
        return ["node", "--expose-internals", "--no-warnings", os.path.join(HERE, "meaning.js")]


class TypeScript(JavaScript):
    tool = "TypeScript's parser"

    def meanings(self, language, path, texts):
        kind = {".jsx": "jsx", ".tsx": "tsx"}.get(os.path.splitext(path)[1], "ts")
        return super().meanings(kind, path, texts)

    @classmethod
    def missing(cls):
        if not shutil.which("node"):
            return "node"
        reader = cls()
        found = reader.meaning("ts", b"let a: number = 1;\n")
        reader.process.kill()
        return "" if found else "the npm package typescript"


class Java(Server):
    tool = "javac syntax tree"

    @classmethod
    def missing(cls):
        return "" if shutil.which("javac") else "javac"

    @staticmethod
    def command():
        return ["java", os.path.join(HERE, "Meaning.java")]


class Go(Server):
    tool = "go/scanner tokens"
    binary = None

    @classmethod
    def missing(cls):
        return "" if shutil.which("go") else "go"

    @classmethod
    def build(cls, folder):
        environment = {**os.environ, "GO111MODULE": "off", "GOFLAGS": ""}
        if "HOME" not in environment:
            environment.setdefault("GOCACHE", os.path.join(folder, "go-cache"))
        cls.binary = os.path.join(folder, "meaning")
        subprocess.run(["go", "build", "-o", cls.binary, os.path.join(HERE, "meaning.go")], check=True, env=environment)

    @classmethod
    def command(cls):
        return [cls.binary]


READERS = {"python": Python, "json": Json, "toml": Toml, "rust": Rust, "c": C, "cpp": C,
           "javascript": JavaScript, "typescript": TypeScript, "java": Java, "go": Go}
