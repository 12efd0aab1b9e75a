"""The servers that are measured: how each is started, and what it must answer."""
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

NOBODY = "http://127.0.0.1:8188"  # named in health's answer; nobody asks it anything
PATH = "/api/v2/health"
REFERENCE = ".deps/reference/bin/comfy-api-proxy"

PORTICO_INI = """[server]
host = 127.0.0.1
port = {port}
threads = {threads}
log_level = warning
[upstream.comfyui]
url = {upstream}
[plugins]
directory = {plugins}
enabled = {enabled}
[plugin.uploads]
max_upload_mb = {max_upload_mb}
"""


class Unavailable(Exception):
    """This server cannot be measured here; the text says why."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One server: start() on one core, then url, pid, stop().  A subclass says how it is prepared and called."""

    name = "server"
    ready_path = PATH
    exact = True  # answers with body byte for byte, not only with the same JSON

    def __init__(self, root, build, folder, upstream=NOBODY, max_upload_mb=100):
        self.root, self.build, self.folder = root, build, folder
        self.upstream, self.max_upload_mb = upstream, max_upload_mb
        self.body = '{"status":"healthy","upstream":"%s"}' % upstream
        self.port = free_port()
        self.process = None
        os.makedirs(folder, exist_ok=True)
        self.command = self.prepare()

    def prepare(self):
        raise NotImplementedError

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}{PATH}"

    @property
    def pid(self):
        return self.process.pid

    def start(self, core):
        """Returns the seconds from exec to the first byte of the first answer."""
        with open(os.path.join(self.folder, "output.log"), "ab") as log:
            begun = time.perf_counter()
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.folder, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        while True:
            if self._answers():
                return time.perf_counter() - begun
            if self.process.poll() is not None or time.perf_counter() - begun > 30:
                raise Unavailable(f"{self.name} did not start: {self._last_words()}")
            time.sleep(0.0002)

    def _answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as talk:
                talk.sendall(f"GET {self.ready_path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n\r\n"
                             .encode())
                return talk.recv(12).startswith(b"HTTP/1.1 200")
        except OSError:
            return False

    def _last_words(self):
        with open(os.path.join(self.folder, "output.log"), encoding="utf-8", errors="replace") as log:
            return (log.read().strip().split("\n") or ["no word"])[-1]

    def answer(self):
        with urllib.request.urlopen(self.url, timeout=5) as response:
            return response.read().decode(), response.headers.get("Content-Type")

    def answer_size(self):
        """Bytes of a whole answer on a kept connection, head and body."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as talk:
            talk.sendall(f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            received = b""
            while b"\r\n\r\n" not in received or b"}" not in received:
                received += talk.recv(4096)
            return len(received)

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


def shipped_plugins(root):
    """What an installed portico loads when nobody says otherwise."""
    with open(os.path.join(root, "etc/portico.ini"), encoding="utf-8") as file:
        return re.search(r"^enabled = (.+)$", file.read(), re.M)[1]


class Portico(Server):
    name = "portico"
    threads = 1
    enabled = None  # what an installed portico enables

    def prepare(self):
        program = os.path.join(self.build, "bin", "portico")
        plugins = os.path.join(self.build, "plugins")
        enabled = self.enabled or shipped_plugins(self.root)
        for needed in (program, *(os.path.join(plugins, name.strip() + ".so") for name in enabled.split(","))):
            if not os.path.exists(needed):
                raise Unavailable(f"{needed} is not built; ./dev build makes it")
        ini = os.path.join(self.folder, "portico.ini")
        with open(ini, "w", encoding="utf-8") as file:
            file.write(PORTICO_INI.format(port=self.port, threads=self.threads, upstream=self.upstream, plugins=plugins,
                                          enabled=enabled, max_upload_mb=self.max_upload_mb))
        return [program, "--config", ini]


class PorticoTwoThreads(Portico):
    name = "portico, threads = 2"
    threads = 2


class Nginx(Server):
    name = "nginx return 200"

    def prepare(self):
        if not shutil.which("nginx"):
            raise Unavailable("nginx is not installed")
        with open(os.path.join(self.root, "bench/peers/nginx.conf.in"), encoding="utf-8") as file:
            text = file.read()
        for key, value in {"folder": self.folder, "port": self.port, "path": PATH, "body": self.body}.items():
            text = text.replace(f"@{key}@", str(value))
        conf = os.path.join(self.folder, "nginx.conf")
        with open(conf, "w", encoding="utf-8") as file:
            file.write(text)
        return ["nginx", "-p", self.folder, "-e", os.path.join(self.folder, "nginx-error.log"), "-c", conf]


class Go(Server):
    name = "Go net/http"

    def prepare(self):
        if not shutil.which("go"):
            raise Unavailable("go is not installed")
        program = os.path.join(self.folder, "peer")
        built = subprocess.run(["go", "build", "-o", program, "."], cwd=os.path.join(self.root, "bench/peers/go"),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if built.returncode != 0:
            raise Unavailable(f"go build: {built.stdout.strip()}")
        return [program, "-address", f"127.0.0.1:{self.port}", "-path", PATH, "-body", self.body]


class Reference(Server):
    name = "reference (Python)"
    exact = False  # its JSON has blanks in it

    def prepare(self):
        program = os.path.join(self.root, REFERENCE)
        if not os.path.exists(program):
            raise Unavailable(f"{REFERENCE} is not installed; ./dev bench does it")
        return [program, "run", "--comfyui", self.upstream, "--host", "127.0.0.1", "--port", str(self.port),
                "--max-upload-mb", str(self.max_upload_mb)]


class Standin(Portico):
    """A ComfyUI to stand behind portico, in a portico of its own."""

    name = "comfyui_standin"
    enabled = "comfyui_standin"
    ready_path = "/system_stats"


class Sink(Server):
    """An upstream that takes uploads and throws them away."""

    name = "sink"
    ready_path = "/"

    def prepare(self):
        return [sys.executable, os.path.join(self.root, "bench/sink.py"), str(self.port)]


def prepare(kinds, arguments, folder, **settings):
    """The servers that can run here, and why the others cannot."""
    ready, missing = [], {}
    for kind in kinds:
        if arguments.only and kind.name not in arguments.only:
            continue
        try:
            ready.append(kind(arguments.root, arguments.build, os.path.join(folder, kind.__name__), **settings))
        except Unavailable as why:
            missing[kind.name] = str(why)
            print(f"bench: without {kind.name}: {why}", file=sys.stderr)
    return ready, missing
