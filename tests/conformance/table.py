"""docs/conformance.md: each answer and each field of the API, with tests that show it."""
import collections
import os

OBJECTS = ("Job", "Progress", "Output", "JobError", "Asset", "CommittedAsset", "Error")

# What every operation answers alike, as it is decided before the operation: one test for any of them is enough.
COMMON = {(401, "unauthorized"), (403, "forbidden_origin"), (429, "rate_limited"), (503, "shutting_down"),
          (503, "overloaded"), (500, "internal"), (401, None), (403, None), (429, None), (503, None)}

# What no end-to-end test can or need show, and why.
UNSHOWN = {
    ("any", 500, "internal"): "a fault of portico's own; the tests of plugins that throw show it",
    ("any", 503, "overloaded"): "memory that has run out",
    ("any", 503, "shutting_down"): "a moment between the end of the grace and that of the last connection",
    ("Output", "hash"): "always null: nobody has read the bytes",
    ("JobError", "traceback"): "always null: it names paths of ComfyUI's machine",
}

HEAD = """# Conformance

Written by `tests/conformance/check.py --refresh` from `docs/openapi.yaml` and from what portico answered in the end-to-end tests; a test
fails when it is out of date. Every answer of those tests was held against the description: status, headers, content type, each
field of the body. What differs from the reference proxy, and why, is in [conformance-differences.md](conformance-differences.md).

## Answers

| operation | status | code | shown by |
|---|---|---|---|
"""


def quoted(tests):
    return "; ".join(f"*{test}*" for test in tests)


def chosen(tests):
    """Two of them: those that show it most often, since what happens beside the point of a test may not happen next time."""
    return sorted(tests, key=lambda test: (-tests[test], test))[:2]


def described(document):
    for name, operation in document.operations():
        for status, response in operation["responses"].items():
            for code in document.codes(response):
                yield name, int(status), code


def render(document, rows, fields):
    lines, missing = [HEAD.rstrip("\n")], []
    common = collections.defaultdict(collections.Counter)
    for name, status, code in described(document):
        tests = rows.get((name, status, code), {})
        if (status, code) in COMMON:
            common[status, code].update(tests)
        elif tests:
            lines.append(f"| `{name}` | {status} | {code or ''} | {quoted(chosen(tests))} |")
        elif (name, status, code) in UNSHOWN:
            lines.append(f"| `{name}` | {status} | {code or ''} | not shown: {UNSHOWN[name, status, code]} |")
        else:
            missing.append((name, status, code))
    for (status, code), tests in sorted(common.items(), key=lambda entry: (entry[0][0], entry[0][1] or "")):
        if tests:
            lines.append(f"| any | {status} | {code or ''} | {quoted(chosen(tests))} |")
        elif ("any", status, code) in UNSHOWN:
            lines.append(f"| any | {status} | {code or ''} | not shown: {UNSHOWN['any', status, code]} |")
        elif code:
            missing.append(("any", status, code))
    lines += ["", "## Fields", "", "Present and not null.", "", "| object | field | shown by |", "|---|---|---|"]
    for name, field in document.named_fields(OBJECTS):
        if (name, field) in fields:
            lines.append(f"| {name} | `{field}` | {quoted(chosen(fields[name, field]))} |")
        elif (name, field) in UNSHOWN:
            lines.append(f"| {name} | `{field}` | not shown: {UNSHOWN[name, field]} |")
        else:
            missing.append((name, field))
    return "\n".join(lines) + "\n", missing


def key_of(line):
    return tuple(cell.strip() for cell in line.split("|")[1:-2])


def check_or_write(document, rows, fields, page, refresh):
    """What is wrong with the page; nothing after it was written anew, unless something is shown by no test."""
    text, missing = render(document, rows, fields)
    problems = [f"no test shows {' '.join(str(part) for part in what)}" for what in missing]
    if refresh:
        with open(page, "w", encoding="utf-8") as file:
            file.write(text)
        return problems
    written = ""
    if os.path.exists(page):
        with open(page, encoding="utf-8") as file:
            written = file.read()
    have = {key_of(line): line for line in written.splitlines() if line.startswith("| ")}
    want = {key_of(line): line for line in text.splitlines() if line.startswith("| ")}
    problems += [f"the page lacks {' '.join(key)}" for key in want if key not in have]
    problems += [f"the page has {' '.join(key)}, which is not described" for key in have if key not in want]
    shown = {**{(f"`{n}`", str(s), c or ""): t for (n, s, c), t in rows.items()},
             **{(n, f"`{f}`"): t for (n, f), t in fields.items()}}
    for key, tests in shown.items():
        named = have.get(key, "").split("*")[1::2]
        if named and not any(test in tests for test in named):
            problems.append(f"none of the tests that the page names shows {' '.join(key)} any more")
    return problems
