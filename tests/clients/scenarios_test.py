"""The scenarios of one client of the API against a running portico; each must say that it went well.

usage: scenarios_test.py BUILD_DIR python_sync|python_async|node
"""
import json
import os
import subprocess
import sys

import installed
from servers import Pair

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.join(HERE, "scenarios")
sys.path.insert(0, SCENARIOS)
import comfyui  # noqa: E402

EXPECTED = ["upload_run_events_download", "progress_and_previews_are_live", "known_content_is_not_sent",
            "cancel_running_and_queued", "a_key_is_good_for_one_job", "model_upload_and_use", "a_deleted_asset_is_gone",
            "the_workflow_comes_back", "a_download_goes_on_where_it_stopped"]


def command(client, comfyui_url, folder):
    """The command line that runs the scenarios; None when the client is not installed."""
    if client.startswith("python"):
        python = installed.python()
        return python and [python, "-B", os.path.join(SCENARIOS, client + ".py"), comfyui_url, folder]
    node = installed.node()
    if node is None:
        return None
    graphs = os.path.join(folder, "graphs.json")
    with open(graphs, "w", encoding="utf-8") as file:
        json.dump({"picture": comfyui.picture(0), "inverted": comfyui.inverted(), "sampled": comfyui.sampled()}, file)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(comfyui.model("weight-node"))
    return [node[0], os.path.join(SCENARIOS, "node.mjs"), comfyui_url, folder, node[1], graphs]


def main(build, client):
    with Pair(build, models=True) as pair:
        run = command(client, pair.standin.url, pair.comfyui_folder)
        if run is None:
            return installed.skip(client)
        environment = dict(os.environ, COMFY_BASE_URL=pair.portico.url)
        environment.pop("COMFY_API_KEY", None)
        done = subprocess.run(run, env=environment, stdout=subprocess.PIPE, text=True, timeout=150, check=False)
        print(done.stdout, end="")
        assert done.returncode == 0, f"the client failed with exit code {done.returncode}"
        assert done.stdout.split() == EXPECTED, "scenarios are missing"
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
