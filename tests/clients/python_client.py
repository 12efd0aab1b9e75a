"""Runs workflows with the Python SDK, as its users do, and says on standard output what came of each, as a line of JSON.

usage: COMFY_BASE_URL=... python_client.py FOLDER WORKFLOW.json...   (the interpreter that has comfy-sdk)
"""
import json
import os
import sys

from comfy_sdk import Comfy


def run(client, folder, path):
    workflow = client.workflows.from_file(path)
    job = client.submit(workflow)
    first = job.status
    job.wait(timeout=60)
    again = client.jobs.get(job.id)  # a handle made of nothing but the id
    outputs = []
    for output in job.outputs:
        file = os.path.join(folder, f"{job.id}-{output.node_id}-{output.name}")
        output.to_file(file)
        assert output.to_bytes(range=(1, 3)) == open(file, "rb").read()[1:4], "a range of the bytes"
        assert output.get_download_url().url.startswith(os.environ["COMFY_BASE_URL"]), output.get_download_url()
        outputs.append({"node_id": output.node_id, "name": output.name, "type": output.type, "job_id": output.job_id,
                        "content_type": output.content_type, "file": file})
    return {"workflow": path, "job": job.id, "first": first, "status": job.status, "status_again": again.status,
            "graph": again.get_workflow().graph, "outputs": outputs}


def main(folder, *paths):
    with Comfy(client_info="portico-tests") as client:
        for path in paths:
            print(json.dumps(run(client, folder, path)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
