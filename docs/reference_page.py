#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reference_page.py PAGE.md - the page as Doxygen 1.9 takes it: it gives headings no names of their own and knows no `page.md#heading`.
A link to a heading that is not there becomes one of its warnings; what is linked beside the pages lies next to them, or is named only."""
import os, re, sys

page = os.path.abspath(sys.argv[1])
tree = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BESIDE = ("docs/examples/", "docs/schema/")  # copied (HTML_EXTRA_FILES)


def label(file, heading):
    """Doxygen's label of a heading: the headings of all pages share one namespace."""
    return os.path.splitext(os.path.relpath(file, tree))[0].replace("/", "-") + "--" + heading


def slug(title):
    """The name that the page itself and others link it by."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def link(found):
    text, target = re.sub(r"\n\s*", " ", found[1]), found[2]  # Doxygen takes no link text of several lines
    if "://" in target:
        return f"[{text}]({target})"
    name, _, heading = target.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
    if heading:
        return f"[{text}](#{label(file, heading)})"
    inside = os.path.relpath(file, tree)
    if inside.startswith(BESIDE):
        return f"[{text}]({os.path.basename(file)})"
    if file.endswith(".md") and not inside.startswith("tests/"):
        return f"[{text}]({target})"
    return text if os.path.exists(file) else f"[{text}]({target})"


def rewrite(text):
    """Text outside code blocks, in which the text of a link may span lines."""
    # Doxygen 1.9 ends a code span at a single quote unless it has two backquotes.
    text = re.sub(r"(?<!`)`([^`\n]*'[^`\n]*)`(?!`)", r"``\1``", text)
    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", link, text)


with open(page) as lines:
    in_block, seen, prose = False, {}, ""
    for line in lines:
        is_fence = line.startswith("```")
        if is_fence:
            sys.stdout.write(rewrite(prose))
            prose, in_block = "", not in_block
        if is_fence or in_block:
            sys.stdout.write(line)
            continue
        if heading := re.fullmatch(r"(##+) (.*)\n", line):
            name = slug(heading[2])
            seen[name] = seen.get(name, -1) + 1
            line = f"{heading[1]} {heading[2]} {{#{label(page, name + (f'-{seen[name]}' if seen[name] else ''))}}}\n"
        prose += line
    sys.stdout.write(rewrite(prose))
