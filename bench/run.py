#!/usr/bin/env python3
"""portico beside others: CPU, memory and time for the same work, taken in turns on one machine.

A row of the results is one kind of work (rows/).  Servers run on one core, whatever loads them on another.  README.md
says how to read the figures.
"""
import argparse
import datetime
import json
import os
import sys
import tempfile

import machine
import report
from rows import health, streams, uploads

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROWS = {"health": health, "uploads": uploads, "streams": streams}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"), help="where portico was built")
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=list(ROWS), help="which work; all of it by default")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of load, 5 or more")
    parser.add_argument("--seconds", type=int, default=5, help="health: load on each server in each round")
    parser.add_argument("--starts", type=int, default=21, help="health: how often each server is started")
    parser.add_argument("--connections", type=int, default=32, help="health: kept connections of the load")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="names of servers, as the results print them")
    parser.add_argument("--out", default=os.path.join(ROOT, "bench/results"), help="folder for DATE.md and DATE.json")
    arguments = parser.parse_args()
    if arguments.rounds < 5 or arguments.server_core == arguments.load_core:
        parser.error("at least 5 rounds, and two different cores")
    arguments.root, arguments.build = ROOT, os.path.abspath(arguments.build)
    return arguments


def main():
    arguments = parse_arguments()
    os.sched_setaffinity(0, {arguments.load_core})  # this program itself keeps off the servers' core
    now = datetime.datetime.now(datetime.timezone.utc)
    result = {"time": now.strftime("%Y-%m-%dT%H:%MZ"), "machine": machine.describe(ROOT), "rows": {}}
    for name in arguments.rows:
        print(f"bench: {name}", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="portico-bench-") as folder:
            result["rows"][name] = ROWS[name].measure(arguments, folder)
    os.makedirs(arguments.out, exist_ok=True)
    base = os.path.join(arguments.out, now.strftime("%Y-%m-%d"))
    text = report.markdown(result, ROWS)
    with open(base + ".json", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1, sort_keys=True)
        file.write("\n")
    with open(base + ".md", "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    print(f"bench: written to {os.path.relpath(base, os.getcwd())}.md and .json", file=sys.stderr)


if __name__ == "__main__":
    main()
