"""Two portico processes for tests and the demo: a stand-in ComfyUI, and portico in front of it.

Each gets a configuration of its own in a temporary folder and a port that the system chooses, read from its log.
"""
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

REPORTS = re.compile(r"AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:")


def free_port():
    """A port for a program that cannot choose one and say so."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    """One portico process.  stop() ends it as an operator would, and raises when it did not end well."""

    def __init__(self, build, folder, name, ini, arguments=()):
        self.name = name
        self.log_path = os.path.join(folder, name + ".log")
        ini_path = os.path.join(folder, name + ".ini")
        with open(ini_path, "w", encoding="utf-8") as file:
            file.write(ini)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PORTICO_")}
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([os.path.join(build, "bin", "portico"), "--config", ini_path, *arguments],
                                            stderr=log, stdout=log, stdin=subprocess.DEVNULL, env=environment)
        self.port = self._wait_for_port(20)
        self.url = f"http://127.0.0.1:{self.port}"

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def _wait_for_port(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = re.search(r"listening on http://[^ ]*:(\d+)", self.log())
            if found:
                return int(found[1])
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        self.kill()
        raise RuntimeError(f"{self.name} does not listen (exit code {self.process.poll()}):\n{self.log()}")

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"{self.name} did not stop within 10 s:\n{self.log()}") from None
        if code != 0 or REPORTS.search(self.log()):
            raise RuntimeError(f"{self.name} ended with exit code {code}:\n{self.log()}")


class Pair:
    """Both processes, as a context manager: pair.standin and pair.portico.  With models, portico takes model files for a
    ComfyUI that lies in pair.comfyui_folder."""

    def __init__(self, build, step_delay="5ms", models=False):
        self.build = os.path.abspath(build)
        self.step_delay = step_delay
        self.folder = tempfile.TemporaryDirectory(prefix="portico-")
        self.comfyui_folder = os.path.join(self.folder.name, "comfyui")
        os.makedirs(os.path.join(self.comfyui_folder, "models"))
        self.models = f"[plugin.model_upload]\nbase_dir = {self.comfyui_folder}\n" if models else ""
        self.standin = self.portico = None

    def _ini(self, plugins, rest):
        return f"[server]\nport = 0\n[plugins]\ndirectory = {self.build}/plugins\n{plugins}{rest}"

    def __enter__(self):
        try:
            self.standin = Server(self.build, self.folder.name, "comfyui_standin", self._ini(
                "enabled = comfyui_standin\n", f"[plugin.comfyui_standin]\nstep_delay = {self.step_delay}\n"))
            # With the plugins that the shipped configuration enables.
            self.portico = Server(self.build, self.folder.name, "portico", self._ini(
                "", f"[upstream.comfyui]\nurl = {self.standin.url}\n{self.models}"))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, fault, trace):
        servers = [server for server in (self.portico, self.standin) if server]
        try:
            problems = []
            for server in servers:
                try:
                    server.stop()
                except RuntimeError as problem:
                    problems.append(str(problem))
            if problems and kind is None:
                raise RuntimeError("\n".join(problems))
            if problems:
                print("\n".join(problems))
        finally:
            for server in servers:
                server.kill()
            self.folder.cleanup()
