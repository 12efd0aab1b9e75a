"""Uploads of inputs: received, hashed, and handed on to an upstream that throws them away.  CPU per MB, and peak memory."""
import json
import os
import socket
import sys
import threading
import time

import machine
import servers
from report import aim, cell, summary, table

TITLE = "Uploads"

MIB = 1 << 20
AT_ONCE, EACH_MIB = 4, 64
LARGE_MIB = 4096
BOUNDARY = "portico-bench"
MOST_GROWTH_MIB = 4


def text_part(name, value):
    return f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'


def upload(port, name, mib, failures):
    """Posts one file of so many MiB, no two alike, and notes what went wrong."""
    head = (text_part("file_path", name) + text_part("content_type", "application/octet-stream")
            + f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n').encode()
    tail = f"\r\n--{BOUNDARY}--\r\n".encode()
    piece = os.urandom(MIB)
    with socket.create_connection(("127.0.0.1", port), timeout=300) as talk:
        talk.sendall((f"POST /api/v2/assets HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
                      f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
                      f"Content-Length: {len(head) + mib * MIB + len(tail)}\r\n\r\n").encode() + head)
        for _ in range(mib):
            talk.sendall(piece)
        talk.sendall(tail)
        with talk.makefile("rb") as reader:
            answer = reader.read()
    lines, _, body = answer.partition(b"\r\n\r\n")
    if not lines.startswith(b"HTTP/1.1 201") or json.loads(body)["size_bytes"] != mib * MIB:
        failures.append(answer[:400])


def round_of(server, count, mib):
    """So many uploads at once: seconds and server CPU seconds."""
    failures = []
    names = [f"bench-{time.monotonic_ns()}-{i}.bin" for i in range(count)]
    threads = [threading.Thread(target=upload, args=(server.port, name, mib, failures)) for name in names]
    cpu, begun = machine.cpu_seconds(server.pid), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, cpu = time.perf_counter() - begun, machine.cpu_seconds(server.pid) - cpu
    if failures:
        raise SystemExit(f"bench: {server.name} failed an upload: {failures[0]!r}")
    megabytes = count * mib * MIB / 1e6
    return {"megabytes_per_second": megabytes / seconds, "cpu_ms_per_megabyte": cpu * 1000 / megabytes}


def measure(arguments, folder):
    sink = servers.Sink(arguments.root, arguments.build, os.path.join(folder, "sink"))
    sink.start(arguments.load_core)
    try:
        ready, missing = servers.prepare((servers.Portico, servers.Reference), arguments, folder,
                                         upstream=f"http://127.0.0.1:{sink.port}")
        figures = many(ready, arguments)
        if "portico" in figures:
            figures["portico"]["alone"] = {
                mib: one(mib, arguments, os.path.join(folder, str(mib)), sink) for mib in (EACH_MIB, LARGE_MIB)}
    finally:
        sink.stop()
    return {"rounds": arguments.rounds, "missing": missing, "figures": figures}


def many(ready, arguments):
    runs = {server.name: [] for server in ready}
    figures = {}
    try:
        for server in ready:
            server.start(arguments.server_core)
        for turn in range(arguments.rounds):
            for server in ready[turn % len(ready):] + ready[:turn % len(ready)]:
                runs[server.name].append(round_of(server, AT_ONCE, EACH_MIB))
            print(f"round {turn + 1} of {arguments.rounds}", file=sys.stderr)
        for server in ready:
            figures[server.name] = {key: summary([run[key] for run in runs[server.name]]) for key in runs[server.name][0]}
            figures[server.name]["peak_mib"] = machine.peak_mib(server.pid)
    finally:
        for server in ready:
            server.stop()
    return figures


def one(mib, arguments, folder, sink):
    """One upload on a fresh portico."""
    server = servers.Portico(arguments.root, arguments.build, folder, upstream=f"http://127.0.0.1:{sink.port}",
                             max_upload_mb=mib + 1)
    server.start(arguments.server_core)
    try:
        figures = round_of(server, 1, mib)
        return {**figures, "peak_mib": machine.peak_mib(server.pid)}
    finally:
        server.stop()


def markdown(result):
    figures = result["figures"]
    yield (f"{AT_ONCE} uploads of {EACH_MIB} MiB at once, {result['rounds']} rounds; then one alone on a fresh "
           "portico.  The loader shares its core with the upstream.")
    yield ""
    yield from table(("server", "MB/s", "CPU per MB, ms", "peak memory, MiB"), (
        [name, cell(row["megabytes_per_second"], "{:.0f}"), cell(row["cpu_ms_per_megabyte"], "{:.2f}"), f"{row['peak_mib']:.1f}"]
        for name, row in figures.items()))
    if "portico" in figures:
        alone = figures["portico"]["alone"]
        yield from (f"| portico, one of {mib} MiB | {row['megabytes_per_second']:.0f} | {row['cpu_ms_per_megabyte']:.2f} "
                    f"| {row['peak_mib']:.1f} |" for mib, row in alone.items())
        yield ""
        yield aim(f"peak of one of {LARGE_MIB} MiB above that of {AT_ONCE} of {EACH_MIB} MiB at once, MiB",
                  alone[LARGE_MIB]["peak_mib"] - figures["portico"]["peak_mib"], MOST_GROWTH_MIB, "{:.1f}")
        yield aim(f"and above that of one of {EACH_MIB} MiB, MiB",
                  alone[LARGE_MIB]["peak_mib"] - alone[EACH_MIB]["peak_mib"], MOST_GROWTH_MIB, "{:.1f}")
    yield from (f"- without {name}: {why}" for name, why in result["missing"].items())
