"""Requests about jobs and their events."""
import comfyui
from wire import Ask

UNKNOWN = "00000000-0000-4000-8000-000000000000"
JOBS, PICTURE = "/api/v2/jobs", comfyui.picture(0xABCDEF)


def submit(name, body, **more):
    return Ask("submit: " + name, "POST", JOBS, body, **more)


def node(kind, **inputs):
    return {"class_type": kind, "inputs": inputs}


def texts():
    """A graph whose output is text."""
    return {"1": node("EmptyImage", width=16, height=16, batch_size=1, color=1), "2": node("PreviewAny", source=["1", 0])}


def latents():
    return {"1": node("EmptyLatentImage", width=64, height=64, batch_size=1),
            "2": node("SaveLatent", samples=["1", 0], filename_prefix="latent")}


def previews():
    return {"1": node("EmptyImage", width=16, height=16, batch_size=2, color=2), "2": node("PreviewImage", images=["1", 0])}


def several():
    return {"1": node("EmptyImage", width=16, height=16, batch_size=2, color=3),
            "2": node("SaveImage", images=["1", 0], filename_prefix="sub/one"),
            "3": node("SaveImage", images=["1", 0], filename_prefix="two"), "4": node("PreviewImage", images=["1", 0])}


def life(name, graph, **more):
    """A job from its submission to its bytes."""
    job = "job_" + name
    return [
        submit(name, {"workflow": graph, **more}, save={job: "id"}),
        Ask(f"{name}: when it has ended", target=f"{JOBS}/{{{job}}}", wait=(job,), save={"output_" + name: "outputs.0.id"}),
        Ask(f"{name}: HEAD", "HEAD", f"{JOBS}/{{{job}}}"),
        Ask(f"{name}: its workflow", target=f"{JOBS}/{{{job}}}/workflow"),
        Ask(f"{name}: its events when it has ended", target=f"{JOBS}/{{{job}}}/events", stream=True),
        Ask(f"{name}: cancel when it has ended", "POST", f"{JOBS}/{{{job}}}/cancel"),
        Ask(f"{name}: an output as an asset", target=f"/api/v2/assets/{{output_{name}}}"),
        Ask(f"{name}: an output's bytes", target=f"/api/v2/assets/{{output_{name}}}/content"),
        Ask(f"{name}: delete an output", "DELETE", f"/api/v2/assets/{{output_{name}}}"),
    ]


def bad_bodies():
    graph = PICTURE
    deep = "[" * 2000 + "]" * 2000
    yield from (("empty", ""), ("no JSON", "{"), ("an array", "[]"), ("null", "null"), ("a number", "1"), ("a string", '"x"'),
                ("trailing text", "{} x"), ("NaN", '{"workflow":NaN}'), ("not UTF-8", b'{"workflow":"\xff"}'),
                ("nothing in it", {}), ("deep nesting", '{"workflow":{"1":' + deep + "}}"),
                ("a lone surrogate", '{"workflow":{"1":{"class_type":"\\ud800","inputs":{}}}}'))
    for value in (None, [], "x", 1, True):
        yield f"workflow {value!r}", {"workflow": value}
    yield "an empty workflow", {"workflow": {}}
    yield "a node that is no object", {"workflow": {"1": 5}}
    yield "a node without a class", {"workflow": {"1": {"inputs": {}}}}
    yield "a node of no known class", {"workflow": {"1": node("NoSuchNode")}}
    yield "a missing input", {"workflow": {"1": node("EmptyImage", width=1), "2": node("PreviewImage", images=["1", 0])}}
    yield "no output node", {"workflow": {"1": node("EmptyImage", width=16, height=16, batch_size=1, color=1)}}
    yield "an editor's export", {"workflow": {"nodes": [], "links": []}}
    yield "nodes without links", {"workflow": {"nodes": []}}
    yield "links that are null", {"workflow": {"nodes": [], "links": None}}
    for key in ("webhook_url", "inputs"):
        for value in ({}, "x", [], False, 0):
            yield f"{key} {value!r}", {"workflow": graph, key: value}
    for value in (1, True, {}, [], "x" * 1025, "é" * 513):
        yield f"metadata {str(value)[:12]}", {"workflow": graph, "metadata": value}
    for value in (True, 1.0, "1", [], 1000001, -1000001, 1e3, 10 ** 30):
        yield f"priority {value!r}", {"workflow": graph, "priority": value}
    for value in ([], "x", 1, {"a": 1}, {"api_key_comfy_org": 1}, {"api_key_comfy_org": None},
                  {"api_key_comfy_org": "k", "b": 1}):
        yield f"extra_data {value!r}", {"workflow": graph, "extra_data": value}


def references():
    def loading(reference):
        return {"workflow": {"1": node("LoadImage", image=reference), "2": node("PreviewImage", images=["1", 0])}}

    unknown = {"id": UNKNOWN, "hash": "blake3:" + "0" * 64}
    for name, info in (("unknown", unknown), ("without info", None), ("info a string", "x"), ("info empty", {}),
                       ("an id of another type", {"id": 5}), ("a hash alone", {"hash": unknown["hash"]}),
                       ("a forged output", {"id": "e30.AAAA"})):
        reference = {"__type": "core/ASSET"} if info is None else {"__type": "core/ASSET", "info": info}
        yield submit("a reference, " + name, loading(reference))
    yield submit("two references that are unknown", {"workflow": {
        str(i): node("LoadImage", image={"__type": "core/ASSET", "info": {"id": f"no-{i}"}}) for i in (1, 2)}})
    yield submit("the whole workflow a reference", {"workflow": {"__type": "core/ASSET", "info": unknown}})


def good_fields():
    for number, (name, more) in enumerate((
            ("nulls", {"webhook_url": None, "inputs": None, "metadata": None, "priority": None, "extra_data": None}),
            ("metadata", {"metadata": "char-0042/front"}), ("metadata, empty", {"metadata": ""}),
            ("metadata of 1,024 bytes", {"metadata": "é" * 512}), ("priority", {"priority": 7}),
            ("priority, highest", {"priority": 1000000}), ("priority, lowest", {"priority": -1000000}),
            ("extra_data, empty", {"extra_data": {}}), ("extra_data", {"extra_data": {"api_key_comfy_org": "k"}}),
            ("unknown fields", {"client_id": "x", "front": True}))):
        job = f"good_{number}"
        yield submit(name, {"workflow": PICTURE, **more}, save={job: "id"})
        yield Ask(f"{name}: when it has ended", target=f"{JOBS}/{{{job}}}", wait=(job,))


def keys():
    def keyed(name, key, body=None, **more):
        return submit(name, body or {"workflow": PICTURE}, headers={"Idempotency-Key": key}, **more)

    return [
        keyed("a key", "k1"), keyed("the key again", "k1"), keyed("the key with another body", "k1", {"workflow": texts()}),
        keyed("an empty key", ""), keyed("a key of blanks", "  "), keyed("a key of 255", "k" * 255),
        keyed("a key of 256", "k" * 256), keyed("a key after a bad body", "k2", "{"), keyed("that key with a good one", "k2"),
        keyed("a key that ComfyUI refuses", "k3", {"workflow": {}}), keyed("that key with a good graph", "k3"),
        keyed("a key while ComfyUI fails", "k4", knobs={"faults": {"POST /prompt": {"status": 500}}}),
        keyed("that key when it is well again", "k4", knobs={"faults": None}),
    ]


def ids():
    for name, text in (("unknown", UNKNOWN), ("no UUID", "x"), ("upper case", UNKNOWN.upper().replace("0", "A")),
                       ("braces", "{" + UNKNOWN + "}"), ("a URN", "urn:uuid:" + UNKNOWN), ("no dashes", UNKNOWN.replace("-", "")),
                       ("a path", "..%2F..%2Fqueue"), ("dots", "..%2e"), ("a NUL", "%00"), ("a blank", "%20"),
                       ("very long", "a" * 3000)):
        for what, method, rest in (("job", "GET", ""), ("workflow", "GET", "/workflow"), ("cancel", "POST", "/cancel"),
                                   ("events", "GET", "/events")):
            yield Ask(f"{what} of an id, {name}", method, f"{JOBS}/{text}{rest}")


def lists():
    for query in ("", "?limit=1", "?limit=100", "?limit=0", "?limit=101", "?limit=-1", "?limit=x", "?limit=", "?limit=1.0",
                  "?limit=+5", "?limit=%205", "?status=", "?status=succeeded", "?status=succeeded,failed", "?status=bad",
                  "?status=succeeded,", "?status=,", "?status=SUCCEEDED", "?status=running", "?status=queued&limit=3",
                  "?other=1", "?status=canceled&status=failed"):
        yield Ask(f"list {query or 'all'}", target=JOBS + query)


def running():
    sampled = comfyui.sampled()
    return [
        submit("a job that hangs", {"workflow": sampled}, knobs={"hang": True}, save={"running": "id"}),
        Ask("a running job", target=f"{JOBS}/{{running}}", wait=("running", ("running",))),
        submit("a job that waits", {"workflow": comfyui.picture(77)}, save={"waiting": "id"}),
        submit("another that waits", {"workflow": comfyui.picture(78)}, save={"waiting_too": "id"}),
        Ask("a waiting job", target=f"{JOBS}/{{waiting}}"),
        Ask("the next waiting job", target=f"{JOBS}/{{waiting_too}}"),
        Ask("list of what runs", target=JOBS + "?status=running"),
        Ask("list of what waits", target=JOBS + "?status=queued"),
        Ask("cancel a waiting job", "POST", f"{JOBS}/{{waiting}}/cancel"),
        Ask("a waiting job that was cancelled", target=f"{JOBS}/{{waiting}}", wait=("waiting",)),
        Ask("its events", target=f"{JOBS}/{{waiting}}/events", stream=True),
        Ask("cancel a running job", "POST", f"{JOBS}/{{running}}/cancel", compared=False),
        Ask("a running job that was cancelled", target=f"{JOBS}/{{running}}", wait=("running",)),
        Ask("cancel it again", "POST", f"{JOBS}/{{running}}/cancel"),
        Ask("the last one ends", target=f"{JOBS}/{{waiting_too}}", knobs={"hang": False}, wait=("waiting_too",)),
        # Each world's job stands still until its own watcher is there.
        submit("a job to watch", {"workflow": comfyui.sampled(seed=9)}, knobs={"hang": True, "step_delay_ms": 150},
               save={"watched": "id"}),
        Ask("its events while it runs", target=f"{JOBS}/{{watched}}/events", stream=True, wait=("watched", ("running",)),
            meanwhile={"hang": False}),
        submit("a job that fails", {"workflow": comfyui.sampled(seed=10)}, knobs={"fail_node": "5", "step_delay_ms": 5},
               save={"failing": "id"}),
        Ask("a job that failed", target=f"{JOBS}/{{failing}}", wait=("failing",)),
        Ask("events of a job that failed", target=f"{JOBS}/{{failing}}/events", stream=True),
        submit("a job whose results are known", {"workflow": comfyui.sampled(seed=9)}, knobs={"fail_node": ""},
               save={"cached": "id"}),
        Ask("a job with results from the cache", target=f"{JOBS}/{{cached}}", wait=("cached",)),
        Ask("a job before ComfyUI forgets", "POST", JOBS, {"workflow": comfyui.picture(79)}, save={"lost": "id"}),
        Ask("it ended", target=f"{JOBS}/{{lost}}", wait=("lost",)),
        Ask("when ComfyUI forgot: a job that ended", target=f"{JOBS}/{{lost}}", before=lambda world: world.forget()),
        Ask("when ComfyUI forgot: its workflow", target=f"{JOBS}/{{lost}}/workflow"),
        Ask("when ComfyUI forgot: its events", target=f"{JOBS}/{{lost}}/events", stream=True),
        Ask("when ComfyUI forgot: cancel it", "POST", f"{JOBS}/{{lost}}/cancel"),
        Ask("when ComfyUI forgot: list", target=JOBS + "?status=expired&limit=1"),
    ]


def faulty():
    """ComfyUI that answers nonsense."""
    for name, fault in (("500", {"status": 500}), ("503 with HTML", {"status": 503, "body": "<html>"}), ("302", {"status": 302}),
                        ("400 with an error of text", {"status": 400, "body": '{"error":"no","node_errors":[]}'}),
                        ("400 with a list", {"status": 400, "body": "[]"}), ("413", {"status": 413}), ("dropped", {"drop": True})):
        yield submit(f"ComfyUI answers {name}", {"workflow": PICTURE}, knobs={"faults": {"POST /prompt": fault}})
    for name, fault in (("500", {"status": 500}), ("no JSON", {"status": 200, "body": "{"}), ("a list", {"status": 200, "body": "[]"}),
                        ("dropped", {"drop": True})):
        faults = {"GET /history/{id}": fault, "GET /queue": fault, "GET /jobs/{id}": fault}
        yield Ask(f"a job while ComfyUI answers {name}", target=f"{JOBS}/{UNKNOWN}", knobs={"faults": faults})
        yield Ask(f"events while ComfyUI answers {name}", target=f"{JOBS}/{UNKNOWN}/events")
        yield Ask(f"cancel while ComfyUI answers {name}", "POST", f"{JOBS}/{UNKNOWN}/cancel")
    for status in (400, 403, 404, 416, 500):
        yield Ask(f"bytes while ComfyUI answers {status}", target="/api/v2/assets/{output_image}/content",
                  knobs={"faults": {"GET /view": {"status": status}}})
    yield Ask("bytes while ComfyUI drops", target="/api/v2/assets/{output_image}/content",
              knobs={"faults": {"GET /view": {"drop": True}}})
    yield Ask("well again", knobs={"faults": None})


def all_of():
    yield from life("image", PICTURE)
    yield from life("text", texts())
    yield from life("latent", latents())
    yield from life("preview", previews())
    yield from life("several", several(), metadata="m", priority=3)
    yield from lists()
    for name, body in bad_bodies():
        yield submit(name, body)
    yield from references()
    yield from good_fields()
    yield from keys()
    yield from ids()
    yield from running()
    yield from faulty()
