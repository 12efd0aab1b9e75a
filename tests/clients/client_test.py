"""A real client of the API against a running portico: every workflow must end as it should, with the bytes that the
stand-in ComfyUI itself gives for each output.

usage: client_test.py BUILD_DIR python|node
"""
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse

import installed
from servers import Pair

HERE = os.path.dirname(os.path.abspath(__file__))
WORKFLOWS = [os.path.join(HERE, "workflows", name) for name in ("text_to_image.json", "upscale.json")]
# Of each workflow: the nodes that give outputs, and the size of each picture.
EXPECTED = {"text_to_image.json": {"9": (512, 512)}, "upscale.json": {"9": (256, 192), "10": (512, 384)}}


def command(client, folder):
    """The command line that runs the workflows; None when the client is not installed."""
    if client == "python":
        return (python := installed.python()) and [python, os.path.join(HERE, "python_client.py"), folder, *WORKFLOWS]
    return (node := installed.node()) and [node[0], os.path.join(HERE, "node_client.mjs"), folder, node[1], *WORKFLOWS]


def size_of(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[12:16] == b"IHDR", "not a PNG"
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def bytes_from_standin(standin, job, node, name):
    history = json.loads(standin.get(f"/history/{job}"))[job]
    (item,) = [one for one in history["outputs"][node]["images"] if one["filename"] == name]
    return standin.get("/view?" + urllib.parse.urlencode(item))


def check(standin, result):
    name = os.path.basename(result["workflow"])
    expected = EXPECTED[name]
    assert result["first"] == "queued", result["first"]
    assert result["status"] == result["status_again"] == "succeeded", result
    with open(result["workflow"], encoding="utf-8") as file:
        assert result["graph"] == json.load(file), "the workflow that comes back is not the one submitted"
    assert sorted(output["node_id"] for output in result["outputs"]) == sorted(expected), result["outputs"]
    for output in result["outputs"]:
        with open(output["file"], "rb") as file:
            got = file.read()
        assert got == bytes_from_standin(standin, result["job"], output["node_id"], output["name"]), f"{output} differs"
        assert size_of(got) == expected[output["node_id"]], size_of(got)
        assert output["type"] == "image" and output["content_type"] == "image/png", output
        assert output["job_id"] == result["job"], output
    print(f"{name}: {len(result['outputs'])} outputs, byte for byte", flush=True)


def main(build, client):
    with tempfile.TemporaryDirectory(prefix="portico-client-") as folder:
        run = command(client, folder)
        if run is None:
            return installed.skip(client)
        with Pair(build) as pair:
            environment = dict(os.environ, COMFY_BASE_URL=pair.portico.url)
            environment.pop("COMFY_API_KEY", None)
            done = subprocess.run(run, env=environment, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
            assert done.returncode == 0, f"the client failed with exit code {done.returncode}"
            results = [json.loads(line) for line in done.stdout.splitlines()]
            assert len(results) == len(WORKFLOWS), results
            for result in results:
                check(pair.standin, result)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
