"""Many event streams on few jobs: what arrives on each, in which order, and what it costs."""
import json
import os
import resource
import selectors
import socket
import time
import urllib.request

import machine
import servers
from report import aim, summary, table

TITLE = "Event streams"

JOBS, STREAMS = 10, 1000
WORKFLOW = "tests/clients/workflows/text_to_image.json"
STEP_MS = 40  # a step of a job, so that a job takes about a second
PATIENCE = 120  # seconds until all must have ended
TERMINAL = ("succeeded", "failed", "canceled", "expired")


class Stream:
    """One viewer: its socket, what has arrived, and whether that was in order."""

    def __init__(self, port, job):
        self.job, self.faults, self.events = job, [], {}
        self.text, self.opened, self.status, self.progress = "", False, None, 0.0
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.sendall((f"GET /api/v2/jobs/{job}/events HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n"  # 1.0: no chunks
                             "Accept: text/event-stream\r\n\r\n").encode())
        self.socket.setblocking(False)

    def read(self):
        """True as long as the stream goes on."""
        try:
            more = self.socket.recv(1 << 16)
        except BlockingIOError:
            return True
        self.text += more.decode()
        if not self.opened and "\r\n\r\n" in self.text:
            head, self.text = self.text.split("\r\n\r\n", 1)
            self.opened = True
            if not head.startswith("HTTP/1.1 200"):
                self.faults.append(head.split("\r\n")[0])
        *frames, self.text = self.text.split("\n\n") if self.opened else (self.text,)
        for frame in frames:
            if not frame.startswith(":"):
                self.take(*(line.split(": ", 1)[1] for line in frame.split("\n")))
        return bool(more)

    def take(self, kind, data):
        data = json.loads(data)
        if self.status in TERMINAL:
            self.faults.append(f"{kind} after the last status")
        if not self.events and kind != "status":
            self.faults.append(f"begins with {kind}")
        self.events[kind] = self.events.get(kind, 0) + 1
        if kind == "status":
            self.status = data["status"]
        elif kind == "progress":
            if data["value"] < self.progress:
                self.faults.append("progress went back")
            self.progress = data["value"]

    def close(self):
        self.socket.close()
        if self.status != "succeeded":
            self.faults.append(f"ended with status {self.status}")
        if self.events.get("output") != 1:
            self.faults.append(f"{self.events.get('output', 0)} outputs instead of 1")


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def submit(portico, root):
    """Jobs that differ in their seed, so that each is computed; their ids."""
    with open(os.path.join(root, WORKFLOW), encoding="utf-8") as file:
        workflow = json.load(file)
    samplers = [node for node in workflow.values() if "seed" in node["inputs"]]
    ids = []
    for seed in range(JOBS):
        for sampler in samplers:
            sampler["inputs"]["seed"] = seed
        ids.append(post(f"http://127.0.0.1:{portico.port}/api/v2/jobs", {"workflow": workflow})["id"])
    return ids


def follow(streams):
    until = time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.socket, selectors.EVENT_READ, stream)
        while selector.get_map() and time.monotonic() < until:
            for key, _ in selector.select(1):
                if not key.data.read():
                    selector.unregister(key.fileobj)
                    key.data.close()
        for key in list(selector.get_map().values()):
            key.data.faults.append(f"did not end within {PATIENCE} s")
            key.data.close()


def run(portico, standin, root):
    ids = submit(portico, root)
    cpu, begun = machine.cpu_seconds(portico.pid), time.perf_counter()
    streams = [Stream(portico.port, ids[i % JOBS]) for i in range(STREAMS)]
    opened = time.perf_counter() - begun
    follow(streams)
    faults = [fault for stream in streams for fault in stream.faults]
    if faults:
        raise SystemExit(f"bench: {len(faults)} faults in {STREAMS} streams, the first: {faults[0]}")
    events = sum(sum(stream.events.values()) for stream in streams)
    with urllib.request.urlopen(f"http://127.0.0.1:{standin.port}/standin/counters", timeout=30) as answer:
        sockets = json.load(answer)["websockets"]["opened"]
    cpu = machine.cpu_seconds(portico.pid) - cpu
    return {"events": events, "open_seconds": opened, "seconds": time.perf_counter() - begun, "cpu_seconds": cpu,
            "cpu_us_per_event": cpu * 1e6 / events, "peak_mib": machine.peak_mib(portico.pid), "websockets": sockets}


def measure(arguments, folder):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, STREAMS + 200)), hard))
    runs = []
    for turn in range(3):
        standin = servers.Standin(arguments.root, arguments.build, os.path.join(folder, f"standin{turn}"))
        standin.start(arguments.load_core)
        try:
            post(f"http://127.0.0.1:{standin.port}/standin/knobs", {"step_delay_ms": STEP_MS})
            portico = servers.Portico(arguments.root, arguments.build, os.path.join(folder, f"portico{turn}"),
                                      upstream=f"http://127.0.0.1:{standin.port}")
            portico.start(arguments.server_core)
            try:
                runs.append(run(portico, standin, arguments.root))
            finally:
                portico.stop()
        finally:
            standin.stop()
    return {"jobs": JOBS, "streams": STREAMS, "runs": len(runs),
            "figures": {key: summary([one[key] for one in runs]) for key in runs[0]}}


def markdown(result):
    figures = {key: value["median"] for key, value in result["figures"].items()}
    yield (f"{result['streams']} streams on {result['jobs']} jobs that run one after another, {result['runs']} runs.  Every "
           "stream began with a status, had its job's output once, ended with the status `succeeded` and then closed; no "
           "progress went back.")
    yield ""
    yield from table(("server", "events delivered", "seconds", "CPU, s", "CPU per event, µs", "peak memory, MiB",
                      "sockets upstream"), [
        ["portico", f"{figures['events']:,.0f}", f"{figures['seconds']:.1f}", f"{figures['cpu_seconds']:.2f}",
         f"{figures['cpu_us_per_event']:.1f}", f"{figures['peak_mib']:.1f}", f"{figures['websockets']:.0f}"]])
    yield ""
    yield aim("WebSockets to the upstream", figures["websockets"], 1, "{:.0f}")
