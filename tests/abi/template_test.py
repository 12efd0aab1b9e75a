#!/usr/bin/env python3
"""Installs portico into a fresh folder, builds sdk/template against it, runs its test, and serves it with the installed
program."""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request


def run(*words, **more):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stdout}")
    return done.stdout


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def serve(portico, folder, ini):
    """What the running program answers on /greet/you, and its exit code when it is told to stop."""
    with open(folder / "log", "w") as log:
        server = subprocess.Popen([portico, "--config", ini, "--port", "0"], cwd=folder, stdout=log, stderr=log)
    try:
        limit = time.monotonic() + 30
        while not (found := re.search(r"listening on (http://\S+)", (folder / "log").read_text())):
            if time.monotonic() > limit or server.poll() is not None:
                sys.exit("portico does not listen:\n" + (folder / "log").read_text())
            time.sleep(0.02)
        body = get(found[1] + "/greet/you")
        server.send_signal(signal.SIGTERM)
        return body, server.wait(timeout=20)
    finally:
        if server.poll() is None:
            server.kill()


def main():
    options = argparse.ArgumentParser()
    for name in ("cmake", "build", "template", "cxx", "config", "sanitize"):
        options.add_argument("--" + name, default="")
    o = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="portico-template-") as temporary:
        home = pathlib.Path(temporary)
        prefix, source, build = home / "prefix", home / "plugin", home / "plugin" / "build"
        run(o.cmake, "--install", o.build, "--prefix", prefix)
        portico = prefix / "bin" / "portico"
        expected = [portico, prefix / "include/portico/abi.h", prefix / "include/portico/testing/server.hpp",
                    prefix / "share/portico/portico.ini", prefix / "share/portico/template/CMakeLists.txt"]
        missing = [str(p) for p in expected if not p.exists()]
        missing += [] if list(prefix.glob("lib*/**/portico/plugins/health.so")) else ["the plugin health"]
        if missing:
            sys.exit("not installed: " + ", ".join(missing))

        shutil.copytree(prefix / "share/portico/template", source)
        flags = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-restrict"  # g++ 12 is wrong about std::string here (GCC bug 105651)
        flags += f" -fsanitize={o.sanitize} -fno-sanitize-recover=all" if o.sanitize else ""
        run(o.cmake, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={o.cxx}",
            f"-DCMAKE_BUILD_TYPE={o.config}", f"-DCMAKE_CXX_FLAGS={flags}")
        run(o.cmake, "--build", build)
        run("ctest", "--output-on-failure", cwd=build)
        symbols = run("nm", "-D", "--defined-only", build / "greeter.so").split()[2::3]
        if symbols != ["portico_query"]:
            sys.exit(f"greeter.so exports {symbols}")

        # As the template's README says, and installed beside the shipped ones, by name.
        if (got := serve(portico, source, source / "portico.ini")) != ("Good day, you!\n", 0):
            sys.exit(f"the template's server: {got}")
        run(o.cmake, "--install", build)
        by_name = home / "by-name.ini"
        by_name.write_text("[plugins]\nenabled = health, greeter\n")
        if (got := serve(portico, home, by_name)) != ("Hello, you!\n", 0):
            sys.exit(f"the installed plugin: {got}")
        listing = run(portico, "plugins", "--config", by_name, env={**os.environ})
        if "GET /greet/{name}" not in listing:
            sys.exit(f"portico plugins does not list the template's route:\n{listing}")
    print("the template builds, tests and serves against an installed portico")


if __name__ == "__main__":
    main()
