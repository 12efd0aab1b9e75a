#!/usr/bin/env python3
"""Holds the source tree to rules.py.  Prints path:line: what is wrong, and ends with 1 if anything is."""
import os
import sys

import rules

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("bench", "cmake", "core", "demo", "docs", "etc", "plugins", "sdk", "tests")
NOT_OURS = {"__pycache__", "node_modules", "results"}


def files():
    for name in sorted(os.listdir(ROOT)):
        if os.path.isfile(os.path.join(ROOT, name)):
            yield name
    for folder in FOLDERS:
        for here, inner, names in os.walk(os.path.join(ROOT, folder)):
            inner[:] = sorted(set(inner) - NOT_OURS)
            for name in sorted(names):
                yield os.path.relpath(os.path.join(here, name), ROOT).replace(os.sep, "/")


def main():
    seen = found = 0
    for path in files():
        if not path.endswith(rules.TEXT):
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        seen += 1
        for rule, line, what in rules.violations(path, text):
            found += 1
            print(f"{path}:{line}: {what} [{rule}]")
    print(f"{seen} files, {len(rules.RULES)} rules, {found} breaches")
    return 1 if found or seen < 50 else 0  # so few files: it looked in the wrong place


if __name__ == "__main__":
    sys.exit(main())
