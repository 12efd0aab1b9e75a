"""What users do with the Python SDK.  Prints the name of each scenario that went well.

usage: COMFY_BASE_URL=... python_sync.py COMFYUI_URL FOLDER   (the interpreter that has comfy-sdk)
"""
import os
import sys

from comfy_sdk import Comfy, IdempotencyKeyReuse, NotFound, OutputReady, Preview, Progress, StatusChange

from comfyui import ComfyUI, inverted, model, picture, sampled

COLOUR = 0x102030  # others use other ones, so that no picture is known beforehand


def run(client, graph):
    return client.run(client.workflows.from_json(graph), timeout=60)


def upload_run_events_download(client, comfyui, folder):
    path = os.path.join(folder, "photo.png")
    run(client, picture(COLOUR)).outputs[0].to_file(path)
    asset = client.assets.from_file(path)
    workflow = client.workflows.from_json(inverted())
    workflow.set_input("1", "image", asset)
    job = client.submit(workflow)
    events = list(job.events())
    assert asset.created_new is True, asset
    with open(path, "rb") as file:
        assert comfyui.file(comfyui.last_graph()["1"]["inputs"]["image"], "input") == file.read()
    assert isinstance(events[-1], StatusChange) and events[-1].status == "succeeded", events[-1]
    (output,) = [event.output for event in events if isinstance(event, OutputReady)]
    assert output.to_bytes() == comfyui.file(output.name), output


def progress_and_previews_are_live(client, comfyui, folder):
    job = client.submit(client.workflows.from_json(sampled(seed=COLOUR)))
    events = list(job.events())
    progress = [event.value for event in events if isinstance(event, Progress)]
    assert progress == sorted(progress) and progress[-1] == 1.0, progress
    assert [event for event in events if isinstance(event, Preview) and event.data], events


def known_content_is_not_sent(client, comfyui, folder):
    data = run(client, picture(COLOUR + 1)).outputs[0].to_bytes()
    first = client.assets.from_bytes(data, filename="first.png")
    first.commit()
    sent = comfyui.calls("POST /upload/image")
    again = client.assets.from_bytes(data, filename="again.png")
    workflow = client.workflows.from_json(inverted())
    workflow.set_input("1", "image", again)
    client.run(workflow, timeout=60)
    assert again.id == first.id and again.created_new is False, again
    assert comfyui.calls("POST /upload/image") == sent


def cancel_running_and_queued(client, comfyui, folder):
    comfyui.knobs(hang=True)
    try:
        running = client.submit(client.workflows.from_json(sampled(seed=COLOUR + 2)))
        for event in running.events():
            if isinstance(event, StatusChange) and event.status == "running":
                break
        queued = client.submit(client.workflows.from_json(picture(COLOUR + 2)))
        assert queued.refresh().status == "queued"
        for job in (queued, running):
            job.cancel()
            assert job.wait(timeout=30).status == "canceled", job
            assert not job.outputs
    finally:
        comfyui.knobs(hang=False)


def a_key_is_good_for_one_job(client, comfyui, folder):
    key = f"key-{COLOUR}"
    job = client.submit(client.workflows.from_json(picture(COLOUR + 3)), idempotency_key=key)
    prompts = comfyui.calls("POST /prompt")
    try:
        client.submit(client.workflows.from_json(picture(COLOUR + 4)), idempotency_key=key)
        raise AssertionError("the key was taken twice")
    except IdempotencyKeyReuse:
        pass
    assert comfyui.calls("POST /prompt") == prompts
    assert client.jobs.get(job.id).wait(timeout=60).status == "succeeded"


def model_upload_and_use(client, comfyui, folder):
    data = model(f"weight-{COLOUR}")
    asset = client.assets.from_bytes(data, filename=f"checkpoints/sync/{COLOUR}.safetensors")
    asset.commit()
    with open(os.path.join(folder, "models", "checkpoints", "sync", f"{COLOUR}.safetensors"), "rb") as file:
        assert file.read() == data
    workflow = client.workflows.from_json(sampled())
    workflow.set_input("1", "ckpt_name", client.assets.get(asset.id))
    assert client.run(workflow, timeout=60).status == "succeeded"
    assert comfyui.last_graph()["1"]["inputs"]["ckpt_name"] == f"sync/{COLOUR}.safetensors"


def a_deleted_asset_is_gone(client, comfyui, folder):
    asset = client.assets.from_bytes(b"bytes %d" % COLOUR, filename="short.txt")
    asset_id = asset.commit()
    asset.delete()
    try:
        client.assets.get(asset_id)
        raise AssertionError("a deleted asset is still there")
    except NotFound:
        pass


def the_workflow_comes_back(client, comfyui, folder):
    graph = picture(COLOUR + 5)
    job = run(client, graph)
    back = client.jobs.get(job.id).get_workflow()
    assert back.graph == graph and back.format == "api", back


def a_download_goes_on_where_it_stopped(client, comfyui, folder):
    (output,) = run(client, sampled(seed=COLOUR + 6)).outputs
    whole = comfyui.file(output.name)
    half = len(whole) // 2
    path = os.path.join(folder, "resumed.png")
    output.to_file(path, range=(0, half - 1))
    assert os.path.getsize(path) == half
    with open(path, "ab") as file:
        output.to_stream(file, range=(half, len(whole) - 1))
    with open(path, "rb") as file:
        assert file.read() == whole


SCENARIOS = [upload_run_events_download, progress_and_previews_are_live, known_content_is_not_sent, cancel_running_and_queued,
             a_key_is_good_for_one_job, model_upload_and_use, a_deleted_asset_is_gone, the_workflow_comes_back,
             a_download_goes_on_where_it_stopped]


def main(url, folder):
    with Comfy(client_info="portico-tests") as client:
        for scenario in SCENARIOS:
            scenario(client, ComfyUI(url), folder)
            print(scenario.__name__, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
