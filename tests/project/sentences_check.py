#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sentences_check.py [FILE...] - checks the length of the sentences in the documentation.

Prints the mean and the longest sentence for each file that is given. Fails if all files together have a mean of 20 words or more, and
for each sentence with more than 30 words. Headings, tables and code blocks are not counted. Without FILEs it reads the tracked *.md
outside tests/."""
import os, re, sys
sys.dont_write_bytecode = True
from language_check import ROOT, columns_of, tracked

MEAN, LONGEST = 20, 30
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|approx|cf|resp|[A-Z])\.$")


def paragraphs(text):
    """Yields (line, text) for each paragraph and list item. A code span is one word, and so is the text of a link without spaces."""
    text = re.sub(r"^([ \t]*)(```+|~~~+).*?^\1\2[ \t]*$", lambda m: re.sub(r"[^\n]", "", m[0]), text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", lambda m: re.sub(r"[^\n]", "", m[0]), text, flags=re.S)
    text = re.sub(r"(`+)(?!`)(.*?)(?<!`)\1(?!`)", lambda m: "CODE" + "\n" * m[0].count("\n"), text, flags=re.S)
    text = re.sub(r"(?<=\])\([^)\s]*\)", "", text)
    tables = columns_of(text)
    start, words, indented = 0, [], False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        item = re.match(r"\s*(?:[-*]|[0-9]+\.) ", line)
        is_code = re.match(r" {4}|\t", line) and not words and not item and not indented
        if not line.strip() or number in tables or line.startswith("#") or item or is_code:
            if words:
                yield start, " ".join(words)
            words = []
            indented = bool(item) or indented and not re.match(r"\S", line)
            if not item:
                continue
            line = line[item.end():]
        if not words:
            start = number
        words.append(line.strip().removeprefix("> "))


def sentences(text):
    """Yields (line of the paragraph, number of words, sentence)."""
    for line, paragraph in paragraphs(text):
        pieces = [[]]
        for word in paragraph.split():
            pieces[-1].append(word)
            if re.search(r"[.!?][)\"'*_\]]*$", word) and not ABBREVIATION.search(word):
                pieces.append([])
        for piece in pieces:
            count = sum(bool(re.search(r"\w", word)) for word in piece)
            if count:
                yield line, count, " ".join(piece)


def main():
    files = sys.argv[1:]
    if not files:
        os.chdir(ROOT)
        files = [f for f in tracked("*.md") if not f.startswith("tests/")]
    total, all_words, too_long = 0, 0, []
    for file in files:
        with open(file) as text:
            found = list(sentences(text.read()))
        if not found:
            continue
        counts = [count for line, count, sentence in found]
        total, all_words = total + len(counts), all_words + sum(counts)
        if sys.argv[1:]: print(f"{file}: {len(counts)} sentences, mean {sum(counts) / len(counts):.1f}, longest {max(counts)}")
        too_long += [f"{file}:{line}: {count} words, at most {LONGEST}: {sentence}" for line, count, sentence in found if count > LONGEST]
    if not total:
        sys.exit("no sentences found")
    mean = all_words / total
    print("\n".join(too_long))
    print(f"{total} sentences, mean {mean:.1f} (must be below {MEAN}), {len(too_long)} with more than {LONGEST} words")
    sys.exit(bool(too_long) or mean >= MEAN)


main()
