#!/usr/bin/env python3
"""portico's health answer beside others: requests per second, CPU per request, memory, time to the first answer.

Each server runs on one core and wrk on another.  The servers take turns, round by round, so that what the machine does
meanwhile meets all of them; the figures are medians with the least and the most.  README.md says how to read them.
"""
import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import machine
import report
import servers

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"), help="where portico was built")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of load, 5 or more")
    parser.add_argument("--seconds", type=int, default=5, help="load on each server in each round")
    parser.add_argument("--starts", type=int, default=21, help="how often each server is started")
    parser.add_argument("--connections", type=int, default=32, help="kept connections of the load")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="names of servers, as the results print them")
    parser.add_argument("--out", default=os.path.join(ROOT, "bench/results"), help="folder for DATE.md and DATE.json")
    arguments = parser.parse_args()
    if arguments.rounds < 5 or arguments.server_core == arguments.load_core:
        parser.error("at least 5 rounds, and two different cores")
    return arguments


def prepare(arguments, folder):
    """The servers that can run here, and why the others cannot."""
    ready, missing = [], {}
    for kind in servers.ALL:
        if arguments.only and kind.name not in arguments.only:
            continue
        try:
            ready.append(kind(ROOT, os.path.abspath(arguments.build), os.path.join(folder, kind.__name__)))
        except servers.Unavailable as why:
            missing[kind.name] = str(why)
    return ready, missing


def check_answers(running):
    """All must say the same, or the comparison is of different work."""
    for server in running:
        body, content_type = server.answer()
        same = body == servers.BODY if server.exact else json.loads(body) == json.loads(servers.BODY)
        if not same or not content_type.startswith("application/json"):
            raise SystemExit(f"bench: {server.name} answers {content_type}: {body!r}, not {servers.BODY!r}")


def load(server, arguments, seconds):
    """One run of wrk: requests per second, server CPU per request in µs, and what else used CPU meanwhile in %."""
    cpu, busy = machine.cpu_seconds(server.pid), machine.busy_seconds()
    own = os.times()
    done = subprocess.run(
        ["taskset", "-c", str(arguments.load_core), "wrk", "-t1", f"-c{arguments.connections}", f"-d{seconds}s", "--latency",
         server.url], stdout=subprocess.PIPE, text=True, check=True)
    after = os.times()
    cpu = machine.cpu_seconds(server.pid) - cpu
    wrk = after.children_user + after.children_system - own.children_user - own.children_system
    others = machine.busy_seconds() - busy - cpu - wrk
    text = done.stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(f"bench: {server.name} failed under load:\n{text}")
    requests = int(re.search(r"(\d+) requests in", text)[1])
    return {
        "requests_per_second": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
        "cpu_us_per_request": cpu * 1e6 / requests,
        "p99_ms": to_ms(re.search(r"99%\s+([\d.]+)(us|ms|s)", text)),
        "others_percent": max(0.0, 100 * others / seconds),
    }


def to_ms(match):
    return float(match[1]) * {"us": 0.001, "ms": 1, "s": 1000}[match[2]]


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "all": values}


def measure_load(ready, arguments):
    """Memory of each when idle, then the rounds.  Fills each server's figures."""
    figures = {server.name: {} for server in ready}
    try:
        for server in ready:
            server.start(arguments.server_core)
        check_answers(ready)
        for server in ready:
            resident, proportional = machine.memory_mib(server.pid)
            figures[server.name].update(resident_mib=resident, proportional_mib=proportional,
                                        answer_bytes=server.answer_size())
        for server in ready:
            load(server, arguments, 1)  # warms caches and pools
        runs = {server.name: [] for server in ready}
        for turn in range(arguments.rounds):
            for server in ready[turn % len(ready):] + ready[:turn % len(ready)]:
                runs[server.name].append(load(server, arguments, arguments.seconds))
            print(f"round {turn + 1} of {arguments.rounds}", file=sys.stderr)
    finally:
        for server in ready:
            server.stop()
    for name, measured in runs.items():
        for key in measured[0]:
            figures[name][key] = summary([run[key] for run in measured])
    return figures


def measure_starts(ready, arguments, figures):
    times = {server.name: [] for server in ready}
    for _ in range(arguments.starts):
        for server in ready:
            try:
                times[server.name].append(server.start(arguments.server_core) * 1000)
            finally:
                server.stop()
    for name, measured in times.items():
        figures[name]["first_answer_ms"] = summary(measured)


def main():
    arguments = parse_arguments()
    os.sched_setaffinity(0, {arguments.load_core})  # this program itself keeps off the servers' core
    with tempfile.TemporaryDirectory(prefix="portico-bench-") as folder:
        ready, missing = prepare(arguments, folder)
        for name, why in missing.items():
            print(f"bench: without {name}: {why}", file=sys.stderr)
        if not ready:
            raise SystemExit("bench: nothing to measure")
        described = machine.describe(ROOT)
        figures = measure_load(ready, arguments)
        measure_starts(ready, arguments, figures)
    now = datetime.datetime.now(datetime.timezone.utc)
    result = {
        "time": now.strftime("%Y-%m-%dT%H:%MZ"), "machine": described, "rounds": arguments.rounds,
        "seconds": arguments.seconds, "connections": arguments.connections, "starts": arguments.starts,
        "missing": missing, "figures": figures,
    }
    os.makedirs(arguments.out, exist_ok=True)
    base = os.path.join(arguments.out, now.strftime("%Y-%m-%d"))
    text = report.markdown(result)
    with open(base + ".json", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1, sort_keys=True)
        file.write("\n")
    with open(base + ".md", "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    print(f"bench: written to {os.path.relpath(base, os.getcwd())}.md and .json", file=sys.stderr)


if __name__ == "__main__":
    main()
