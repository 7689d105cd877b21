#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""language_check.py [--dictionary FILE] [--count] [FILE...] - searches texts for the phrases in tests/project/dialect.yml.

Prints "FILE:LINE: MATCH -> SUGGESTION" for each hit and exits with 1 if there are any. Without FILEs it checks the tracked files:

  prose     *.md outside tests/; code blocks, code spans and link targets are skipped
  literals  string literals of at least four words in C++ sources and headers outside tests/; comments are skipped
  schemas   the titles and descriptions in docs/schema/*.json
  text      packaging/, scripts/, cmake/, .github/ and the unit files, as a whole; of Python scripts the strings and comments

--count prints the number of hits by file instead of the hits."""
import argparse, bisect, fnmatch, io, json, os, re, subprocess, sys, tokenize
import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TEXT = ("packaging/*", "scripts/*", "cmake/*", ".github/*", ".ci/*", "CMakeLists.txt", "CMakePresets.json",
        "tools/exporter/*.service.in", "tools/exporter/*.socket", "tools/page/template.html")


def blank(text):
    """Returns a text with the same length and lines that no pattern matches."""
    return re.sub(r"[^\n]", " ", text)


def join_lines(text):
    """Turns line breaks inside a paragraph into spaces, so that a phrase may span two lines. Offsets stay."""
    return re.sub(r"\n(?![\n|#>*-]|\s*(?:[-*#]|[0-9]+\.) )", " ", text)


def prose_of(text):
    text = re.sub(r"^([ \t]*)(```+|~~~+).*?^\1\2[ \t]*$", lambda m: blank(m[0]), text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", lambda m: blank(m[0]), text, flags=re.S)
    text = re.sub(r"(?<=\n\n)(?:(?: {4}|\t)(?! *[-*] ).*\n?)+", lambda m: blank(m[0]), text)
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", lambda m: re.sub(r"[^\n]", "x", m[0]), text, flags=re.S)
    text = re.sub(r"(?<=\])\([^)\s]*\)|<https?:[^>]*>|https?://\S+", lambda m: blank(m[0]), text)
    return join_lines(text)


def columns_of(text):
    """Returns the heading and the extent of each cell for each line of a table: {line: [(start, end, heading)]}, lines from 1."""
    cells, headings = {}, None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("|"):
            headings = None
            continue
        edges = [m.start() for m in re.finditer(r"(?<!\\)\|", line)]
        row = [(start + 1, end) for start, end in zip(edges, edges[1:])]
        if headings is None:
            headings = [line[start:end].strip() for start, end in row]
        cells[number] = [(*extent, heading) for extent, heading in zip(row, headings)]
    return cells


TOKEN = re.compile(r"""//(?:\\\n|[^\n])*|/\*.*?\*/|(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?P<rawtext>.*?)\)(?P=mark)")
                     |(?P<string>(?:u8|[uUL])?"(?P<text>(?:\\.|[^"\\\n])*)")|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
                     |^[ \t]*\#[ \t]*include[^\n]*|(?P<space>\s+)|(?P<other>[A-Za-z_0-9']+|.)""", re.S | re.M | re.X)
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "'": "'", "\\": "\\"}


def literals_of(source):
    """Yields (offset, text) for each string literal; adjacent literals are one. Comments and #include lines are skipped."""
    text, offset = "", None
    for token in TOKEN.finditer(source):
        if token["raw"] is not None:
            piece = token["rawtext"]
        elif token["string"] is not None:
            piece = re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], " "), token["text"], flags=re.S)
        elif token["other"] is not None or token[0].lstrip().startswith("#"):
            if offset is not None:
                yield offset, text
            text, offset = "", None
            continue
        else:
            continue  # space and comments
        offset = token.start() if offset is None else offset
        text += piece
    if offset is not None:
        yield offset, text


CODE_IN_COMMENT = re.compile(r"(?<=///\n)(?:[ \t]*/// {4,}\S.*\n)+")


def comments_of(source):
    """Yields (offset, text) for each comment block: line comments on consecutive lines are one. Example code is masked: lines that are
    indented by four or more spaces, after an empty comment line."""
    source = CODE_IN_COMMENT.sub(lambda m: re.sub(r"///.*", lambda line: "///".ljust(len(line[0])), m[0]), source)
    block, begin, end = "", 0, None
    for token in TOKEN.finditer(source):
        if not token[0].startswith("//"):
            continue
        if end is not None and source[end:token.start()].strip(" \t") == "\n":
            block += source[end:token.start()].replace("\n", " ") + re.sub(r"^//+<?", lambda m: " " * len(m[0]), token[0])
        else:
            if block:
                yield begin, block
            begin, block = token.start(), re.sub(r"^//+<?", lambda m: " " * len(m[0]), token[0])
        end = token.end()
    if block:
        yield begin, block


def titles_of(source):
    """Yields (offset, title) for each test case."""
    for found in re.finditer(r'\b(?:TEST_CASE|SECTION)\(((?:\s*"(?:\\.|[^"\\])*")+)', source):
        yield found.start(), "".join(re.findall(r'"((?:\\.|[^"\\])*)"', found[1]))


def python_text(source):
    """Returns the comments and strings of a Python source at their offsets; everything else is blank."""
    starts = [0, *(m.end() for m in re.finditer("\n", source))]
    kept = list(blank(source))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)):
            start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
            kept[start:end] = source[start:end]
    return "".join(kept)


def passages(file, text):
    """Yields (line of the passage, passage). A passage of a whole file has its line breaks or spaces at the same offsets."""
    if file.endswith(".md"):
        yield 1, prose_of(text)
    elif file.startswith("tests/"):
        for offset, title in titles_of(text):
            yield text.count("\n", 0, offset) + 1, title
    elif file.endswith((".cpp", ".hpp", ".h", ".c")):
        if file.startswith("include/"):
            for offset, comment in comments_of(text):
                masked = re.sub(r"`[^`]*`", lambda m: "x" * len(m[0]), comment)
                yield text.count("\n", 0, offset) + 1, masked
        for offset, literal in literals_of(text):
            if len(literal.split()) >= 4:
                yield text.count("\n", 0, offset) + 1, join_lines(literal)
    elif file.startswith("docs/schema/") or file.endswith("schema.json"):
        json.loads(text)
        for found in re.finditer(r'"(?:description|title)": ("(?:[^"\\]|\\.)*")', text):
            yield text.count("\n", 0, found.start()) + 1, json.loads(found[1])
    else:
        if re.match(r"#!.*python", text):
            text = python_text(text)
        yield 1, re.sub(r"\n[ \t]*(?:#|//)?", lambda m: " " * len(m[0]), text)


def tracked(*patterns):
    listing = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--", *patterns], check=True, capture_output=True, text=True)
    return listing.stdout.split("\n")[:-1]


def default_files():
    files = [f for f in tracked("*.md", "*.cpp", "*.hpp", "docs/schema/*.json") if not f.startswith("tests/") or f.endswith("_test.cpp")]
    return files + [f for f in tracked(*TEXT) if not f.endswith(".md")]


class dictionary:
    def __init__(self, file):
        with open(file) as text:
            content = yaml.safe_load(text)
        self.rules = []
        for rule in content["rules"]:
            source, flags = re.fullmatch(r"/(.*)/([gimu]*)", rule["pattern"], re.S).groups()
            self.rules.append((re.compile(source, re.I if "i" in flags else 0), re.sub(r"\$(\d)", r"\\g<\1>", rule["expected"]), rule))
        self.exceptions = content.get("exceptions", [])
        self.used = [False] * len(self.exceptions)
        for one in self.exceptions:
            if not one.get("reason") or not one.get("file") or ("text" in one) == ("column" in one):
                sys.exit(f"{file}: an exception needs file, reason, and text or column: {one}")

    def problems(self):
        """Returns the rules whose specs do not hold."""
        for pattern, expected, rule in self.rules:
            if not rule.get("specs"):
                yield f"{rule['pattern']}: a rule needs an example in specs"
            for spec in rule.get("specs", []):
                if (replaced := pattern.sub(expected, spec["from"])) != spec["to"]:
                    yield f"{rule['pattern']}: '{spec['from']}' gives '{replaced}' instead of '{spec['to']}'"

    def is_exception(self, file, text, start, end, heading):
        found = False
        for i, one in enumerate(self.exceptions):
            if not fnmatch.fnmatch(file, one["file"]):
                continue
            if "column" in one:
                applies = heading == one["column"]
            else:
                phrase = one["text"]
                applies = any(m.start() <= start and end <= m.end() for m in re.finditer(re.escape(phrase), text))
            if applies:
                found = self.used[i] = True
        return found

    def hits(self, file, content):
        """Yields (line, match, suggestion)."""
        cells = columns_of(content) if file.endswith(".md") else {}
        starts = [0, *(m.end() for m in re.finditer("\n", content))]
        for first, text in passages(file, content):
            for pattern, expected, rule in self.rules:
                for match in pattern.finditer(text):
                    if len(text) == len(content):
                        begin = match.end() - len(match[0].lstrip(" .:;|"))
                        line = bisect.bisect_right(starts, begin)
                        column = begin - starts[line - 1]
                    else:
                        line, column = first, 0
                    heading = next((h for start, end, h in cells.get(line, []) if start <= column < end), None)
                    if not self.is_exception(file, text, match.start(), match.end(), heading):
                        context = " ".join(text[max(0, match.start() - 30):match.end() + 20].split())
                        yield line, f"'{match[0].strip()}' in \"{context}\"", rule.get("prh") or match.expand(expected).strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dictionary", default=os.path.join(ROOT, "tests/project/dialect.yml"))
    parser.add_argument("--count", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    rules = dictionary(os.path.abspath(options.dictionary))
    problems = list(rules.problems())
    files = options.files
    if not files:
        os.chdir(ROOT)
        files = default_files()
        if len(files) < 3:
            sys.exit("git lists no tracked files")
    counts = {}
    for file in files:
        with open(file, errors="replace") as text:
            content = text.read()
        for line, match, suggestion in sorted(rules.hits(file, content)):
            counts[file] = counts.get(file, 0) + 1
            if not options.count:
                print(f"{file}:{line}: {match} -> {suggestion}")
    if not options.files:
        problems += [f"this exception has no hit: {one}" for one, used in zip(rules.exceptions, rules.used) if not used]
    for file, count in sorted(counts.items(), key=lambda entry: -entry[1]) if options.count else []:
        print(f"{count:5} {file}")
    print("\n".join([*problems, f"{sum(counts.values())} hits in {len(counts)} of {len(files)} files"]))
    sys.exit(bool(problems or counts))


if __name__ == "__main__":
    main()
