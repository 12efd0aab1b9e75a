"""The published clients as ./dev deps installs them."""
import os
import subprocess

DEPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".deps")
SKIPPED = 77


def python():
    """The interpreter that has comfy-sdk; None when it is not installed."""
    interpreter = os.path.join(DEPS, "python", "bin", "python")
    if not os.path.exists(interpreter) or subprocess.run([interpreter, "-c", "import comfy_sdk"], capture_output=True).returncode:
        return None
    return interpreter


def node():
    """Node and the entry of @comfyorg/sdk; None when one is not installed."""
    modules = os.path.join(DEPS, "node", "node_modules")
    program, entry = os.path.join(modules, ".bin", "node"), os.path.join(modules, "@comfyorg", "sdk", "dist", "index.js")
    return (program, entry) if os.path.exists(program) and os.path.exists(entry) else None


def skip(client):
    print(f"SKIP: the {client} client is not installed in .deps; ./dev deps installs it")
    return SKIPPED
