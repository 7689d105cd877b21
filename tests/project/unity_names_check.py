#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""unity_names_check.py - checks that sources that may be compiled as one (unity builds) share no name that is local to a source.

CMake divides the sources of a target into batches, and a new file moves the files after it into other batches. Therefore a name in an
anonymous namespace, a static name, a namespace alias or a macro may be defined only once in all sources of a target, and no header may
declare it in the same namespace. Functions may have the same name if their parameters differ.

Usage: unity_names_check.py [DIRECTORY]    checks the tracked files of DIRECTORY [this project]
Prints each name with the lines that define it, and exits with 1 if there is one.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

TOKEN = re.compile(r"""
      (?P<skip>//[^\n]*|/\*.*?\*/|[ \t\r]+|\\\n)
    | (?P<macro>^[ \t]*\#[ \t]*define[ \t]+\w+(?:\\\n|[^\n])*)
    | (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
    | (?P<newline>\n)
    | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<word>\w[\w']*)
    | (?P<sign>::|->|<=>|.)
    """, re.X | re.S | re.M)
OPEN, CLOSE = {"(", "{", "["}, {")", "}", "]"}
TYPE_WORDS = {"struct", "class", "union", "enum"}
NOT_NAMES = {"const", "constexpr", "consteval", "constinit", "static", "inline", "extern", "volatile", "thread_local", "noexcept", "override",
             "int", "unsigned", "signed", "long", "short", "char", "bool", "double", "float", "void", "auto", "mutable", "typename"} | TYPE_WORDS
NO_TYPES = {"return", "co_return", "co_await", "co_yield", "else", "case", "new", "delete", "throw", "goto", "namespace", "using", "typename",
            "operator", "sizeof", "not", "do"}

Definition = collections.namedtuple("Definition", "namespace name kind signature is_local place")


def tokens_of(text):
    """Returns [(token, line)] without comments, literals and directives, and the macros that the text leaves defined."""
    tokens, macros, line = [], {}, 1
    for found in TOKEN.finditer(text):
        kind, token = found.lastgroup if found.lastgroup != "mark" else "string", found[0]
        if kind == "macro":
            macros[re.match(r"\s*#\s*define\s+(\w+)", token)[1]] = line
        elif kind == "directive":
            if undefined := re.match(r"\s*#\s*undef\s+(\w+)", token): macros.pop(undefined[1], None)
        elif kind in ("word", "sign"):
            is_operator = token in "&*" and text[found.start() - 1:found.end() + 1] == f" {token} "  # in `a & b`, not in `int& b`
            tokens.append((f" {token} " if is_operator else token, line))
        elif kind == "string":
            tokens.append(('""', line))
        line += token.count("\n")
    return tokens, macros


class Reader:
    """Finds what a file defines in its namespaces. It reads declarations only, no function bodies and no members of classes."""

    def __init__(self, file, text):
        self.file, self.found = file, []
        self.tokens, macros = tokens_of(text)
        for name, line in macros.items():
            self.add((), name, "macro", (), file.endswith(".cpp"), line)
        self.at = 0
        self.read((), False)

    def add(self, namespace, name, kind, signature, is_local, line):
        self.found.append(Definition("::".join(namespace), name, kind, signature, is_local, f"{self.file}:{line}"))

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead][0] if self.at + ahead < len(self.tokens) else ""

    def skip_group(self):
        """Skips the group that starts here, with its contents."""
        depth = 0
        while self.at < len(self.tokens):
            token = self.peek()
            depth += (token in OPEN) - (token in CLOSE)
            self.at += 1
            if depth == 0: return

    def skip_template(self):
        depth = 0
        self.at += 1
        while self.at < len(self.tokens):
            token = self.peek()
            if token in OPEN:
                self.skip_group()
                continue
            depth += (token == "<") - (token == ">")
            self.at += 1
            if depth == 0: return

    def read(self, namespace, is_local):
        while self.at < len(self.tokens):
            token = self.peek()
            if token == "}":
                self.at += 1
                return
            if token == ";":
                self.at += 1
            elif token == "namespace" or (token == "inline" and self.peek(1) == "namespace"):
                self.read_namespace(namespace, is_local)
            elif token == "extern" and self.peek(1) == '""' and self.peek(2) == "{":
                self.at += 3
                self.read(namespace, is_local)
            elif token == "template":
                self.at += 1
                if self.peek() == "<":
                    self.at -= 1
                    self.skip_template()
            else:
                self.read_declaration(namespace, is_local)

    def read_namespace(self, namespace, is_local):
        line = self.tokens[self.at][1]
        self.at += 1 if self.peek() == "namespace" else 2
        names = []
        while self.at < len(self.tokens) and self.peek() not in ("{", "=", ";"):
            if self.peek() != "::": names.append(self.peek())
            self.at += 1
        if self.peek() == "=":
            target = []
            while self.peek() not in (";", ""):
                target.append(self.peek())
                self.at += 1
            self.add(namespace, names[0], "alias", "".join(target[1:]), is_local or self.file.endswith(".cpp"), line)
        else:
            self.at += 1
            self.read(namespace + tuple(names), is_local or not names)

    def read_declaration(self, namespace, is_local):
        """Reads to the end of one declaration: a semicolon, or the closing brace of a function."""
        line, head, parameters = self.tokens[self.at][1], [], None
        is_function = is_type = has_value = False
        angles, begin = 0, self.at
        while self.at < len(self.tokens):
            token = self.peek()
            if token == ";":
                self.at += 1
                break
            if token == "}": break
            if token in OPEN:
                opened = self.at
                self.skip_group()
                inside = [t for t, _ in self.tokens[opened + 1:self.at - 1]]
                if token == "(" and not has_value and not is_type and parameters is None and angles == 0 and head[-1:] and (
                        head[-1] not in ("decltype", "alignas", "__attribute__", "noexcept")):
                    parameters, is_function = inside, True
                elif token == "{":
                    if not is_type and not is_function and not has_value and head[:1] and head[0] in TYPE_WORDS: is_type = True
                    if is_function and not has_value and self.peek() not in (",", "{", ";"): break
                    if not is_type: has_value = True
                elif token == "[" and inside[:1] != ["["] and not is_function and not is_type: has_value = True  # otherwise an attribute
                continue
            if token == "=" and angles == 0 and head[-1:] != ["operator"] and parameters is None: has_value = True
            if parameters is None and not has_value and not is_type:
                if token == "<" and head[-1:] != ["operator"]: angles += 1
                elif token == ">" and angles: angles -= 1
                elif angles == 0: head.append(token)
            self.at += 1
        value = "".join(token for token, _ in self.tokens[begin:self.at]).partition("=")[2]
        self.define(namespace, is_local, head, parameters if is_function else None, value, line)

    def define(self, namespace, is_local, head, parameters, value, line):
        if not head or head[0] in ("friend", "static_assert", "typedef") or head[:2] == ["using", "namespace"]: return
        is_local = is_local or ("static" in head and self.file.endswith(".cpp"))
        if head[0] == "using":
            if "::" not in head and len(head) == 2: self.add(namespace, head[1], "type alias", value, is_local, line)
            return
        if head[0] in TYPE_WORDS and parameters is None:
            names = [t for t in head[1:] if t not in TYPE_WORDS]
            if ":" in names: names = names[:names.index(":")]
            names = [t for t in names if t != "final"]
            if len(names) == 1: self.add(namespace, names[0], "type", (), is_local, line)
            return
        if "operator" in head:
            name = "operator" + "".join(head[head.index("operator") + 1:])
        else:
            if len(head) < 2 or not re.match(r"[A-Za-z_]\w*$", head[-1]) or head[-2] == "::" and "::" not in head[:1]:
                return  # a definition of a member, which names its class
            name = head[-1]
        if name in NOT_NAMES: return
        if parameters is None: self.add(namespace, name, "variable", (), is_local, line)
        else: self.add(namespace, name, "function", signature_of(parameters), is_local, line)


def signature_of(parameters):
    """Returns the types of the parameters without their names and default values."""
    types, one, depth, is_default = [], [], 0, False
    for token in parameters + [","]:
        depth += (token in OPEN or token == "<") - (token in CLOSE or token == ">")
        if token == "," and depth == 0:
            if one: types.append(type_of(one))
            one, is_default = [], False
            continue
        if token == "=" and depth == 0: is_default = True
        if not is_default: one.append(token)
    return types


def type_of(tokens):
    if len(tokens) > 1 and re.match(r"[A-Za-z_]\w*$", tokens[-1]) and tokens[-1] not in NOT_NAMES and tokens[-2] not in ("::", "const"):
        tokens = tokens[:-1]
    words = re.sub(r" ?:: ?", "::", " ".join(tokens)).split()
    return words[1:] if words[0] == "const" and words[-1] not in ("&", "*") else words


def may_be_same_types(a, b):
    """Returns whether two lists of parameters are the same. One of them may omit the namespace of a type."""
    def is_same(x, y): return x == y or x.endswith("::" + y) or y.endswith("::" + x)
    return len(a) == len(b) and all(len(s) == len(t) and all(map(is_same, s, t)) for s, t in zip(a, b))


def tests_of_programs():
    """Returns {source: program} for the test programs, whose sources tests/CMakeLists.txt lists."""
    file = pathlib.Path("tests/CMakeLists.txt")
    text = re.sub(r"#.*", "", file.read_text()) if file.exists() else ""
    programs = {}
    for call in re.finditer(r"(?:comad_test|add_library)\((\w+)([^()]*)\)", text):
        for source in re.findall(r"[\w/]+\.cpp", call[2]):
            programs.setdefault("tests/" + source, []).append(call[1])
    return programs


def variables_in_functions(text):
    """Returns [(name, line)] for the variables and parameters of functions; some of these are expressions that look the same."""
    tokens, _ = tokens_of(text)
    found, blocks, head = [], [], []  # the open braces and parentheses: n(amespace), c(lass), f(unction)
    for i, (token, line) in enumerate(tokens):
        if token == "{":
            is_outside = not blocks or blocks[-1] in "nc"
            first = [t for t in head if t in TYPE_WORDS or t == "namespace"]
            blocks.append("f" if not is_outside or "(" in head or not first else "n" if first[0] == "namespace" else "c")
            head = []
        elif token == "(": blocks.append("f")
        elif token in ("}", ")"):
            if blocks: blocks.pop()
            if token == "}": head = []
        if token == ";": head = []
        elif token not in "{}": head.append(token)
        if not blocks or blocks[-1] != "f" or not 1 < i < len(tokens) - 1 or not re.match(r"[a-z_]\w*$", token): continue
        before, after = tokens[i - 1][0], tokens[i + 1][0]
        is_after_type = (re.match(r"[A-Za-z_]\w*$", before) and before not in NO_TYPES) or before == ">" or (
            before in ("&", "*") and re.match(r"\w+$|>", tokens[i - 2][0]))
        if (is_after_type and after in ("=", ";", "{", ",", ")", ":")) or (before == "[" and after == "="): found.append((token, line))
    return found


def included_by(files, headers):
    """Returns the headers that the files include, directly or indirectly."""
    todo, seen = list(files), set()
    while todo:
        file = todo.pop()
        for name in re.findall(r'^#include [<"]([^>"]+)[>"]', pathlib.Path(file).read_text(), re.M):
            for candidate in (f"include/{name}", f"tools/{name}", os.path.normpath(f"{os.path.dirname(file)}/{name}")):
                if candidate in headers and candidate not in seen:
                    seen.add(candidate)
                    todo.append(candidate)
    return sorted(seen)


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent.parent)
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.cpp", "*.hpp"],
                            check=True, capture_output=True, text=True).stdout.split()
    skipped = set()  # sources that are always compiled separately
    for file in pathlib.Path(".").rglob("CMakeLists.txt"):
        if "build" in file.parts: continue
        for call in re.finditer(r"set_source_files_properties\(([^()]*)\)", file.read_text()):
            if "SKIP_UNITY_BUILD_INCLUSION" in call[1]:
                skipped |= {str(file.parent / source) for source in re.findall(r"[\w/]+\.cpp", call[1])}
    programs = tests_of_programs()

    groups, headers = collections.defaultdict(list), set()
    for file in listed:
        if not os.path.exists(file) or file in skipped: continue
        first, *rest = file.split("/")
        if file.endswith(".hpp"):
            if first != "tests" and first != "bench": headers.add(file)
        elif first == "tests":
            continue
        elif first == "tools":
            if len(rest) > 1: groups[f"tools/{rest[0]}"].append(file)
        elif first not in ("bench", "docs"): groups["library"].append(file)

    for file, mine in programs.items():
        if os.path.exists(file) and file not in skipped:
            for program in mine: groups[program].append(file)

    definitions = {file: Reader(file, pathlib.Path(file).read_text()).found for file in {f for g in groups.values() for f in g} | headers}
    types = collections.defaultdict(set)
    for d in (d for found in definitions.values() for d in found):
        if d.kind == "type": types[d.namespace].add(d.name)
    failures = set()
    for group, files in groups.items():
        by_name = collections.defaultdict(list)
        for d in (d for file in files for d in definitions[file]): by_name[d.namespace, d.name].append(d)
        local = {key for key, found in by_name.items() if any(d.is_local for d in found)}
        for d in (d for file in included_by(files, headers) for d in definitions[file]):
            if (d.namespace, d.name) in local: by_name[d.namespace, d.name].append(d)
        for key in local:
            failures |= {(key, pair) for pair in collisions(by_name[key], types[key[0]])}
    shadows = sorted({found for files in groups.values() for found in hidden_names(files, definitions)})
    for place, name, other in shadows:
        print(f"{place}: '{name}' hides a name of {other}; rename one of them")
    for (namespace, name), (a, b) in sorted(failures):
        print(f"{a}: '{name}' is also defined in {b}, in the same namespace '{namespace or '::'}'; rename one of them")
    return 1 if failures or shadows else 0


def hidden_names(files, definitions):
    """Yields (place, name, other place) for each variable or parameter of a function that hides a local name of an earlier source.
    GCC reports it with -Wshadow if both are in one batch. A name of a later source does no harm, and a batch keeps the order."""
    names = {}
    for file in files:
        spaces = {d.namespace for d in definitions[file]}
        for name, line in variables_in_functions(pathlib.Path(file).read_text()):
            if name in names and names[name].namespace in spaces: yield f"{file}:{line}", name, names[name].place
        for d in definitions[file]:
            if d.is_local and d.kind in ("variable", "type alias"): names.setdefault(d.name, d)


def collisions(found, types):
    """Yields the pairs of places that collide: different files, at least one of them local."""
    for i, a in enumerate(found):
        for b in found[i + 1:]:
            if a.place.split(":")[0] == b.place.split(":")[0] or not (a.is_local or b.is_local): continue
            if a.kind == b.kind == "function" and not may_be_same_types(a.signature, b.signature):
                # Overloads are found together only in the same scope. A local function hides the function of the enclosing namespace,
                # unless the type of one of its parameters belongs to this namespace.
                if a.is_local and b.is_local: continue
                outer = b if a.is_local else a
                if any(word.split("::")[0] in types for parameter in outer.signature for word in parameter): continue
            if a.kind == b.kind and "alias" in a.kind and a.signature == b.signature: continue
            yield tuple(sorted((a.place, b.place)))


if __name__ == "__main__":
    sys.exit(main())
