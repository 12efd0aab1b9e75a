"""portico with a state directory, killed again and again at random moments while clients submit, upload, cancel and poll; its
stand-in ComfyUI too, in turn.  Afterwards nothing that was acknowledged may be lost, doubled or told wrongly.

usage: crash.py BUILD_DIR [--kills N] [--seed N] [--clients N]
"""
import argparse
import collections
import http.client
import json
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from servers import Server, free_port  # noqa: E402

ENDED = ("succeeded", "failed", "canceled", "expired")
BOUNDARY = {"Content-Type": "multipart/form-data; boundary=b"}


def graph(number):
    return {"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 16, "batch_size": 1, "color": number % 0xFFFFFF}},
            "9": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "crash"}}}


class World:
    """portico and the stand-in on ports of their own, which stay the same through all ends."""

    def __init__(self, build, folder):
        self.build, self.folder, self.starts = build, folder, collections.Counter()
        self.state, self.spool = os.path.join(folder, "state"), os.path.join(folder, "spool")
        self.ports = {"portico": free_port(), "standin": free_port()}
        self.running = {}

    def start(self, name):
        ini = f"[server]\nport = {self.ports[name]}\n[plugins]\ndirectory = {self.build}/plugins\n"
        if name == "standin":
            ini += "enabled = comfyui_standin\n[plugin.comfyui_standin]\nstep_delay = 1ms\nlog_prompts = yes\n"
        else:
            ini += f"[upstream.comfyui]\nurl = http://127.0.0.1:{self.ports['standin']}\n[plugin.uploads]\nspool = {self.spool}\n"
        arguments = ["--state-dir", self.state] if name == "portico" else []
        self.starts[name] += 1
        self.running[name] = Server(self.build, self.folder, f"{name}-{self.starts[name]}", ini, arguments)

    def kill(self, name):
        self.running[name].process.send_signal(signal.SIGKILL)
        self.running[name].process.wait()

    def prompts(self):
        """How often each prompt came to the stand-in, in all its lives."""
        seen = collections.Counter()
        for n in range(1, self.starts["standin"] + 1):
            with open(os.path.join(self.folder, f"standin-{n}.log"), encoding="utf-8") as log:
                seen.update(re.findall(r": prompt ([0-9a-f-]{36})", log.read()))
        return seen

    def ask(self, method, target, body=None, headers=None):
        """The status and the body; None when the server went away."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["portico"], timeout=30)
        try:
            connection.request(method, target, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


class Client(threading.Thread):
    """Does one thing after the other, at random, and keeps what was acknowledged."""

    def __init__(self, world, number, seed, over):
        super().__init__(daemon=True)
        self.world, self.number, self.random, self.over = world, number, random.Random(f"{seed}/{number}"), over
        self.jobs, self.keys, self.assets, self.ended, self.faults = [], collections.Counter(), {}, {}, []
        self.cancelled, self.count = set(), 0

    def run(self):
        while not self.over.is_set():
            self.count += 1
            action = self.random.choices((self.submit, self.upload, self.cancel, self.poll), (5, 2, 1, 3))[0]
            action()

    def submit(self):
        key, number = f"{self.number}-{self.count}", self.number * 100000 + self.count
        body = json.dumps({"workflow": graph(number), "metadata": key})
        # As a client does that does not know what became of its request: again, with the same key.
        for _ in range(4):
            answer = self.world.ask("POST", "/api/v2/jobs", body, {"Idempotency-Key": key})
            if answer is None:
                time.sleep(0.02)
            elif answer[0] == 201:
                self.keys[key] += 1
                self.jobs.append((json.loads(answer[1])["id"], key))
            else:
                return

    def upload(self):
        data = b"%d %d" % (self.number, self.count)
        body = (b'--b\r\nContent-Disposition: form-data; name="file_path"\r\n\r\n' + data.replace(b" ", b"-") + b'.txt\r\n'
                b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' + data + b"\r\n--b--\r\n")
        life = self.world.starts["standin"]
        answer = self.world.ask("POST", "/api/v2/assets", body, BOUNDARY)
        if answer and answer[0] in (200, 201):
            self.assets[json.loads(answer[1])["id"]] = (data, life)

    def cancel(self):
        if self.jobs:
            job, _ = self.random.choice(self.jobs[-5:])
            answer = self.world.ask("POST", f"/api/v2/jobs/{job}/cancel")
            if answer and answer[0] == 200:
                self.cancelled.add(job)

    def poll(self):
        if not self.jobs:
            return
        job, _ = self.random.choice(self.jobs)
        answer = self.world.ask("GET", f"/api/v2/jobs/{job}")
        if not answer:
            return
        if answer[0] == 404:
            self.faults.append(f"{job}: was acknowledged, and is not known")
        if answer[0] == 200:
            self.note(job, json.loads(answer[1])["status"])

    def note(self, job, status):
        """What ended as something stays so; expired is a deduction, and may change."""
        before = self.ended.get(job)
        if before and status != before:
            self.faults.append(f"{job}: was {before}, and is {status}")
        if status in ENDED and status != "expired":
            self.ended[job] = status


def settled(world, clients):
    """The last state of every acknowledged job, once nothing moves any more."""
    states, until = {}, time.monotonic() + 60
    for client in clients:
        for job, key in client.jobs:
            while True:
                answer = world.ask("GET", f"/api/v2/jobs/{job}")
                found = json.loads(answer[1]) if answer and answer[0] == 200 else {"status": f"answered {answer and answer[0]}"}
                if found["status"] in ENDED or answer and answer[0] == 404 or time.monotonic() > until:
                    break
                time.sleep(0.05)
            states[job] = found["status"]
            client.note(job, found["status"])
            if found["status"] not in ENDED:
                client.faults.append(f"{job}: {found['status']}")
            elif found.get("metadata") != key:
                client.faults.append(f"{job}: has lost its metadata")
    return states


def check_assets(world, client):
    for asset, (data, life) in client.assets.items():
        answer = world.ask("GET", f"/api/v2/assets/{asset}")
        if not answer or answer[0] != 200 or json.loads(answer[1])["size_bytes"] != len(data):
            client.faults.append(f"asset {asset}: {answer}")
            continue
        content = world.ask("GET", f"/api/v2/assets/{asset}/content")
        lost_with_comfyui = life < world.starts["standin"] and content and content[0] == 404
        if not lost_with_comfyui and content != (200, data):
            client.faults.append(f"asset {asset}: its bytes are {content}")


def verdict(world, clients):
    states = settled(world, clients)
    for client in clients:
        check_assets(world, client)
    faults = [fault for client in clients for fault in client.faults]
    faults += [f"key {key}: taken {n} times" for client in clients for key, n in client.keys.items() if n > 1]
    prompts = world.prompts()
    faults += [f"prompt {prompt}: sent {n} times" for prompt, n in prompts.items() if n > 1]
    left = os.listdir(world.spool) if os.path.isdir(world.spool) else []
    faults += [f"left in the spool: {name}" for name in left]
    faults += [f"left in the state: {name}" for name in os.listdir(world.state)
               if name != "owner" and not re.fullmatch(r"portico\.sqlite3(-wal|-shm)?", name)]
    counts = {"jobs acknowledged": len(states), "uploads acknowledged": sum(len(c.assets) for c in clients),
              "prompts at ComfyUI": len(prompts), **collections.Counter(states.values())}
    print(", ".join(f"{name}: {n}" for name, n in counts.items()))
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    kills = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="portico-crash-") as folder:
        world, over = World(os.path.abspath(arguments.build), folder), threading.Event()
        try:
            world.start("standin")
            world.start("portico")
            clients = [Client(world, n, arguments.seed, over) for n in range(arguments.clients)]
            for client in clients:
                client.start()
            for n in range(arguments.kills):
                time.sleep(moments.uniform(0.05, 0.8))
                name = "standin" if n % 4 == 3 else "portico"
                world.kill(name)
                kills[name] += 1
                world.start(name)
            time.sleep(0.3)
            over.set()
            for client in clients:
                client.join()
            faults = verdict(world, clients)
            for server in world.running.values():
                server.stop()
        finally:
            over.set()
            for server in world.running.values():
                server.kill()
    for fault in faults[:40]:
        print(fault)
    print(f"{kills['portico']} kills of portico and {kills['standin']} of ComfyUI, seed {arguments.seed}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
