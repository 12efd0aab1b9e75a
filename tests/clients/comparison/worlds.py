"""Two worlds that are alike but for the proxy: a stand-in ComfyUI, its folder, and the reference or portico before it."""
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenarios"))
import comfyui  # noqa: E402
from servers import Server, free_port  # noqa: E402
from wire import Ask, NO_ANSWER, at, exchange  # noqa: E402

ENDED = ("succeeded", "failed", "canceled", "expired")


def furnish(folder):
    """ComfyUI's own folder, with files that lie there already, one outside, and a link that leads out."""
    base = os.path.join(folder, "comfyui")
    for name in ("input/sub", "output", "temp", "models/checkpoints", "models/configs", "custom_nodes"):
        os.makedirs(os.path.join(base, name))
    files = {"input/here.txt": b"a file of this machine", "input/gone.txt": b"soon gone", "input/big.bin": bytes((1 << 20) + 1),
             "input/sub/deep.txt": b"a deeper one", "output/made.txt": b"made",
             "temp/short.txt": b"short", "models/checkpoints/here.safetensors": comfyui.model("here"),
             "models/checkpoints/bad.safetensors": b"no model", "models/configs/c.safetensors": comfyui.model("c"),
             "custom_nodes/n.txt": b"n", "../outside.txt": b"outside"}
    for name, data in files.items():
        with open(os.path.join(base, name), "wb") as file:
            file.write(data)
    os.symlink(os.path.join(folder, "outside.txt"), os.path.join(base, "input", "way_out.txt"))
    return base


class World:
    """One proxy with its ComfyUI.  settings: flags with their values, upstream (instead of the stand-in's address), no_base."""

    def __init__(self, build, folder, settings):
        self.build, self.folder, self.settings = build, folder, settings
        os.makedirs(folder)
        self.base = furnish(folder)
        self.known = {"base": self.base, "outside": os.path.join(folder, "outside.txt")}
        self.standin = Server(build, folder, "comfyui_standin", "[server]\nport = 0\n[plugins]\n"
                              f"directory = {build}/plugins\nenabled = comfyui_standin\n"
                              "[plugin.comfyui_standin]\nstep_delay = 5ms\n")
        self.upstream = settings.get("upstream") or self.standin.url
        try:
            self.port = self.start()
        except BaseException:
            self.standin.kill()
            raise
        self.known["host"] = f"127.0.0.1:{self.port}"

    def stop(self):
        self.end()
        self.standin.stop()

    def flags(self):
        """Both proxies take the same ones."""
        out = ["--comfyui", self.upstream] + ([] if self.settings.get("no_base") else ["--comfyui-base-dir", self.base])
        for flag in ("token", "max-upload-mb", "enable-cors-header"):
            if flag in self.settings:
                out += ["--" + flag, str(self.settings[flag])]
        return out

    def tell(self, route, what):
        request = urllib.request.Request(self.standin.url + route, data=json.dumps(what).encode())
        urllib.request.urlopen(request, timeout=20).close()

    def knobs(self, knobs):
        self.tell("/standin/knobs", knobs)

    def forget(self):
        """ComfyUI without its history."""
        self.tell("/history", {"clear": True})

    def lose(self, name):
        os.unlink(os.path.join(self.base, name))

    def perform(self, ask):
        if ask.knobs is not None:
            self.knobs(ask.knobs)
        if ask.wait:
            self.wait(*ask.wait)
        if ask.before:
            ask.before(self)
        begun = ask.meanwhile and (lambda: self.knobs(ask.meanwhile))
        answer = exchange(self.port, ask, self.known, begun)
        for name, path in ask.save.items():
            try:
                self.known[name] = at(answer.json, path)
            except (KeyError, IndexError, TypeError):
                self.known[name] = "not-there"
        return answer

    def wait(self, name, statuses=ENDED):
        token = self.settings.get("token")
        ask = Ask("wait", target=f"/api/v2/jobs/{{{name}}}", headers={"Authorization": f"Bearer {token}"} if token else {})
        until = time.monotonic() + 15
        while time.monotonic() < until:
            answer = exchange(self.port, ask, self.known)
            if answer is not NO_ANSWER and answer.status == 200 and answer.json["status"] in statuses:
                return
            time.sleep(0.02)
        raise RuntimeError(f"{type(self).__name__}: the job {name} did not come to {statuses}: {answer}")


class Portico(World):
    def start(self):
        ini = f"[server]\nport = 0\n[plugins]\ndirectory = {self.build}/plugins\n"
        self.proxy = Server(self.build, self.folder, "portico", ini, self.flags())
        return self.proxy.port

    def end(self):
        self.proxy.stop()


class Reference(World):
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", ".deps", "reference", "bin",
                           "comfy-api-proxy")

    def start(self):
        port = free_port()
        arguments = [self.program, "run", *self.flags(), "--port", str(port)]
        self.log = open(os.path.join(self.folder, "reference.log"), "wb")
        self.process = subprocess.Popen(arguments, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        until = time.monotonic() + 20
        known = {"host": f"127.0.0.1:{port}"}
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if exchange(port, Ask("ready"), known).status == 200:
                    return port
            except OSError:
                time.sleep(0.05)
        self.end()
        raise RuntimeError("the reference does not answer: " + open(self.log.name, encoding="utf-8").read())

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Worlds:
    """Both, as a context manager."""

    def __init__(self, build, settings):
        self.build, self.settings = os.path.abspath(build), settings

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="portico-side-by-side-")
        self.made = []
        try:
            for kind in (Reference, Portico):
                self.made.append(kind(self.build, os.path.join(self.folder.name, kind.__name__), self.settings))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self.made

    def __exit__(self, *_):
        for world in self.made:
            world.stop()
        self.folder.cleanup()
