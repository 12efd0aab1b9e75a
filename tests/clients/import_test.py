"""From the reference proxy to portico: jobs, keys, assets and links that one gave out, after `portico import-state`, at the other.

usage: import_test.py BUILD_DIR
"""
import datetime
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "comparison"))
sys.dont_write_bytecode = True

import worlds  # noqa: E402
import installed  # noqa: E402
from worlds import comfyui  # noqa: E402
from servers import Server  # noqa: E402
from wire import Ask, exchange, form  # noqa: E402

JOBS, ASSETS = "/api/v2/jobs", "/api/v2/assets"
PICTURE = b"a picture, as far as anybody here looks"


class Old(worlds.Reference):
    """The reference with a folder for its state."""

    def flags(self):
        return [*super().flags(), "--state-dir", os.path.join(self.folder, "old")]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def upload(self, path, data, name, **fields):
        body = form(("file", data, "Content-Type: image/png"), ("file_path", path), *fields.items())
        return self.good("POST", ASSETS, body, 201, {"Content-Type": "multipart/form-data; boundary=b"}, save={name: "id"})

    def good(self, method, target, body=None, status=200, headers=None, save=None):
        answer = self.perform(Ask(target, method, target, body, headers or {}, save or {}))
        assert answer.status == status, f"{method} {target}: {answer}"
        return answer

    def submit(self, name, graph, key=None, **rest):
        self.good("POST", JOBS, {"workflow": graph, **rest}, 201, {"Idempotency-Key": key} if key else {}, {name: "id"})


def use(old):
    """What is done at the reference; all that it answers of it in the end."""
    old.submit("plain", comfyui.picture(1))
    old.submit("labelled", comfyui.picture(2), "key-1", metadata="bär/1", priority=-3)
    old.submit("nested", {"1": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8, "batch_size": 1, "color": 1}},
                          "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "sub/x"}}}, "key-2")
    old.knobs({"fail_node": "5"})
    old.submit("failed", comfyui.sampled("here.safetensors", 1), metadata="")
    for name in ("plain", "labelled", "nested", "failed"):
        old.wait(name)
    old.knobs({"fail_node": ""})
    old.upload("input/sub/p.png", PICTURE, "input", tags="one")
    old.upload("checkpoints/up.safetensors", comfyui.model("up"), "model")
    old.good("POST", ASSETS + "/from-path", {"path": "{base}/input/here.txt"}, 201, save={"taken": "id"})
    said = {name: old.good("GET", f"{JOBS}/{{{name}}}").json for name in ("plain", "labelled", "nested", "failed")}
    graphs = {name: old.good("GET", f"{JOBS}/{{{name}}}/workflow").json for name in said}
    assets = {name: old.good("GET", f"{ASSETS}/{{{name}}}").json for name in ("input", "model", "taken")}
    outputs = [o["id"] for job in said.values() for o in job["outputs"]]
    assert len(outputs) == 3 and said["failed"]["status"] == "failed", said
    contents = {id: old.good("GET", f"{ASSETS}/{id}/content").body for id in [*outputs, *(a["id"] for a in assets.values())]}
    old.submit("running", comfyui.sampled("here.safetensors", 2))
    listed = [job["id"] for job in old.good("GET", JOBS).json["jobs"]]
    return said, graphs, assets, outputs, contents, listed


def digest(folder):
    """Of all that lies in it, but for SQLite's shared memory."""
    out = hashlib.sha256()
    for name in sorted(os.listdir(folder)):
        if not name.endswith("-shm"):
            with open(os.path.join(folder, name), "rb") as file:
                out.update(name.encode() + b"\0" + file.read())
    return out.hexdigest()


def take_over(build, old, *flags):
    """The command; its exit code, what it printed, what it logged."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PORTICO_")}
    done = subprocess.run([os.path.join(build, "bin", "portico"), "import-state", old, "--set",
                           f"plugins.directory={build}/plugins", "--host", "0.0.0.0", *flags],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class New:
    """portico over what was taken over, before the same ComfyUI."""

    def __init__(self, build, old, state):
        ini = f"[server]\nport = 0\n[plugins]\ndirectory = {build}/plugins\n"
        self.server = Server(build, old.folder, "portico", ini, [*worlds.World.flags(old), "--state-dir", state])
        self.known = {**old.known, "host": f"127.0.0.1:{self.server.port}"}

    def ask(self, method, target, body=None, status=200, headers=None):
        answer = exchange(self.server.port, Ask(target, method, target, body, headers or {}), self.known)
        assert answer.status == status, f"{method} {target}: {answer}"
        return answer

    def wait(self, name, status):
        for _ in range(500):
            if self.ask("GET", f"{JOBS}/{{{name}}}").json["status"] == status:
                return
        raise AssertionError(f"{name} does not come to {status}")


def compare_jobs(new, said, graphs, listed):
    for name, before in said.items():
        now = new.ask("GET", f"{JOBS}/{{{name}}}").json
        for member in ("id", "status", "metadata", "priority"):
            assert now.get(member) == before.get(member), f"{name}: {member}: {before} became {now}"
        assert (now["error"] or {}).get("code") == (before["error"] or {}).get("code"), f"{name}: {before} became {now}"
        assert moment(now["created_at"]) == moment(before["created_at"]), f"{name}: {before} became {now}"
        assert len(now["outputs"]) == len(before["outputs"]), f"{name}: {before} became {now}"
        assert new.ask("GET", f"{JOBS}/{{{name}}}/workflow").json == graphs[name], name
    assert [job["id"] for job in new.ask("GET", JOBS).json["jobs"]] == listed
    new.wait("running", "succeeded")
    for key in ("key-1", "key-2"):
        refused = new.ask("POST", JOBS, {"workflow": comfyui.picture(3)}, 422, {"Idempotency-Key": key})
        assert refused.json["error"]["code"] == "idempotency_key_reuse", refused
    new.ask("POST", JOBS, {"workflow": comfyui.picture(3)}, 201, {"Idempotency-Key": "key-3"})


def compare_assets(new, assets, outputs, contents):
    for id, content in contents.items():
        assert new.ask("GET", f"{ASSETS}/{id}/content").body == content, id
    for id in outputs:
        new.ask("GET", f"{ASSETS}/{id}")
    forged = outputs[0][:-2] + ("AA" if outputs[0][-2:] != "AA" else "BB")
    new.ask("GET", f"{ASSETS}/{forged}", status=404)
    for name, before in assets.items():
        now = new.ask("GET", f"{ASSETS}/{{{name}}}").json
        for member in ("id", "hash", "size_bytes", "content_type", "file_path"):
            assert now[member] == before[member], f"{name}: {member}: {before} became {now}"
        new.ask("HEAD", f"{ASSETS}/by-hash/{before['hash']}")
        again = new.ask("POST", ASSETS + "/from-hash", {"hash": before["hash"]}).json
        assert (again["id"], again["created_new"]) == (before["id"], False), again
    body = form(("file", comfyui.model("up"), "Content-Type: image/png"), ("file_path", "checkpoints/up.safetensors"))
    again = new.ask("POST", ASSETS, body, headers={"Content-Type": "multipart/form-data; boundary=b"}).json
    assert (again["id"], again["created_new"]) == (assets["model"]["id"], False), again
    graph = comfyui.sampled()
    graph["1"]["inputs"]["ckpt_name"] = {"__type": "core/ASSET", "info": {"id": "{model}"}}
    made = new.ask("POST", JOBS, {"workflow": graph}, 201).json
    workflow = new.ask("GET", f"{JOBS}/{made['id']}/workflow").json["workflow"]
    assert workflow["1"]["inputs"]["ckpt_name"] == "up.safetensors", workflow


def take_over_and_compare(build, folder, old):
    said, graphs, assets, outputs, contents, listed = use(old)
    old.kill()
    from_folder, state = os.path.join(old.folder, "old"), os.path.join(folder, "new")
    assert os.path.exists(os.path.join(from_folder, "state.sqlite3-wal")), "the kill should have left a log"
    before = digest(from_folder)
    code, out, log = take_over(build, from_folder, "--state-dir", state)
    assert (code, out) == (0, "done\n"), (code, out, log)
    assert f"took over 5 jobs, 2 keys, 3 assets and the secret of {from_folder}\n" in log and log.count("\n") == 1, log
    assert digest(from_folder) == before, "what is the reference's was changed"
    new = New(build, old, state)
    try:
        code, out, log = take_over(build, from_folder, "--state-dir", state)
        assert code == 3 and out == "" and "is in use by another portico" in log, (code, out, log)
        compare_jobs(new, said, graphs, listed)
        compare_assets(new, assets, outputs, contents)
        new.server.stop()
    finally:
        new.server.kill()
    code, out, log = take_over(build, from_folder, "--state-dir", state)
    assert (code, out) == (0, "done\n") and "was taken over already" in log, (code, out, log)
    other = os.path.join(folder, "other")
    shutil.copytree(from_folder, other)
    subprocess.run([sys.executable, "-c", "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                    "c.execute('DELETE FROM jobs'); c.commit()",
                    os.path.join(other, "state.sqlite3")], check=True)
    code, out, log = take_over(build, other, "--state-dir", state)
    assert code == 3 and out == "" and "has jobs or assets already; use another --state-dir" in log, (code, out, log)


def main(build):
    build = os.path.abspath(build)
    if not os.path.exists(Old.program):
        print("SKIP: the reference proxy is not installed in .deps; ./dev deps installs it")
        return installed.SKIPPED
    with tempfile.TemporaryDirectory(prefix="portico-import-") as folder:
        old = Old(build, os.path.join(folder, "world"), {})
        try:
            take_over_and_compare(build, folder, old)
        finally:
            old.stop()
    print("what the reference knew, portico knows")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
