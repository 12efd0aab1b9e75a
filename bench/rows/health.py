"""The smallest request there is, on kept connections; memory when idle; and the time from exec to the first answer."""
import json
import os
import re
import subprocess
import sys

import machine
import servers
from report import aim, cell, summary, table

TITLE = "Health answer"

COLUMNS = (
    ("requests/s", "requests_per_second", "{:,.0f}"),
    ("CPU per request, µs", "cpu_us_per_request", "{:.2f}"),
    ("99 % within, ms", "p99_ms", "{:.2f}"),
    ("first answer, ms", "first_answer_ms", "{:.1f}"),
)

# (what, of whom, against whom, at most).
AIMS = (
    ("CPU per request", "cpu_us_per_request", "portico", "Go net/http", 0.5),
    ("CPU per request", "cpu_us_per_request", "portico", "nginx return 200", 1.15),
    ("CPU per request", "cpu_us_per_request", "portico, threads = 2", "portico", 1.1),
    ("first answer", "first_answer_ms", "portico", "Go net/http", 1.2),
)
MOST_IDLE_MIB = 10


def check_answers(running):
    """All must say the same, or the comparison is of different work."""
    for server in running:
        body, content_type = server.answer()
        same = body == server.body if server.exact else json.loads(body) == json.loads(server.body)
        if not same or not content_type.startswith("application/json"):
            raise SystemExit(f"bench: {server.name} answers {content_type}: {body!r}, not {server.body!r}")


def to_ms(match):
    return float(match[1]) * {"us": 0.001, "ms": 1, "s": 1000}[match[2]]


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


def measure_load(ready, arguments):
    """Memory of each when idle, then the rounds.  Returns each server's figures."""
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


def measure(arguments, folder):
    ready, missing = servers.prepare(
        (servers.Portico, servers.PorticoTwoThreads, servers.Nginx, servers.Go, servers.Reference), arguments, folder)
    figures = measure_load(ready, arguments)
    measure_starts(ready, arguments, figures)
    return {"rounds": arguments.rounds, "seconds": arguments.seconds, "connections": arguments.connections,
            "starts": arguments.starts, "missing": missing, "figures": figures}


def aims(figures):
    for what, key, who, against, most in AIMS:
        if who in figures and against in figures:
            yield aim(f"{what}, {who} to {against}", figures[who][key]["median"] / figures[against][key]["median"], most)
    if "portico" in figures:
        yield aim("resident memory when idle, MiB, portico", figures["portico"]["resident_mib"], MOST_IDLE_MIB, "{:.1f}")


def markdown(result):
    figures = result["figures"]
    heads = ["server"] + [head for head, _, _ in COLUMNS] + ["idle memory, MiB (with shared pages divided)", "answer, bytes"]
    yield (f"{result['connections']} kept connections, {result['rounds']} rounds of {result['seconds']} s for each server in "
           f"turn, {result['starts']} starts.")
    yield ""
    yield from table(heads, (
        [name] + [cell(row[key], how) for _, key, how in COLUMNS]
        + [f"{row['resident_mib']:.1f} ({row['proportional_mib']:.1f})", str(row["answer_bytes"])]
        for name, row in figures.items()))
    yield ""
    yield from aims(figures)
    others = max((row["others_percent"]["max"] for row in figures.values()), default=0)
    yield f"- whatever else ran used at most {others:.0f} % of a core during any run"
    yield from (f"- without {name}: {why}" for name, why in result["missing"].items())
