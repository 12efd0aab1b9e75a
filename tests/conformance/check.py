#!/usr/bin/env python3
"""Holds what portico answered in the end-to-end tests against docs/openapi.yaml, and docs/conformance.md against both.

usage: check.py EXCHANGES [--refresh]

EXCHANGES is the folder of the tests' records (tests/e2e/recorder.hpp).  --refresh writes docs/conformance.md anew.
"""
import collections
import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs/conformance.md")

try:
    import table
    from document import Document
except ImportError as missing:
    print(f"SKIP: {missing}: the tools for OpenAPI are not installed (./dev deps)")
    sys.exit(77)


def records(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield json.loads(line)
                except ValueError as fault:
                    raise SystemExit(f"{path}:{number}: no JSON: {fault}") from None


def code_of(exchange):
    body = exchange.get("json")
    error = body.get("error") if isinstance(body, dict) else None
    return error.get("code") if isinstance(error, dict) and exchange["status"] >= 400 else None


def faults_of_error(exchange, allowed):
    """For answers that belong to no operation."""
    if (exchange["status"], code_of(exchange)) not in allowed:
        yield f"{exchange['status']} {code_of(exchange)} where {allowed} may come"


def faults_of(document, exchange):
    found = document.find(exchange["method"], exchange["target"])
    if exchange["method"] == "OPTIONS":
        if exchange["status"] not in (200, 204, 403):
            yield "OPTIONS is 200, 204 or 403"
        return
    gate = [(401, "unauthorized"), (403, "forbidden_origin"), (429, "rate_limited")]
    no_body = exchange["method"] == "HEAD"
    if found is None:
        yield from faults_of_error(exchange, [(404, None if no_body else "not_found"), *gate])
        return
    _, method, methods = found
    if method not in methods:
        yield from faults_of_error(exchange, [(405, None if no_body else "method_not_allowed"), *gate])
        if exchange["status"] == 405 and "allow" not in exchange["headers"]:
            yield "405 without Allow"
        return
    responses = methods[method]["responses"]
    if str(exchange["status"]) not in responses:
        yield f"the status {exchange['status']} ({code_of(exchange)}) is not among {sorted(responses)}"
        return
    response = document.resolved(responses[str(exchange["status"])])
    yield from faults_of_headers(document, response, exchange)
    if not no_body:
        yield from faults_of_body(document, response, exchange)


def faults_of_headers(document, response, exchange):
    for name, header in response.get("headers", {}).items():
        header = document.resolved(header)
        value = exchange["headers"].get(name.lower())
        if value is None:
            if header.get("required"):
                yield f"the header {name} is missing"
            continue
        for fault in document.faults(header["schema"], value):
            yield f"the header {name}: {fault}"


def faults_of_body(document, response, exchange):
    content = response.get("content", {})
    if not content:
        if exchange.get("bytes") != 0:
            yield "a body where there is none"
        return
    kind = exchange["headers"].get("content-type", "").split(";")[0]
    media = content.get(kind) or content.get("*/*")
    if media is None:
        yield f"the content type {kind!r} is not among {sorted(content)}"
    elif kind == "application/json" and kind in content:
        if exchange["headers"]["content-type"] != "application/json; charset=utf-8":
            yield "JSON without its charset"
        yield from document.faults(media["schema"], exchange["json"])


def shown_by(document, exchanges):
    """What the tests have shown: rows (operation, status, code) and fields (object, field), each with its tests and how often."""
    rows, fields = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for exchange in exchanges:
        found = document.find(exchange["method"], exchange["target"])
        if found is None or found[1] not in found[2]:
            continue
        template, method, methods = found
        response = document.resolved(methods[method]["responses"][str(exchange["status"])])
        code = code_of(exchange)
        if exchange["method"] == method:
            rows[f"{method} {template}", exchange["status"], code][exchange["test"]] += 1
        schema = response.get("content", {}).get("application/json", {}).get("schema")
        if schema and "json" in exchange:
            for field in document.fields(schema, exchange["json"]):
                fields[field][exchange["test"]] += 1
    return rows, fields


def main():
    folder, refresh = sys.argv[1], "--refresh" in sys.argv[2:]
    document = Document(os.path.join(ROOT, "docs/openapi.yaml"))
    exchanges = list(records(folder))
    if len(exchanges) < 500:
        raise SystemExit(f"only {len(exchanges)} exchanges in {folder}: run the end-to-end tests first (ctest -L e2e)")
    faults = {}
    for exchange in exchanges:
        for fault in faults_of(document, exchange):
            what = f"{exchange['method']} {re.sub('[0-9a-f-]{36}', 'ID', exchange['target'])[:80]}: {fault[:300]}"
            faults.setdefault(what, exchange["test"])
    for what, test in faults.items():
        print(f'{what}\n    in "{test}"')
    if faults:
        raise SystemExit(f"{len(faults)} kinds of answers are not as docs/openapi.yaml has them")
    problems = table.check_or_write(document, *shown_by(document, exchanges), PAGE, refresh)
    for problem in problems:
        print(problem)
    if problems:
        raise SystemExit("docs/conformance.md does not say what the tests show; after a look at why: "
                         "tests/conformance/check.py EXCHANGES --refresh")
    print(f"{len(exchanges)} answers are as docs/openapi.yaml has them")


if __name__ == "__main__":
    main()
